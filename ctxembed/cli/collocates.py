"""ctxembed collocates"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.queries.collocates import collocates
from ctxembed.table import Table


@command("collocates", collocates)
@options.argument("words", nargs=-1, required=True, metavar="WORD...|-")
@options.flag("--by-sense", "List the collocates of each sense of the word.")
@options.integer("--window", "Number of words on each side.", max=1000, default=5)
@options.number("Number of collocates of each word or sense.", default=20)
@options.choice("--sort", ["log_likelihood", "log_ratio", "count"], "Sort by this column.")
@options.integer("--min-count", "Leave out words that occur there fewer times.", default=3)
@options.integer("--min-documents", "Leave out words in fewer documents.", default=2)
@options.flag("--all function_words", "List function words too.")
@options.occurrences
@options.batch()
def command_(words: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """List the words that occur near a word more often than by chance."""
    return collocates(open_model(model), expand_stdin(words), progress=bars(), **values)
