"""ctxembed keywords"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command
from ctxembed.queries.keywords import keywords
from ctxembed.table import Table


@command("keywords", keywords)
@options.argument("a")
@options.argument("b", required=False)
@options.by
@options.cluster
@options.number("Number of words of each corpus.", default=20)
@options.choice("--sort", ["log_likelihood", "log_ratio"], "Sort by this column.")
@options.integer("--min-count", "Leave out words with a lower count in both together.", default=5)
@options.integer("--min-documents", "Leave out words in fewer documents.", default=2)
@options.flag("--all function_words", "List function words too.")
@options.stopwords
@options.permutations
@options.seed()
@options.reading
def command_(a: str, b: str | None, **values: Any) -> Table:
    """List the words that are typical of one corpus compared with another."""
    return keywords(a, b, progress=bars(), **values)
