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
    Column("cosine", "cosine of its vector with the sum, b - a + c, each of length 1"),
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
    return _combine(model, (b, c), (a,), number, f"{b} - {a} + {c}", min_count, raw)


@on_model(*ANALOGY)
def combine(
    model: Model, words: str | Sequence[str], without: str | Sequence[str] = (), number: int = 10,
    *, min_count: int = 1, raw: bool = False,
) -> Table:  # fmt: skip
    """Rank the words nearest to a sum of words, minus others; rare ones lower, unless raw."""
    plus = [words] if isinstance(words, str) else list(words)
    minus = [without] if isinstance(without, str) else list(without)
    title = " - ".join([" + ".join(plus), *minus])
    return _combine(model, plus, minus, number, title, min_count, raw)


def _combine(
    model: Model, plus: Sequence[str], minus: Sequence[str], number: int, title: str,
    min_count: int, raw: bool,
) -> Table:  # fmt: skip
    known, notes, unknown = model.vocabulary.keep_known((*plus, *minus))
    if unknown:
        raise UnknownWordError("\n".join(unknown))
    units = unit(np.array([model.vector(word) for word in known]))
    wanted = units[: len(plus)].sum(axis=0) - units[len(plus) :].sum(axis=0)
    exclude = [row for word in known for row in model.vocabulary.parts(word)]
    (best,) = nearest(model, wanted, number, [exclude], min_count=min_count, raw=raw)
    rows = [(rank, *pair) for rank, pair in enumerate(best, 1)]
    return Table(ANALOGY, rows, notes, chart=Chart("bars", ["cosine"], label=["word"], title=title))
