"""ctxembed info"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# What is this model?
ctxembed info
# Its dimension, for a script
ctxembed info -f tsv | awk '$1=="dim"{print $2}'""",
    see_also=["train", "show"],
)
@options.model
def command_(model: str | None) -> Table:
    """Tell what a model is: every parameter, its corpus, sizes and versions."""
    return ask(model=model)
