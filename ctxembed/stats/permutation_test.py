"""Permutation test and bootstrap interval for the difference of two corpora, by documents.

Occurrences in one document resemble each other, so whole documents are permuted and resampled.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

Ints = NDArray[np.int64]
BATCH_SIZE = 1000  # permutations computed together
FIRST_BATCH = 50
ENOUGH = 20  # permutations with as large a difference, after which the test stops
RESAMPLES = 200  # bootstrap samples of documents for an interval


@dataclass(frozen=True)
class PermutationResult:
    """The difference of two corpora, compared with that of permuted documents."""

    distance: float  # length of the difference of the means
    chance: float  # root of its mean square over the permutations
    p_value: float
    spread: float  # root mean square distance of an occurrence to the mean of its corpus

    @property
    def effect(self) -> float:
        """The distance beyond chance, in units of `spread`."""
        return effect_size(self.distance**2 - self.chance**2, self.spread)


@dataclass(frozen=True)
class Documents:
    """The documents in which a word occurs, those of the first corpus first."""

    sums: Floats  # (D, d) sums of the vectors of its occurrences
    counts: Floats  # (D,) numbers of occurrences
    first: int  # number of documents of the first corpus

    def mean_square(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return |D|² (n,), D the difference of means, and |D|² / (1/a + 1/b) (n,), a and b counts.

        weights: (n, D) 1 for a document of the first corpus, 0 for one of the second.
        """
        a, b = weights @ self.counts, (1 - weights) @ self.counts  # (n,) occurrences
        first_sums = weights @ self.sums
        difference = (self.sums.sum(axis=0) - first_sums) / b[:, None] - first_sums / a[:, None]
        squares = (difference * difference).sum(axis=1)
        return squares, squares / (1 / a + 1 / b)


def sum_by_document(x: Floats, of_x: Ints, y: Floats, of_y: Ints) -> Documents:
    """Return the sum of vectors (n, d), (m, d) in each document, numbered by (n,), (m,)."""
    sums, counts = [], []
    for vectors, documents in ((x, of_x), (y, of_y)):
        _, number, sizes = np.unique(documents, return_inverse=True, return_counts=True)
        total = np.zeros((len(sizes), vectors.shape[1]))
        np.add.at(total, number, vectors)
        sums.append(total)
        counts.append(sizes.astype(np.float64))
    return Documents(np.concatenate(sums), np.concatenate(counts), len(counts[0]))


def permutation_test(
    x: Floats, y: Floats, documents: Documents, number: int, rng: np.random.Generator
) -> PermutationResult:
    """Return the test of means of x (n, d) and y (m, d) against randomly assigned documents.

    A permutation changes the numbers of occurrences a and b, and larger corpora differ less by
    chance: permutations are compared by |D|² / (1/a + 1/b). The test stops at the twentieth
    permutation with as large a difference (Besag and Clifford 1991), or after 100 * number.
    """
    total = len(documents.counts)
    observed = np.zeros((1, total))
    observed[0, : documents.first] = 1
    (square,), (score,) = documents.mean_square(observed)
    within = [((v - v.mean(axis=0)) ** 2).sum() for v in (x, y)]
    spread = float(np.sqrt(sum(within) / max(1, len(x) + len(y) - 2)))
    done, beyond, sum_of_squares, limit = 0, 0, 0.0, 100 * (number + 1) - 1
    p_value = None
    while done < limit and p_value is None:
        size = min(max(FIRST_BATCH, done), BATCH_SIZE, limit - done)
        order = rng.random((size, total)).argsort(axis=1)  # each row permutes all documents
        squares, scores = documents.mean_square((order < documents.first).astype(np.float64))
        as_far = np.flatnonzero(scores >= score * (1 - 1e-9) - 1e-12)
        if beyond + len(as_far) >= ENOUGH:
            p_value = ENOUGH / (done + int(as_far[ENOUGH - beyond - 1]) + 1)
        beyond += len(as_far)
        sum_of_squares += float(squares.sum())
        done += size
    if p_value is None:
        p_value = (1 + beyond) / (1 + done)
    chance = float(np.sqrt(sum_of_squares / done))
    return PermutationResult(float(np.sqrt(square)), chance, p_value, spread)


def effect_size(square: float, spread: float) -> float:
    """Return the root of a squared distance in units of spread; 0 where it is negative."""
    return float(np.sqrt(max(0.0, square)) / (spread or 1.0))


def bootstrap_interval(
    documents: Documents, tested: PermutationResult, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the effect; documents are resampled in each corpus.

    Resampling adds to a squared distance what chance adds, a second time: both are subtracted.
    """
    means = []
    for corpus in (slice(0, documents.first), slice(documents.first, None)):
        n = len(documents.counts[corpus])
        drawn = rng.multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(np.float64)
        counts = np.maximum(drawn @ documents.counts[corpus], 1)
        means.append(drawn @ documents.sums[corpus] / counts[:, None])
    squares = ((means[1] - means[0]) ** 2).sum(axis=1) - 2 * tested.chance**2
    effects = [effect_size(float(square), tested.spread) for square in squares]
    low, high = np.quantile(effects, [0.025, 0.975])
    return float(min(low, tested.effect)), float(max(high, tested.effect))


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Return Benjamini and Hochberg's q-values: expected false alarms up to each p-value.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * len(p_values) / np.arange(1, len(p_values) + 1)
    q_values = np.empty(len(p_values))
    q_values[order] = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1)
    return q_values
