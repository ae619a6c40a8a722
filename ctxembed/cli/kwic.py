"""ctxembed kwic"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    "kwic",
    examples="""# Every bank in the corpus
ctxembed kwic bank
# The least clear cases first
ctxembed kwic bank --sort margin | head
# One sense only, with its place on an axis
ctxembed kwic apple --sense 1 --axis taste=fruit,sweet,juice""",
    picture="a map of the occurrences in two dimensions, coloured by sense",
    see_also=["senses", "show", "contextualize"],
    details="""Senses are those that `ctxembed senses WORD --save` has kept in the model; they are
looked for at once where --sense, --sort sense or --sort margin needs them.

Rows come in the order of the text, as they are read; any other order waits for the last one. `left`
and `right` sort by the nearest word first, `sense` by the clearest occurrence first, `margin` by
the least clear.""",
)
@click.argument("word")
@options.axis
@options.integer("--sense", help="Only this sense.")
@options.choice(
    "--sort", ["position", "sense", "margin", "left", "right"], help="The order of the rows."
)
@options.integer("--side", help="Words to either side.", least=0, most=1000, default=8)
@options.integer("--max", "most", help="So many, drawn at random.")
@options.attention()
@options.seed()
@options.model
def command_(**asked: Any) -> Table:
    """List a word's occurrences in the corpus, its contexts to either side, and their senses."""
    return ask(**asked)
