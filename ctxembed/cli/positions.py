"""ctxembed positions"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.queries.positions import positions
from ctxembed.table import Table


@command("positions", positions)
@options.integer("--length", "Number of positions.", max=10000, default=8)
@options.integer("--dim", "Number of dimensions.", max=10000, default=8)
@options.attention("Print the bias by distance of each head of this attention.")
@options.model
@options.flag("--dot", "Print the dot product of each position with each other.")
@options.flag("--waves", "Print the sine wave of each frequency, and the sum of all waves.")
def command_(attention: str | None, model: str | None, **values: Any) -> Table:
    """Print the sinusoidal position encoding, or an attention's bias by distance."""
    opened = None if attention is None else open_model(model)
    return positions(attention=attention, model=opened, **values)
