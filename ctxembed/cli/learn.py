"""ctxembed learn"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# Learn again, with eight heads, under another name
ctxembed learn --name eight --heads 8 --epochs 0.1
# Six seconds at most
ctxembed learn --name quick --minutes 0.1""",
    picture="the loss as it is learned",
    see_also=["train", "explain", "compare", "info"],
    details="""Learning needs no labels. A pseudoword is two words of the corpus that share the mean
of their vectors, as the senses of an ambiguous word do; attention must tell from each sentence
which of the two stood there, also when a clause about the other word is spliced in. One sentence in
twenty, at the end of the corpus, is held out: learning stops when its pseudowords no longer
improve, and the best is kept.

What is learned: W_Q, W_K, W_V, W_O, a bias by distance, a bias by the word's frequency and the
length of its vector, and how much a wall counts. A wall stands where a clause begins, and a clause
begins where a sentence could: a word is as high as it starts more sentences than others do. The
first head looks near; the others ask with the word and what the first one found, so W_Q has twice
as many rows. Static vectors stay as they are.

The same seed gives the same bytes with one BLAS thread, which is the default here.

An epoch is a thousand batches of 32 pseudowords. Interrupting keeps what was validated so far.""",
)
@options.value("--name", "Name of the attention.", default="learned")
@options.integer("--heads", "How many points of view.", most=64, default=4)
@options.choice(
    "--positions", ["learned", "decay"], "Learn the bias by distance, or keep a decay by head."
)
@options.real(
    "--epochs", "At most so many thousand batches; 0.2 to 4, by the size of the corpus.", most=1000
)
@options.real("--minutes", "At most so long.", most=1440)
@options.seed()
@options.value(
    "--corpus",
    "Learn from this text, for a model without a corpus of its own.",
    metavar="FILE",
    multiple=True,
)
@options.model
def command_(**asked: object) -> Table:
    """Learn attention for a model from its corpus, without labels, and save it under a name."""
    return ask(writes=True, **asked)
