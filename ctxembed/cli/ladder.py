"""ctxembed ladder"""

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.queries.ladder import ladder
from ctxembed.table import Table


@command("ladder", ladder)
@options.argument("word1")
@options.argument("word2")
@options.value("--sentences", "The sentences that contain the words.", metavar="A B", nargs=2)
@options.source
def command_(
    word1: str, word2: str, sentences: tuple[str, str] | None, vectors: str | None,
    model: str | None,
) -> Table:  # fmt: skip
    """Compare two words under every representation, from one-hot to learned attention."""
    return ladder(open_model(model, vectors), word1, word2, sentences)
