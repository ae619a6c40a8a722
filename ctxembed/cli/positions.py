"""ctxembed positions"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.table import Table


@command(
    examples="""# Four places in six dimensions
ctxembed positions --length 4 --dim 6
# How it falls off with distance
ctxembed positions --length 6 --dim 64 --dot
# What a learned attention makes of distance
ctxembed positions --attention learned""",
    picture="a heat map; with --attention a curve for each head",
    see_also=["explain"],
    details="""Self-attention alone knows no order. The encoding gives each place p sine waves of
falling frequency, sin(p / 10000^(2i/d)) and cos of the same, added to the word's vector. The dot
product of two places depends on their distance only, and falls off with it.""",
)
@options.integer("--length", "How many places.", most=10000, default=8)
@options.integer("--dim", "How many dimensions.", most=10000, default=8)
@options.attention("Print the bias by distance of an attention instead, head by head.")
@options.model
@options.flag("--dot", "The dot product of each place with each.")
def command_(model: str | None, attention: str | None, **asked: Any) -> Table:
    """Print the sine-wave encoding of positions, how alike they are, or what distance means."""
    from ctxembed.queries.positions import positions

    opened = None if attention is None else open_model(model)
    return positions(**asked, attention=attention, model=opened)
