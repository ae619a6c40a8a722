"""ctxembed shrink"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# A quarter of the size, and no text in it
ctxembed shrink -o small
# The 2,000 most frequent words
ctxembed shrink --words 2000 -o smaller""",
    see_also=["train", "index", "export"],
    details="""A number takes 8 bits instead of 32, and a row its own scale: what a cosine loses is
in the third or fourth digit. Attentions and saved senses come along, the corpus does not: nobody
who gets the copy can read the text, and what needs occurrences (kwic, senses of other words, learn)
has to be asked of the model itself, or of the copy after ctxembed index has brought it a corpus.
Names of files lose their folders.""",
)
@options.output
@options.integer("--words", "Keep only the most frequent words.")
@options.integer(
    "--frames", "Words whose neighbours come too, for substitutes.", least=0, default=0
)
@options.value("--about", "What info shall say of it: where it is from.", metavar="TEXT")
@options.force
@options.model
def command_(output: str, **asked: object) -> Table:
    """Copy a model without its text, 8 bits a number: small enough to give away."""
    return ask(output, **asked)
