"""Figures of merit, each of them for the data as they are and for resamples of them.

A resample is a row of weights: how often each item was drawn. So one formula gives both the figure
(all weights 1) and its bootstrap distribution, and two representations scored with the same weights
can be compared in pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.k_means import Labels, k_means, nearest
from ctxembed.stats.rank_correlation import rank_correlations
from ctxembed.stats.vectors import Floats

RESAMPLES = 1000
AT_ONCE = 50  # of them, where each takes much memory


@dataclass(frozen=True)
class Figure:
    """A value and what it was in each resample."""

    value: float
    spread: Floats  # (R,)
    least: float = 0.0  # no figure of this kind is lower; 1 is the highest
    biased: bool = True  # whether a resample looks more orderly than the data; a mean does not

    def centred(self) -> Floats:
        """Return the resamples without their bias."""
        bias = np.nanmean(self.spread) - self.value if self.biased else 0.0
        return np.asarray(self.spread - bias)

    def interval(self) -> tuple[float, float]:
        """Return the middle 95 % of the resamples."""
        low, high = np.clip(np.nanquantile(self.centred(), [0.025, 0.975]), self.least, 1)
        return float(low), float(high)


def draw(items: int, rng: np.random.Generator, times: int = RESAMPLES) -> NDArray[np.float32]:
    """Draw resamples: (R, n) how often each item was drawn; each row sums to n."""
    weights = np.empty((times, items), np.float32)
    for row in weights:
        row[:] = np.bincount(rng.integers(items, size=items), minlength=items)
    return weights


def no_figure(weights: NDArray[np.float32]) -> Figure:
    """Stand for a figure that has no meaning here."""
    return Figure(np.nan, np.full(len(weights), np.nan))


def mean_figure(figures: Sequence[Figure]) -> Figure:
    """Average figures of independent sets, resample by resample."""
    return Figure(
        float(np.mean([figure.value for figure in figures])),
        np.mean([figure.spread for figure in figures], axis=0),
        min(figure.least for figure in figures),
        any(figure.biased for figure in figures),
    )


def paired_p(one: Figure, other: Figure) -> float:
    """Return the two-sided p of 'no difference': how often a paired resample turns the sign.

    >>> better = Figure(0.9, np.full(999, 0.9)); paired_p(better, Figure(0.5, np.full(999, 0.5)))
    0.002
    """
    if np.isnan(one.value) or np.isnan(other.value):
        return np.nan
    difference = one.centred() - other.centred()
    turned = min(int((difference <= 0).sum()), int((difference >= 0).sum()))
    return min(1.0, 2 * (turned + 1) / (len(difference) + 1))


def _figure(values: Floats, least: float = 0.0) -> Figure:
    """Make a figure of values (1 + R,), the first of which is that of the data as they are."""
    return Figure(float(values[0]), values[1:], least)


def proportion(right: NDArray[Any], weights: NDArray[np.float32]) -> Figure:
    """Return the share of items that are right, or their mean where each is right in part."""
    spread = np.asarray(weights @ right.astype("f4") / len(right), "f8")
    return Figure(float(right.mean()), spread, biased=False)


def spearman(x: Floats, y: Floats, weights: NDArray[np.float32]) -> Figure:
    """Return Spearman's rank correlation; ties share the mean of their ranks."""
    if len(x) < 2:
        return no_figure(weights)
    blocks = (weights[first : first + AT_ONCE] for first in range(0, len(weights), AT_ONCE))
    found = [rank_correlations(x, y, some) for some in (np.ones((1, len(x)), "f4"), *blocks)]
    return _figure(np.concatenate(found), least=-1)


