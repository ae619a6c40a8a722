"""ctxembed decide"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_model
from ctxembed.evaluation.decide import decide
from ctxembed.table import Table


@command("decide", decide)
@options.argument("word", nargs=-1)
@options.value(
    "--labelled",
    "Sentences with labels, as for evaluate senses.",
    multiple=True,
    metavar="FILE|DIR",
)
@options.encoder
@options.flag("--by-word", "Print all rows of each word.")
@options.value(
    "--fail-if", "Exit with 1 if this holds: learned<bag, learned<=bag or learned<0.8.",
    multiple=True, metavar="CONDITION",
)  # fmt: skip
@options.reading
@options.seed()
@options.model
def command_(word: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """Decide for which words static vectors are enough, and where context pays."""
    return decide(open_model(model), word, progress=bars(), **values)
