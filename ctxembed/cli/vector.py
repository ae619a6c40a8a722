"""ctxembed vector"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# The numbers behind a word
ctxembed vector apple
# Words from a file
ctxembed vector - < words.txt""",
    see_also=["show", "neighbors"],
)
@options.argument("word", nargs=-1, required=True)
@options.model
def command_(word: tuple[str, ...], model: str | None) -> Table:
    """Print static vectors, one row a word; - reads words from stdin, one a line."""
    return ask(expand_stdin(word), model=model)
