"""ctxembed info"""

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.errors import UsageError
from ctxembed.queries.heads import heads as measure_heads
from ctxembed.queries.info import check as check_files
from ctxembed.queries.info import info
from ctxembed.table import Table


@command("info", info, check=check_files, heads=measure_heads)
@options.flag("--check", "Read every file and compare it with its checksum.")
@options.flag("--add", "With --check: add checksums to a model that has none.")
@options.flag("--heads", "Measure what each head of the attention looks at.")
@options.attention("With --heads: learned, general or a name.")
@options.model
def command_(
    model: str | None, check: bool, add: bool, heads: bool, attention: str | None
) -> Table:  # fmt: skip
    """List the parameters, corpus and sizes of a model, or check its files."""
    if add and not check:
        raise UsageError("--add needs --check")
    if attention is not None and not heads:
        raise UsageError("--attention needs --heads")
    if heads and check:
        raise UsageError("give --check or --heads, not both")
    if heads:
        return measure_heads(open_model(model), attention=attention)
    return check_files(model, add=add) if check else info(open_model(model))
