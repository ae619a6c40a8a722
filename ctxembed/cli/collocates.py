"""ctxembed collocates"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# The company a word keeps
ctxembed collocates bank -n 10 -m everyday
# Which words go with the river, which with the money?
ctxembed collocates bank --by-sense -n 5 -m everyday
# Words in a row, and several questions at once
echo "fresh fruit" | ctxembed collocates apple - -m everyday""",
    see_also=["kwic", "senses", "keywords"],
    details="""Counted are the words within --window of an occurrence, in its sentence, each place
of the corpus once; compared is their rate there with their rate in the rest of the corpus. With
--by-sense the windows of one sense are compared with those of the other senses; where there is one
sense only, with the rest of the corpus.

log_likelihood is Dunning's G²: a word that stands there as often as elsewhere exceeds 3.84 by
chance in 5 of 100 cases, 15.13 in 1 of 10,000. That assumes that every word is drawn on its own,
which text is not: a phrase that one document repeats gets a high G² as well, so read it beside
documents and dispersion. Words of fewer documents than --min-documents are left out, and function
words unless --all asks for them.

log_ratio says how large the difference is, in doublings; where the rest has none, half an
occurrence is taken. It favours rare words: sort by it with a higher --min-count.""",
)
@options.argument("words", nargs=-1, required=True, metavar="WORD...|-")
@options.flag("--by-sense", "Those of each sense of the word.")
@options.integer("--window", "Words to either side.", most=1000, default=5)
@options.number("How many of each word, or sense.", default=20)
@options.choice("--sort", ["log_likelihood", "log_ratio", "count"], "What comes first.")
@options.integer("--min-count", "Leave out words that stand there less often.", default=3)
@options.integer("--min-documents", "Leave out words of fewer documents.", default=2)
@options.flag("--all function_words", "Function words too.")
@options.occurrences
def command_(words: tuple[str, ...], **asked: object) -> Table:
    """List the words that stand near a word more often than chance would have it.

    WORD is a word, words in a row in quotes, or a pattern: bank, "New York", "bank* of".
    """
    return ask(expand_stdin(words), **asked)
