"""Which words lie nearest?"""

from collections.abc import Sequence

import numpy as np

from ctxembed.static.space import Floats, Space, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Column, Table

AT_ONCE = 64  # vectors compared with the whole vocabulary at once
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


def nearest(
    model: Model,
    vectors: Floats,
    number: int,
    without: Sequence[Sequence[int]] = (),
    space: Floats | Space | None = None,
) -> list[list[tuple[str, float]]]:
    """Find the words nearest to each vector (n, d), leaving out the rows named for it.

    `space` (V, d) holds the words as the attention that made the vectors sees them.
    """
    if space is None or space is model.vectors:
        space = model.space
    asked = unit(np.atleast_2d(vectors))
    found = []
    for first in range(0, len(asked), AT_ONCE):
        some = asked[first : first + AT_ONCE]
        cosines = (
            space.cosines(some) if isinstance(space, Space) else some @ unit(space).T
        )  # (n, V)
        for row, rows in zip(cosines, without[first:], strict=False):
            row[list(rows)] = -np.inf
        found += [_best(model, row, number) for row in cosines]
    return found


def _best(model: Model, cosines: Floats, number: int) -> list[tuple[str, float]]:
    """Pick the words with the largest cosines (V,); among equals the more frequent first."""
    most = min(number, len(cosines))
    least = np.partition(cosines, len(cosines) - most)[len(cosines) - most]
    rows = np.flatnonzero(cosines >= least)
    rows = rows[np.argsort(-cosines[rows], kind="stable")][:number]
    return [(model.vocab[i], float(cosines[i])) for i in rows if cosines[i] > -np.inf]


@on_model(*NEIGHBORS)
def neighbors(model: Model, words: str | Sequence[str], number: int = 10) -> Table:
    """Rank the nearest words of each word."""
    known, unknown = model.keep_known(words)
    vectors = np.array([model.vector(word) for word in known])
    found = nearest(model, vectors, number, [model.parts(word) for word in known])
    rows = [
        (word, neighbor, cosine, rank)
        for word, best in zip(known, found, strict=True)
        for rank, (neighbor, cosine) in enumerate(best, 1)
    ]
    return Table(NEIGHBORS, rows, unknown=unknown)


@on_model(*ANALOGY)
def analogy(model: Model, a: str, b: str, c: str, number: int = 5) -> Table:
    """Rank the words nearest to b - a + c."""
    ua, ub, uc = unit(np.array([model.vector(word) for word in (a, b, c)]))
    without = [row for word in (a, b, c) for row in model.parts(word)]
    (found,) = nearest(model, ub - ua + uc, number, [without])
    return Table(ANALOGY, [(rank, *pair) for rank, pair in enumerate(found, 1)])
