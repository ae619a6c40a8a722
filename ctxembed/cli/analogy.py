"""ctxembed analogy"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# Dog is to puppy as cat is to what?
ctxembed analogy dog puppy cat""",
    picture="a bar for each answer",
    see_also=["neighbors", "similarity"],
)
@options.argument("a")
@options.argument("b")
@options.argument("c")
@options.number("How many answers.", 5)
@options.ranking
@options.model
def command_(**asked: object) -> Table:
    """Answer: A is to B as C is to what? The three words themselves are left out."""
    return ask(**asked)
