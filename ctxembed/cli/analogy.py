"""ctxembed analogy"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    "analogy",
    examples="""# Dog is to puppy as cat is to what?
ctxembed analogy dog puppy cat""",
    picture="a bar for each answer",
    see_also=["neighbors", "similarity"],
)
@click.argument("a")
@click.argument("b")
@click.argument("c")
@options.number("How many answers.", 5)
@options.ranking
@options.model
def command_(**asked: Any) -> Table:
    """Answer: A is to B as C is to what? The three words themselves are left out."""
    return ask(**asked)
