"""ctxembed fit"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_model
from ctxembed.table import Table
from ctxembed.training.fit import fit_task


@command("fit", fit_task)
@options.argument("task")
@options.value("--name", "Name under which the attention is saved.", default="task")
@options.choice(
    "--split by", ["sentence", "expression"], "What is held out: sentences, or whole expressions."
)
@options.choice("--report", ["summary", "epochs", "confusion"], "What to print.")
@options.integer("--epochs", "Maximum number of epochs; default 30.", max=1000)
@options.reading
@options.seed()
@options.model
def command_(task: str, name: str, model: str | None, **values: Any) -> Table:
    """Fit attention to a labelled task; - reads the task from stdin."""
    return fit_task(open_model(model, writes=True), task, name, progress=bars(), **values)
