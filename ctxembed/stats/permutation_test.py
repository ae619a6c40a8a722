"""Could chance have done it? Whole documents are dealt out to two corpora at random.

Occurrences in one document resemble each other; documents are what chance may move.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

Ints = NDArray[np.int64]
AT_ONCE = 1000  # deals made together
FIRST = 50  # and at first
ENOUGH = 20  # deals that show as large a difference: there, the p-value is known well enough
BOOTSTRAP = 200  # samples of documents for an interval


@dataclass(frozen=True)
class Dealt:
    """What dealing documents says of the difference of two corpora."""

    distance: float  # length of the difference of the means
    chance: float  # root of its mean square over the deals
    p_value: float
    spread: float  # root mean square distance of an occurrence to the mean of its corpus

    @property
    def effect(self) -> float:
        """The distance beyond chance, in spreads of an occurrence."""
        return effect_size(self.distance**2 - self.chance**2, self.spread)


@dataclass(frozen=True)
class Documents:
    """The documents in which a word occurs, those of the first corpus first."""

    sums: Floats  # (D, d) of the vectors of its occurrences
    counts: Floats  # (D,) how many there are
    first: int  # documents of the first corpus

    def mean_square(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return |D|² (n,) and the same over 1/a + 1/b, for documents given to the first corpus.

        weights: (n, D) 1 for a document of the first corpus, 0 for one of the second.
        """
        a, b = weights @ self.counts, (1 - weights) @ self.counts  # (n,) occurrences
        taken = weights @ self.sums
        apart = (self.sums.sum(axis=0) - taken) / b[:, None] - taken / a[:, None]
        squares = (apart * apart).sum(axis=1)
        return squares, squares / (1 / a + 1 / b)


def by_document(x: Floats, of_x: Ints, y: Floats, of_y: Ints) -> Documents:
    """Add up vectors (n, d) and (m, d) by the documents (n,) and (m,) they stand in."""
    sums, counts = [], []
    for vectors, documents in ((x, of_x), (y, of_y)):
        _, number, each = np.unique(documents, return_inverse=True, return_counts=True)
        total = np.zeros((len(each), vectors.shape[1]))
        np.add.at(total, number, vectors)
        sums.append(total)
        counts.append(each.astype(np.float64))
    return Documents(np.concatenate(sums), np.concatenate(counts), len(counts[0]))


def deal(x: Floats, y: Floats, found: Documents, number: int, rng: np.random.Generator) -> Dealt:
    """Compare the means of x (n, d) and y (m, d) with those of documents dealt out at random.

    Larger corpora have smaller differences by chance, and a deal changes how many occurrences each
    gets: deals are compared by |D|² over 1/a + 1/b, for a and b occurrences. Dealing ends with the
    twentieth deal that shows as large a difference (Besag and Clifford 1991), or with 100 * number:
    few deals tell that chance does it, and among thousands of words only a tiny p-value says more.
    """
    total = len(found.counts)
    real = np.zeros((1, total))
    real[0, : found.first] = 1
    (square,), (score,) = found.mean_square(real)
    inside = [((v - v.mean(axis=0)) ** 2).sum() for v in (x, y)]
    spread = float(np.sqrt(sum(inside) / max(1, len(x) + len(y) - 2)))
    made, beyond, squares, most = 0, 0, 0.0, 100 * (number + 1) - 1
    p_value = None
    while made < most and p_value is None:
        size = min(max(FIRST, made), AT_ONCE, most - made)
        order = rng.random((size, total)).argsort(axis=1)  # each row deals all documents
        some, scores = found.mean_square((order < found.first).astype(np.float64))
        as_far = np.flatnonzero(scores >= score * (1 - 1e-9) - 1e-12)
        if beyond + len(as_far) >= ENOUGH:
            p_value = ENOUGH / (made + int(as_far[ENOUGH - beyond - 1]) + 1)
        beyond += len(as_far)
        squares += float(some.sum())
        made += size
    if p_value is None:
        p_value = (1 + beyond) / (1 + made)
    return Dealt(float(np.sqrt(square)), float(np.sqrt(squares / made)), p_value, spread)


def effect_size(square: float, spread: float) -> float:
    """Return the root of a squared distance in spreads; 0 where chance explains all of it."""
    return float(np.sqrt(max(0.0, square)) / (spread or 1.0))


def interval(found: Documents, tested: Dealt, rng: np.random.Generator) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the effect: documents drawn again in each corpus.

    Drawing again adds once more what chance adds to a squared distance: both are taken off.
    """
    parts = []
    for some in (slice(0, found.first), slice(found.first, None)):
        n = len(found.counts[some])
        drawn = rng.multinomial(n, np.full(n, 1 / n), BOOTSTRAP).astype(np.float64)
        counts = np.maximum(drawn @ found.counts[some], 1)
        parts.append(drawn @ found.sums[some] / counts[:, None])
    squares = ((parts[1] - parts[0]) ** 2).sum(axis=1) - 2 * tested.chance**2
    effects = [effect_size(float(square), tested.spread) for square in squares]
    low, high = np.quantile(effects, [0.025, 0.975])
    return float(min(low, tested.effect)), float(max(high, tested.effect))


def adjust(p_values: Floats) -> Floats:
    """Return q-values: among the words up to this one, so many are expected to be false alarms.

    Benjamini and Hochberg (1995).

    >>> adjust(np.array([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * len(p_values) / np.arange(1, len(p_values) + 1)
    made = np.empty(len(p_values))
    made[order] = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1)
    return made
