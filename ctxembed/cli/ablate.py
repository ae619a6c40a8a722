"""ctxembed ablate"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.queries.ablate import ablate
from ctxembed.table import Table


@command("ablate", ablate)
@options.argument("sentence", nargs=-1, required=True)
@options.word
@options.axis
@options.layer
@options.draw
@options.source
@options.batch()
def command_(
    sentence: tuple[str, ...], model: str | None, vectors: str | None, **values: Any
) -> Table:
    """Remove each context word in turn and measure how the target's vector changes."""
    return ablate(open_model(model, vectors), expand_stdin(sentence, numbered=True), **values)
