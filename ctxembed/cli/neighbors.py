"""ctxembed neighbors"""

import click

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.table import Table


@command(
    "neighbors",
    examples="""# The ten nearest words
ctxembed neighbors apple
# Only the words
ctxembed neighbors apple -n 3 --no-header | cut -f2""",
    see_also=["similarity", "show"],
)
@click.argument("word", nargs=-1, required=True)
@options.number("How many for each word.", 10)
@options.model
def command_(word: tuple[str, ...], model: str | None, number: int) -> Table:
    """Find the words whose static vectors lie nearest by cosine; - reads words from stdin."""
    from ctxembed.ask.neighbors import neighbors

    words = expand_stdin(word)
    return neighbors(open_model(model), words, number)
