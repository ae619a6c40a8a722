"""Rank the words nearest to a word, or to an analogy."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ctxembed.context.nearest import nearest
from ctxembed.errors import UnknownWordError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import unit
from ctxembed.table import Chart, Column, Table

NEIGHBORS = (
    Column("word", "the word asked about", "label"),
    Column("neighbor", "the word found", "label"),
    Column("cosine", "cosine of the two static vectors"),
    Column("rank", "1 for the nearest"),
)
ANALOGY = (
    Column("rank", "1 for the best answer"),
    Column("word", "the word found", "label"),
    Column("cosine", "cosine of its vector with b - a + c, each of length 1"),
)


@on_model(*NEIGHBORS)
def neighbors(
    model: Model,
    words: str | Sequence[str],
    number: int = 10,
    *,
    min_count: int = 1,
    raw: bool = False,
) -> Table:
    """Return the nearest words of each word; rare ones are ranked lower, unless raw."""
    known, notes, unknown = model.vocabulary.keep_known(words)
    vectors = np.array([model.vector(word) for word in known])
    exclude = [model.vocabulary.parts(word) for word in known]
    ranked = nearest(model, vectors, number, exclude, min_count=min_count, raw=raw)
    rows = [
        (word, neighbor, cosine, rank)
        for word, best in zip(known, ranked, strict=True)
        for rank, (neighbor, cosine) in enumerate(best, 1)
    ]
    if any(one[1] < other[1] for best in ranked for one, other in pairwise(best)):
        notes = [*notes, "rare words count for less, so the cosines are out of order; see --raw"]
    chart = Chart("bars", ["cosine"], label=["neighbor"], panel=["word"], title="nearest words")
    return Table(NEIGHBORS, rows, notes, unknown, chart=chart)


@on_model(*ANALOGY)
def analogy(
    model: Model, a: str, b: str, c: str, number: int = 5, *, min_count: int = 1, raw: bool = False
) -> Table:
    """Rank the words nearest to b - a + c; rare ones are ranked lower, unless raw."""
    known, notes, unknown = model.vocabulary.keep_known((a, b, c))
    if unknown:
        raise UnknownWordError("\n".join(unknown))
    ua, ub, uc = unit(np.array([model.vector(word) for word in known]))
    exclude = [row for word in known for row in model.vocabulary.parts(word)]
    (best,) = nearest(model, ub - ua + uc, number, [exclude], min_count=min_count, raw=raw)
    rows = [(rank, *pair) for rank, pair in enumerate(best, 1)]
    chart = Chart("bars", ["cosine"], label=["word"], title=f"{b} - {a} + {c}")
    return Table(ANALOGY, rows, notes, chart=chart)
