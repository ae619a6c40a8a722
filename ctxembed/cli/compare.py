"""ctxembed compare"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.cli.pipes import answer_pipe, reads_pipe
from ctxembed.queries.compare import Earlier, compare
from ctxembed.table import Table


@command("compare", compare)
@options.argument("sentence", nargs=-1, required=True)
@options.word
@options.axis
@options.attention("Attentions to compare; default all of the model.", metavar="NAME,...")
@options.general
@options.encoder
@options.number("Number of substitutes to list.", 3, max=100)
@options.integer("--min-count", "Leave out substitutes that occur fewer times.", default=1)
@options.draw
@options.source
@options.batch()
def command_(
    sentence: tuple[str, ...], attention: str | None, model: str | None, vectors: str | None,
    **values: Any,
) -> Table:  # fmt: skip
    """Compare a word's static vector with its vectors in sentences."""
    opened = open_model(model, vectors)
    values["attention"] = attention or ()
    if reads_pipe(sentence):
        values["earlier"] = Earlier()
        return answer_pipe(lambda sentences: compare(opened, sentences, **values))
    return compare(opened, expand_stdin(sentence, numbered=True), **values)
