"""ctxembed check"""

from ctxembed.cli import options
from ctxembed.cli.command import command
from ctxembed.table import Table


@command(
    examples="""# Is this model what was written?
ctxembed check
# Give a model from before its checksums
ctxembed check --add""",
    see_also=["info", "train"],
    details="""A model lists its files with their sizes, kinds, shapes and checksums (CRC-32) in
model.json; each attention does so in its layer.json, and senses.npz has its own. Every command
holds what it opens against this list. Checksums of small files are verified each time, those of
files over 4 MiB once: after that, while size and time of change stay as they are
(~/.cache/ctxembed/verified.json remembers them). This command reads everything, always. It also
looks whether all makes sense: words once each, finite numbers, sentences that lie within the text,
attentions that can be run.

What is not as it was written, or cannot be, is named, and the exit code is 3. A checksum finds
damage; it is no signature: whoever can write to a model can write its checksums too.""",
)
@options.argument("model", required=False)
@options.flag("--add", "Write checksums into a model that has none yet.")
def command_(model: str | None, add: bool) -> Table:
    """Read every file of a model and say whether it is as it was written."""
    from ctxembed.queries.check import check

    return check(model, add=add)
