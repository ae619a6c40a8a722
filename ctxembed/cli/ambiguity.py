"""ctxembed ambiguity"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.queries.ambiguity import ambiguity
from ctxembed.table import Table


@command("ambiguity", ambiguity)
@options.argument("word", nargs=-1)
@options.number("Print only the first N rows.")
@options.integer(
    "--min-count", "Without WORD: test words that occur at least N times.", default=100
)
@options.flag("--summary", "Print the share of the text that needs context.")
@options.where
@options.attention()
@options.flag("--save", "Save the figures of these words in the model, for a copy without text.")
@options.integer("--seed", "Has no effect: the same occurrences are always drawn.", min=0)
@options.model
@options.batch()
def command_(
    word: tuple[str, ...], where: tuple[str, ...], save: bool, model: str | None, **values: Any
) -> Table:
    """Rank words by how much their meaning depends on the context; - reads stdin."""
    opened = open_model(model, writes=save, where=where)
    return ambiguity(opened, expand_stdin(word), save=save, progress=bars(), **values)
