"""ctxembed show"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# The averaged apple
ctxembed show apple
# Where it lies between two named directions
ctxembed show apple --axis taste=fruit,sweet,juice --axis technology=phone,company,software""",
    see_also=["neighbors", "similarity", "vector"],
)
@options.argument("word", nargs=-1, required=True)
@options.axis
@options.integer("-n nearest", "How many nearest words.", least=0, most=1000, default=8)
@options.integer(
    "--occurrences",
    "How many occurrences from the corpus, spread evenly over it.",
    least=0,
    most=1000,
    default=3,
)
@options.ranking
@options.model
def command_(word: tuple[str, ...], **asked: object) -> Table:
    """Show a word's one averaged vector as a person wants it.

    How often the word occurs, its nearest words, where it lies on the named axes, and a few of the
    occurrences that went into the average.
    """
    return ask(expand_stdin(word), **asked)
