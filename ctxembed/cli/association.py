"""ctxembed association"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.queries.association import association
from ctxembed.table import Table


@command("association", association)
@options.argument("test", required=False)
@options.value(
    "--targets",
    "A named group of target words; give two.",
    multiple=True,
    callback=options.read_groups,
    metavar="NAME=WORD,...",
)
@options.axis
@options.value(
    "--template templates",
    "A sentence with [word] for the target; may be repeated.",
    multiple=True,
    metavar="SENTENCE",
)
@options.flag("--words", "Print a row for each target instead of the test.")
@options.integer(
    "--permutations", "Random partitions of the targets, if there are too many.", default=10_000
)
@options.seed()
@options.model
def command_(model: str | None, **values: Any) -> Table:
    """Test which of two groups of words is nearer to which of two axes (WEAT)."""
    return association(open_model(model), **values)
