"""ctxembed import"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# Vectors go out and come in again
ctxembed export vectors.vec && ctxembed import vectors.vec -o imported
# The 1,000 most frequent words only
ctxembed export all.txt -q && ctxembed import all.txt --limit 1000 -o top""",
    see_also=["export", "train", "info"],
    details="""Reads word2vec's text and binary formats, GloVe's text (no first line with sizes),
fastText's .vec, packed (.gz .bz2 .xz .zst) or not, - for stdin; a numpy array (.npy) with its words
beside it in .vocab.txt, in a vocab.txt or in --vocab, one a line; gensim's KeyedVectors
(.kv). Which text or binary format it is, is found out from the file.

A .kv file is a pickle, and a pickle can run anything. Only what KeyedVectors consist of is read
from it (words, numbers, counts); a file that asks for more is refused.

A word that comes twice keeps its first vector; rows with NaN or infinity and rows without a word
are left out; all are counted. Anything else that is wrong stops the import, names the line or the
byte, and leaves nothing behind.

Files of vectors seldom carry counts. Then they are estimated by Zipf's law from the order of the
words, which most programs write by falling frequency: attention needs to know which words are
frequent. Capitals matter if more than one word in a hundred has some.

An imported model has no corpus: compare and explain work on it at once, commands that look for
occurrences do not.""",
)
@options.argument("file")
@options.output
@options.force
@options.integer("--limit", "Only the first N words.")
@options.value("--vocab vocabulary", "The words of a .npy file, one a line.", metavar="FILE")
@options.value("--encoding", "Encoding of the words.", default="utf-8")
@options.errors
def command_(**asked: object) -> Table:
    """Make a model of vectors from word2vec, GloVe, fastText, gensim or numpy."""
    return ask(**asked)
