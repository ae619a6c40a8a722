"""ctxembed index"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, open_corpus
from ctxembed.table import Table


@command(
    examples="""# Your own text, read with vectors that have read 52 million words
ctxembed index corpus.txt -m english -o mine
# Where a word occurs in it
ctxembed index corpus.txt -m english -o mine -q > told.tsv &&
    ctxembed kwic apple -m mine --max 3""",
    see_also=["train", "import", "learn", "senses", "kwic"],
    details="""Some ten thousand words of text are too few to train vectors on, but enough to ask
about. index brings them to vectors that are there already, bundled (-m english) or imported from
GloVe, fastText or word2vec: the new model has the vectors and attentions of the old one, which
stays as it is, and a corpus. senses, kwic, show, ambiguity, shift and learn then work on your text.

Text is split into words as the model does it. A word without a vector is shown where text is
quoted and is read over by attention; how many there are is said. Counts are those of the new
corpus; how far a neighbour is trusted still depends on the text its vector was made from. Senses
that were saved are not taken over: those of your text may be others.""",
)
@options.argument("corpus", nargs=-1, required=True)
@options.output
@options.force
@options.document
@options.lines
@options.reading
@options.model
def command_(corpus: tuple[str, ...], **asked: Any) -> Table:
    """Bring a corpus to the vectors of a model: files, folders, packed files or -.

    Prints a summary of what was read, and how many of its words have no vector.
    """
    how = {name: asked.pop(name) for name in ("encoding", "errors", "lines", "document")}
    return ask(open_corpus(corpus, **how), **asked)
