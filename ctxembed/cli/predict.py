"""ctxembed predict"""

from ctxembed.cli import options
from ctxembed.cli.command import Lines, command, expand_stdin, open_model
from ctxembed.queries.predict import predict
from ctxembed.table import Table


@command("predict", predict)
@options.argument("sentence", nargs=-1)
@options.attention("Name of the fitted task; not needed if the model has only one.")
@options.model
@options.batch()
def command_(sentence: tuple[str, ...], attention: str | None, model: str | None) -> Table:
    """Label the marked targets of sentences with a fitted task; without SENTENCE, reads stdin."""
    lines = (
        Lines("-", pauses=True)
        if sentence in ((), ("-",))
        else expand_stdin(sentence, numbered=True)
    )
    return predict(open_model(model), lines, attention=attention)
