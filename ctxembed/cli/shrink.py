"""ctxembed shrink"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.table import Table
from ctxembed.training.shrink import shrink


@command("shrink", shrink)
@options.output
@options.integer("--words", "Keep only the N most frequent words.")
@options.integer("--frames", "Number of words whose neighbour counts are kept.", min=0, default=0)
@options.value("--about", "Origin of the model; info prints it.", metavar="TEXT")
@options.force
@options.model
def command_(output: str, model: str | None, **values: Any) -> Table:
    """Copy a model without its text, with 8 bits per number."""
    return shrink(open_model(model), output, **values)