def pair_auc(units: Floats, labels: Labels, weights: NDArray[np.float32]) -> Figure:
    """Return how likely a pair of one sense is more alike than a pair of two senses.

    Resampling pairs by items would sort every time; the spread is that of the figure's tangent,
    A(w) ≈ A + Σ g_i (w_i - 1), where g_i is the derivative by the weight of item i.
    """
    n = len(labels)
    i, j = np.triu_indices(n, 1)
    same = labels[i] == labels[j]
    if not same.any() or same.all():
        return no_figure(weights)
    alike = (units @ units.T)[i, j].round(6)  # equal vectors are tied, whatever the last bit says
    one, two = int(same.sum()), int((~same).sum())
    order = np.argsort(alike)
    tie = np.cumsum(np.diff(alike[order], prepend=-9) > 0) - 1  # (pairs,) number of the tie
    kind = same[order]
    lower = [np.bincount(tie, which) for which in (~kind, kind)]  # of each kind, in each tie
    losers, winners = (np.cumsum(number) - number / 2 for number in lower)
    below = np.empty(len(alike))  # for a pair: share of the other kind on its right side
    below[order] = np.where(kind, losers[tie] / two, 1 - winners[tie] / one)
    value = float(below[same].mean())
    slope = np.where(same, (below - value) / one, (below - value) / two)
    gradient = np.bincount(i, slope, n) + np.bincount(j, slope, n)
    return Figure(value, np.clip(value + (weights - 1) @ gradient, 0, 1))


def macro(gold: Labels, answers: Labels, weights: NDArray[np.float32]) -> tuple[Figure, Figure]:
    """Return macro-recall and macro-F1 over the classes in gold."""
    classes = int(max(gold.max(), answers.max())) + 1
    hit = gold == answers
    right = _count(gold[hit], classes, weights[:, hit])  # (1 + R, classes)
    of_gold, given = _count(gold, classes, weights), _count(answers, classes, weights)
    there = of_gold > 0
    recall = np.divide(right, of_gold, out=np.zeros_like(right), where=there)
    f1 = np.divide(2 * right, of_gold + given, out=np.zeros_like(right), where=there)
    number = there.sum(axis=1)
    return _figure(recall.sum(axis=1) / number), _figure(f1.sum(axis=1) / number)


def _count(labels: Labels, number: int, weights: NDArray[np.float32]) -> Floats:
    """Return (1 + R, number) how often each label comes: as they are, and in each resample."""
    counts = np.zeros((1 + len(weights), number))
    order = np.argsort(labels, kind="stable")
    there, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    if len(there):
        counts[0, there] = sizes
        counts[1:, there] = np.add.reduceat(weights[:, order], starts, axis=1)
    return counts


def v_measure(gold: Labels, clusters: Labels, weights: NDArray[np.float32]) -> Figure:
    """Return the harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg 2007)."""
    wide = int(clusters.max()) + 1
    pairs, pair = np.unique(gold * wide + clusters, return_inverse=True)
    one, other = _count(gold, int(gold.max()) + 1, weights), _count(clusters, wide, weights)
    both = _entropy(one) + _entropy(other)
    shared = both - _entropy(_count(pair, len(pairs), weights))  # mutual information
    return _figure(np.divide(2 * shared, both, out=np.ones_like(both), where=both > 0))


def _entropy(counts: Floats) -> Floats:
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def nearest_centroid(train: Floats, labels: Labels, test: Floats) -> Labels:
    """Answer with the class whose mean of unit vectors has the greatest cosine."""
    classes = np.unique(labels)
    centres = np.stack([train[labels == label].mean(axis=0) for label in classes])
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    return np.asarray(classes[(test @ centres.T).argmax(axis=1)])


def nearest_neighbor(train: Floats, labels: Labels, test: Floats) -> Labels:
    """Answer with the class of the training vector of the greatest cosine."""
    answers = np.empty(len(test), np.intp)
    for first in range(0, len(test), 1024):
        block = slice(first, first + 1024)
        answers[block] = labels[(test[block] @ train.T).argmax(axis=1)]
    return answers


def cluster_on_sphere(
    units: Floats, number: int, rng: np.random.Generator, restarts: int = 10
) -> Labels:
    """Group unit vectors by k-means on the sphere; the best of several starts."""
    best, found = -np.inf, np.zeros(len(units), np.intp)
    for _ in range(restarts):
        begin = units[rng.choice(len(units), min(number, len(units)), replace=False)]
        centres = k_means(units, begin, sphere=True, steps=50)
        answers = nearest(units, centres)
        total = float((units * centres[answers]).sum())
        if total > best:
            best, found = total, answers
    return found
