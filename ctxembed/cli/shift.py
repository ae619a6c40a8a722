"""ctxembed shift"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin
from ctxembed.queries.shift import shift
from ctxembed.table import Table


@command("shift", shift)
@options.argument("model_a")
@options.argument("model_b")
@options.argument("word", nargs=-1)
@options.choice("--by", ["effect", "static"], "Rank by effect size, or by static vectors alone.")
@options.number("Number of words to print, without WORD.", 20)
@options.flag("--function-words", "Test function words too, such as of and they.")
@options.integer(
    "--min-count", "Leave out words that occur fewer times; default 5, or 20 without WORD."
)
@options.senses("-k --senses", "Number of senses of a word.")
@options.integer("--max most", "Use at most N occurrences per corpus.", min=10, default=1000)
@options.integer(
    "--permutations", "Number of permutations of the documents.", max=10**6, default=999
)
@options.seed()
@options.batch()
def command_(model_a: str, model_b: str, word: tuple[str, ...], **values: Any) -> Table:
    """Measure how the use of words differs between two corpora; - reads words from stdin."""
    return shift(model_a, model_b, expand_stdin(word), progress=bars(), **values)
