"""ctxembed similarity"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.queries.similarity import similarity
from ctxembed.table import Table


@command("similarity", similarity)
@options.argument("word", nargs=-1, required=True)
@options.flag("--pairs", "Print one row for each pair of words.")
@options.axis
@options.attention(
    "For sentences: learned, general or a name; default learned if the model has it."
)
@options.model
@options.batch()
def command_(word: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """Print the cosine of each word with each other word; - reads words from stdin."""
    return similarity(open_model(model), expand_stdin(word, numbered=True), **values)
