"""ctxembed info"""

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.errors import UsageError
from ctxembed.queries.info import check as check_files
from ctxembed.queries.info import info
from ctxembed.table import Table


@command("info", info, check=check_files)
@options.flag("--check", "Read every file and compare it with its checksum.")
@options.flag("--add", "With --check: add checksums to a model that has none.")
@options.model
def command_(model: str | None, check: bool, add: bool) -> Table:
    """List the parameters, corpus and sizes of a model, or check its files."""
    if add and not check:
        raise UsageError("--add needs --check")
    return check_files(model, add=add) if check else info(open_model(model))
