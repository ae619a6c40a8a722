"""ctxembed keywords"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# What one corpus speaks of and the other does not
ctxembed keywords corpus.txt corpus.txt.gz -n 5
# The largest differences that are sure
ctxembed keywords corpus.txt corpus.txt.gz --sort log_ratio""",
    see_also=["collocates", "shift", "kwic"],
    details="""A and B are models, or text files and folders. Words typical of A come first, then
those of B, -n of each; words typical of a few documents only are left out (--min-documents), and so
are function words, unless --all asks for them.

log_likelihood is Dunning's G²: a word whose rate is the same in both exceeds 3.84 by chance in 5 of
100 cases, 15.13 in 1 of 10,000. That assumes that every word is drawn on its own, which text is
not: a word that one document repeats gets a high G² as well, so read it beside dispersion. With
many words compared, only values far above 15 mean something.

log_ratio says how large the difference is, in doublings; where a corpus has none, half an
occurrence is taken. dispersion is 1 where a word is spread over documents as if dealt out at
random, and near 0 where a few documents have it all.""",
)
@options.argument("a")
@options.argument("b")
@options.number("How many words of each corpus.", default=20)
@options.choice("--sort", ["log_likelihood", "log_ratio"], "What comes first.")
@options.integer("--min-count", "Leave out words rarer than this in both together.", default=5)
@options.integer("--min-documents", "Leave out words of fewer documents.", default=2)
@options.flag("--all function_words", "Function words too.")
@options.reading
def command_(**asked: object) -> Table:
    """List the words that are typical of one corpus against another."""
    return ask(asked.pop("a"), asked.pop("b"), **asked)
