"""ctxembed similarity"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# All against all
ctxembed similarity apple pear phone
# One row a pair
ctxembed similarity apple pear phone --pairs
# Words in sentences beside plain words
ctxembed similarity "[Apple] launched a phone" "an [apple] pie" company pear""",
    picture="a heat map of the cosines; 0 is white",
    see_also=["neighbors", "show"],
)
@options.argument("word", nargs=-1, required=True)
@options.flag("--pairs", "One row for each two words.")
@options.axis
@options.attention("For sentences: learned, general or a name; learned where the model has it.")
@options.model
def command_(word: tuple[str, ...], **asked: object) -> Table:
    """Print the cosine of each word with each other; - reads words from stdin.

    A sentence with a marked target, "an [apple] pie", stands for that word's contextual vector.
    """
    return ask(expand_stdin(word, numbered=True), **asked)
