"""ctxembed show"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.queries.show import show
from ctxembed.queries.show import vector as show_vectors
from ctxembed.table import Table


@command("show", show, vector=show_vectors)
@options.argument("word", nargs=-1, required=True)
@options.flag("--vector", "Print the numbers of the vectors, one row for each word.")
@options.axis
@options.integer("-n nearest", "Number of nearest words.", min=0, max=1000, default=8)
@options.integer("--occurrences", "Number of occurrences to print.", min=0, max=1000, default=3)
@options.ranking
@options.where
@options.model
@options.batch()
def command_(
    word: tuple[str, ...], vector: bool, where: tuple[str, ...], model: str | None, **values: Any
) -> Table:
    """Describe a word's static vector: count, nearest words, axes, occurrences; - reads stdin."""
    opened, words = open_model(model, where=where), expand_stdin(word)
    return show_vectors(opened, words) if vector else show(opened, words, **values)
