"""Which words lie nearest?"""

from collections.abc import Sequence

import numpy as np

from ctxembed.static.space import Floats, Space, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Column, Table

AT_ONCE = 64  # vectors compared with the whole vocabulary at once
NOISE = 0.02  # times the root of the words of the corpus: k, occurrences that say little
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
    *,
    min_count: int = 1,
    raw: bool = False,
) -> list[list[tuple[str, float]]]:
    """Find the words nearest to each vector (n, d), leaving out the rows named for it.

    `space` (V, d) holds the words as the attention that made the vectors sees them. Words rarer
    than min_count are left out. Of the others rare ones count for less, unless it is to be raw.
    """
    if space is None or space is model.vectors:
        space = model.space
    asked = unit(np.atleast_2d(vectors))
    doubt = 0 if raw else 1 - trust(model)  # (V,)
    rare = np.flatnonzero(model.counts < min_count)
    found = []
    for first in range(0, len(asked), AT_ONCE):
        some = asked[first : first + AT_ONCE]
        cosines = (
            space.cosines(some) if isinstance(space, Space) else some @ unit(space).T
        )  # (n, V)
        scores = cosines - doubt * np.abs(cosines)  # a doubtful word is less near, or less far
        scores[:, rare] = -np.inf
        for row, rows in zip(scores, without[first:], strict=False):
            row[list(rows)] = -np.inf
        found += [
            [(model.vocab[i], float(cosine[i])) for i in _best(score, number)]
            for score, cosine in zip(scores, cosines, strict=True)
        ]
    return found


def trust(model: Model) -> Floats:
    """Return (V,) from 0 to 1: how much a word's vector is more than noise.

    1 - exp(-n / k) for a word that occurs n times. Without it rare words come first: a vector of
    few occurrences is near to some word by chance, and most words are rare. k grows as the root of
    the corpus, as it does where neighbours fit people's ratings best (bench/README.md).
    """
    if model.meta.get("counts_estimated"):
        return np.ones(len(model.vocab), np.float32)
    counts = np.asarray(model.counts, np.float32)
    return np.asarray(-np.expm1(-counts / (NOISE * model.tokens**0.5)), np.float32)


def _best(scores: Floats, number: int) -> list[int]:
    """Pick the rows of the largest scores (V,); among equals the more frequent first."""
    most = min(number, len(scores))
    least = np.partition(scores, len(scores) - most)[len(scores) - most]
    rows = np.flatnonzero(scores >= least)
    rows = rows[np.argsort(-scores[rows], kind="stable")][:number]
    return [int(i) for i in rows if scores[i] > -np.inf]


@on_model(*NEIGHBORS)
def neighbors(
    model: Model,
    words: str | Sequence[str],
    number: int = 10,
    *,
    min_count: int = 1,
    raw: bool = False,
) -> Table:
    """Rank the nearest words of each word; rare ones count for less, unless it is to be raw."""
    known, unknown = model.keep_known(words)
    vectors = np.array([model.vector(word) for word in known])
    without = [model.parts(word) for word in known]
    found = nearest(model, vectors, number, without, min_count=min_count, raw=raw)
    rows = [
        (word, neighbor, cosine, rank)
        for word, best in zip(known, found, strict=True)
        for rank, (neighbor, cosine) in enumerate(best, 1)
    ]
    return Table(NEIGHBORS, rows, unknown=unknown)


@on_model(*ANALOGY)
def analogy(
    model: Model,
    a: str,
    b: str,
    c: str,
    number: int = 5,
    *,
    min_count: int = 1,
    raw: bool = False,
) -> Table:
    """Rank the words nearest to b - a + c; rare ones count for less, unless it is to be raw."""
    ua, ub, uc = unit(np.array([model.vector(word) for word in (a, b, c)]))
    without = [row for word in (a, b, c) for row in model.parts(word)]
    (found,) = nearest(model, ub - ua + uc, number, [without], min_count=min_count, raw=raw)
    return Table(ANALOGY, [(rank, *pair) for rank, pair in enumerate(found, 1)])
