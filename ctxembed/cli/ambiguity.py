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
@options.occurrences
@options.batch()
def command_(word: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """Rank words by how much their meaning depends on the context; - reads stdin."""
    return ambiguity(open_model(model), expand_stdin(word), progress=bars(), **values)
