"""ctxembed predict"""

from ctxembed.cli import options
from ctxembed.cli.command import Lines, ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# Label a sentence
ctxembed fit idioms.tsv --name idioms -q > fitted.txt && ctxembed predict "The exam was a [piece
  of cake]" --attention idioms""",
    see_also=["fit", "compare", "explain"],
)
@options.argument("sentence", nargs=-1)
@options.attention("A task; the only one the model has.")
@options.model
def command_(sentence: tuple[str, ...], attention: str | None, model: str | None) -> Table:
    """Label the marked targets of sentences by a fitted task; without any, reads stdin."""
    lines = Lines("-") if sentence in ((), ("-",)) else expand_stdin(sentence, numbered=True)
    return ask(lines, attention=attention, model=model)
