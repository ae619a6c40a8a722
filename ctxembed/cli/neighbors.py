"""ctxembed neighbors"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.errors import UsageError
from ctxembed.queries.neighbors import analogy as complete_analogy
from ctxembed.queries.neighbors import neighbors
from ctxembed.table import Table


@command("neighbors", neighbors, analogy=complete_analogy)
@options.argument("word", nargs=-1, required=True)
@options.number("Number of neighbours of each word; default 10, or 5 with --analogy.")
@options.flag("--analogy", "Take three words: the first is to the second as the third is to what?")
@options.ranking
@options.model
@options.batch()
def command_(
    word: tuple[str, ...], number: int | None, analogy: bool, model: str | None, **values: Any
) -> Table:
    """Find the words with the nearest static vectors, or complete an analogy; - reads stdin."""
    words = expand_stdin(word)
    if not analogy:
        return neighbors(open_model(model), words, number or 10, **values)
    if len(words) != 3:
        raise UsageError("--analogy takes three words: ctxembed neighbors --analogy A B C")
    a, b, c = words
    return complete_analogy(open_model(model), a, b, c, number or 5, **values)
