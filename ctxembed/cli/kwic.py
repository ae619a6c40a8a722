"""ctxembed kwic"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.queries.kwic import kwic
from ctxembed.table import Table


@command("kwic", kwic)
@options.argument("words", nargs=-1, required=True, metavar="WORD...|-")
@options.axis
@options.where
@options.choice("--sort", ["position", "sense", "margin", "left", "right"], "Order of the rows.")
@options.integer("--width", "Number of characters on each side.", min=0, max=10_000, default=60)
@options.number("Print at most N rows of each word.")
@options.integer("--max most", "Use at most N occurrences, drawn at random.")
@options.occurrences
@options.batch()
def command_(words: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """List the occurrences of words in the corpus, with their senses."""
    return kwic(open_model(model), expand_stdin(words), progress=bars(), **values)
