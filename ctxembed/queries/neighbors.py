"""Which words lie nearest?"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ctxembed.errors import UnknownWordError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.static.space import Space, Vectors
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Chart, Column, Table

AT_ONCE = 64  # vectors compared with the whole vocabulary at once
FAR = 0.3  # trust of words that are looked at first
FEW = 100  # neighbours wanted: so many may all be found among them
NOISE = 0.02  # times the root of the words of the corpus: k, occurrences that say little
Ranked = tuple[float, float, int]  # score, cosine and row of a word
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
    model: Model, vectors: Floats, number: int, *given: Any, **ranking: Any
) -> list[list[tuple[str, float]]]:
    """Find the words nearest to each vector (n, d), with their cosines; as nearest_rows does."""
    found = nearest_rows(model, vectors, number, *given, **ranking)
    return [[(model.vocabulary.words[row], cosine) for row, cosine in best] for best in found]


def nearest_rows(
    model: Model,
    vectors: Floats,
    number: int,
    without: Sequence[Sequence[int]] = (),
    space: Vectors | Space | None = None,
    *,
    min_count: int = 1,
    raw: bool = False,
) -> list[list[tuple[int, float]]]:
    """Find the rows nearest to each vector (n, d), leaving out those named for it.

    `space` (V, d) holds the words as the attention that made the vectors sees them. Words rarer
    than min_count are left out. Of the others rare ones count for less, unless it is to be raw.
    """
    if space is None or space is model.vectors:
        space = model.space
    asked = unit(np.atleast_2d(vectors))
    trusted = np.ones(len(model.vocabulary), np.float32) if raw else trust(model)  # (V,)
    # A word's score is at most its trust: where enough words score more than that of the rare ones
    # at the end of the vocabulary, those need not be looked at.
    often = int(np.count_nonzero(trusted >= FAR))
    often = often if number <= FEW and (trusted[:often] >= FAR).all() else len(trusted)
    bound = float(trusted[often:].max(initial=0))

    def look(some: Floats, first: int, last: int) -> Floats:
        """Return (n, V) the cosines of some vectors (n, d) with the words from first to last."""
        if isinstance(space, Space):
            return space.cosines(some, first, last)
        return np.asarray(some @ unit(space[first:last]).T)

    def rank(cosines: Floats, left_out: Sequence[Sequence[int]]) -> list[list[Ranked]]:
        """Rank the words whose cosines (n, V) are known."""
        words = cosines.shape[1]
        # a doubtful word is less near, or less far
        scores = cosines - (1 - trusted[:words]) * np.abs(cosines)
        scores[:, model.seen[:words] < min_count] = -np.inf
        for row, rows in zip(scores, left_out, strict=False):
            row[[i for i in rows if i < words]] = -np.inf
        return [
            [(float(score[i]), float(cosine[i]), i) for i in _best(score, number)]
            for score, cosine in zip(scores, cosines, strict=True)
        ]

    found = []
    for first in range(0, len(asked), AT_ONCE):
        some, left_out = asked[first : first + AT_ONCE], without[first : first + AT_ONCE]
        cosines = look(some, 0, often)
        ranked = rank(cosines, left_out)
        if not all(len(best) == number and best[-1][0] > bound for best in ranked):
            cosines = np.concatenate([cosines, look(some, often, len(trusted))], axis=1)
            ranked = rank(cosines, left_out)
        found += [[(i, cosine) for _, cosine, i in best] for best in ranked]
    return found


def trust(model: Model) -> Floats:
    """Return (V,) from 0 to 1: how much a word's vector is more than noise.

    1 - exp(-n / k) for a word that occurs n times. Without it rare words come first: a vector of
    few occurrences is near to some word by chance, and most words are rare. k grows as the root of
    the corpus, as it does where neighbours fit people's ratings best (bench/README.md).
    """
    if model.meta.get("counts_estimated"):
        return np.ones(len(model.vocabulary), np.float32)
    counts = np.asarray(model.seen, np.float32)
    return np.asarray(-np.expm1(-counts / (NOISE * model.seen_tokens**0.5)), np.float32)


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
    known, notes, unknown = model.vocabulary.keep_known(words)
    vectors = np.array([model.vector(word) for word in known])
    without = [model.vocabulary.parts(word) for word in known]
    found = nearest(model, vectors, number, without, min_count=min_count, raw=raw)
    rows = [
        (word, neighbor, cosine, rank)
        for word, best in zip(known, found, strict=True)
        for rank, (neighbor, cosine) in enumerate(best, 1)
    ]
    if any(one[1] < other[1] for best in found for one, other in pairwise(best)):
        notes = [*notes, "rare words count for less, so the cosines are out of order; see --raw"]
    chart = Chart("bars", ["cosine"], label=["neighbor"], panel=["word"], title="nearest words")
    return Table(NEIGHBORS, rows, notes, unknown, chart=chart)


@on_model(*ANALOGY)
def analogy(
    model: Model, a: str, b: str, c: str, number: int = 5, *, min_count: int = 1, raw: bool = False
) -> Table:
    """Rank the words nearest to b - a + c; rare ones count for less, unless it is to be raw."""
    known, notes, unknown = model.vocabulary.keep_known((a, b, c))
    if unknown:
        raise UnknownWordError("\n".join(unknown))
    ua, ub, uc = unit(np.array([model.vector(word) for word in known]))
    without = [row for word in known for row in model.vocabulary.parts(word)]
    (found,) = nearest(model, ub - ua + uc, number, [without], min_count=min_count, raw=raw)
    rows = [(rank, *pair) for rank, pair in enumerate(found, 1)]
    chart = Chart("bars", ["cosine"], label=["word"], title=f"{b} - {a} + {c}")
    return Table(ANALOGY, rows, notes, chart=chart)
