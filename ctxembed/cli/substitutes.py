"""ctxembed substitutes"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.queries.substitutes import substitutes
from ctxembed.table import Table


@command("substitutes", substitutes)
@options.argument("sentence", nargs=-1, required=True)
@options.word
@options.word_list("--candidates", "Rank these words instead of proposed ones.")
@options.attention("Attention of the contextual vector: learned, general, bag or a name.")
@options.number("Number of substitutes.", 10, max=200)
@options.integer("--min-count", "Leave out words that occur fewer times.", default=1)
@options.model
@options.batch()
def command_(sentence: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """Rank the words that could replace a target in its sentence; - reads sentences from stdin."""
    return substitutes(open_model(model), expand_stdin(sentence, numbered=True), **values)
