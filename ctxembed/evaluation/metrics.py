"""Metrics of the data and of bootstrap resamples (weights: how often each item was drawn)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.k_means import Labels, k_means, nearest
from ctxembed.stats.rank_correlation import rank_correlations
from ctxembed.stats.vectors import Floats

RESAMPLES = 1000
Weights = NDArray[np.float32]  # (R, n) how often each resample draws each item
BATCH_SIZE = 50  # resamples, where each takes much memory


@dataclass(frozen=True)
class Figure:
    """A value and what it was in each resample."""

    value: float
    spread: Floats  # (R,)
    lowest: float = 0.0  # possible value of this metric; 1 is the highest
    biased: bool = True  # whether resamples have a higher value than the data; a mean does not

    def centred(self) -> Floats:
        """Return the resamples without their bias."""
        bias = np.nanmean(self.spread) - self.value if self.biased else 0.0
        return np.asarray(self.spread - bias)

    def interval(self) -> tuple[float, float]:
        """Return the ends of the middle 95 % of the resamples."""
        low, high = np.clip(np.nanquantile(self.centred(), [0.025, 0.975]), self.lowest, 1)
        return float(low), float(high)


def resample(items: int, rng: np.random.Generator, times: int = RESAMPLES) -> Weights:
    """Return (R, n) how often each resample draws each item; each row sums to n."""
    weights = np.empty((times, items), np.float32)
    for row in weights:
        row[:] = np.bincount(rng.integers(items, size=items), minlength=items)
    return weights


UNDEFINED = Figure(np.nan, np.full(1, np.nan))  # where a metric has no value


def mean_figure(figures: Sequence[Figure]) -> Figure:
    """Return the mean of figures of independent sets, resample by resample."""
    value = float(np.mean([figure.value for figure in figures]))
    spread = np.mean([figure.spread for figure in figures], axis=0)
    return Figure(value, spread, figures[0].lowest, any(figure.biased for figure in figures))


def paired_p(one: Figure, other: Figure) -> float:
    """Return the two-sided p of 'no difference': how often a paired resample changes the sign.

    >>> better = Figure(0.9, np.full(999, 0.9)); paired_p(better, Figure(0.5, np.full(999, 0.5)))
    0.002
    """
    if np.isnan(one.value) or np.isnan(other.value):
        return np.nan
    difference = one.centred() - other.centred()
    changed = min(int((difference <= 0).sum()), int((difference >= 0).sum()))
    return min(1.0, 2 * (changed + 1) / (len(difference) + 1))


def _figure(values: Floats, lowest: float = 0.0) -> Figure:
    """Return the figure of values (1 + R,): that of the data, then those of the resamples."""
    return Figure(float(values[0]), values[1:], lowest)


def proportion(right: NDArray[Any], weights: Weights) -> Figure:
    """Return the fraction of items that are right, or the mean of values from 0 to 1."""
    spread = np.asarray(weights @ right.astype("f4") / len(right), "f8")
    return Figure(float(right.mean()), spread, biased=False)


def spearman(x: Floats, y: Floats, weights: Weights) -> Figure:
    """Return Spearman's rank correlation; ties share the mean of their ranks."""
    if len(x) < 2:
        return UNDEFINED
    blocks = (weights[first : first + BATCH_SIZE] for first in range(0, len(weights), BATCH_SIZE))
    values = [rank_correlations(x, y, some) for some in (np.ones((1, len(x)), "f4"), *blocks)]
    return _figure(np.concatenate(values), lowest=-1)


def pair_auc(units: Floats, labels: Labels, weights: Weights) -> Figure:
    """Return how likely a pair of one sense is more alike than a pair of two senses.

    Sorting the pairs of each resample is slow. The spread is that of the linear approximation
    A(w) ≈ A + Σ g_i (w_i - 1), where g_i is the derivative by the weight of item i.
    """
    n = len(labels)
    i, j = np.triu_indices(n, 1)
    same = labels[i] == labels[j]
    if not same.any() or same.all():
        return UNDEFINED
    alike = (units @ units.T)[i, j].round(6)  # equal vectors are tied, whatever the last bit says
    one, two = int(same.sum()), int((~same).sum())
    order = np.argsort(alike)
    tie = np.cumsum(np.diff(alike[order], prepend=-9) > 0) - 1  # (pairs,) number of its tie
    kind = same[order]
    lower = [np.bincount(tie, which) for which in (~kind, kind)]  # of each kind, in each tie
    losers, winners = (np.cumsum(number) - number / 2 for number in lower)
    below = np.empty(len(alike))  # for a pair: fraction of the other kind that it beats
    below[order] = np.where(kind, losers[tie] / two, 1 - winners[tie] / one)
    value = float(below[same].mean())
    slope = np.where(same, (below - value) / one, (below - value) / two)
    gradient = np.bincount(i, slope, n) + np.bincount(j, slope, n)
    return Figure(value, np.clip(value + (weights - 1) @ gradient, 0, 1))


def macro_scores(gold: Labels, answers: Labels, weights: Weights) -> tuple[Figure, Figure]:
    """Return macro-recall and macro-F1 over the classes in gold."""
    classes = int(max(gold.max(), answers.max())) + 1
    hit = gold == answers
    right = _count(gold[hit], classes, weights[:, hit])  # (1 + R, classes)
    of_gold, answered = _count(gold, classes, weights), _count(answers, classes, weights)
    in_gold = of_gold > 0
    recall = np.divide(right, of_gold, out=np.zeros_like(right), where=in_gold)
    f1 = np.divide(2 * right, of_gold + answered, out=np.zeros_like(right), where=in_gold)
    number = in_gold.sum(axis=1)
    return _figure(recall.sum(axis=1) / number), _figure(f1.sum(axis=1) / number)


def _count(labels: Labels, number: int, weights: Weights) -> Floats:
    """Return (1 + R, number) how often each label occurs: in the data, and in each resample."""
    counts = np.zeros((1 + len(weights), number))
    order = np.argsort(labels, kind="stable")
    used, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    if len(used):
        counts[0, used] = sizes
        counts[1:, used] = np.add.reduceat(weights[:, order], starts, axis=1)
    return counts


def v_measure(gold: Labels, clusters: Labels, weights: Weights) -> Figure:
    """Return the harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg 2007)."""
    wide = int(clusters.max()) + 1
    pairs, pair = np.unique(gold * wide + clusters, return_inverse=True)
    one, other = _count(gold, int(gold.max()) + 1, weights), _count(clusters, wide, weights)
    both = _entropy(one) + _entropy(other)
    shared = both - _entropy(_count(pair, len(pairs), weights))  # mutual information
    return _figure(np.divide(2 * shared, both, out=np.ones_like(both), where=both > 0))


def _entropy(counts: Floats) -> Floats:
    """Return (n,) the entropy of each row of counts (n, k)."""
    p = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(-(p * np.log(p, out=np.zeros_like(p), where=p > 0)).sum(axis=1))


def nearest_centroid(train: Floats, labels: Labels, test: Floats) -> Labels:
    """Return (n,) the class whose mean of unit vectors has the greatest cosine with each row."""
    classes = np.unique(labels)
    centres = np.stack([train[labels == label].mean(axis=0) for label in classes])
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    return np.asarray(classes[(test @ centres.T).argmax(axis=1)])


def nearest_neighbor(train: Floats, labels: Labels, test: Floats) -> Labels:
    """Return (n,) the class of the training vector with the greatest cosine."""
    blocks = (test[first : first + 1024] for first in range(0, len(test), 1024))
    return np.concatenate([labels[(block @ train.T).argmax(axis=1)] for block in blocks])


def cluster_on_sphere(units: Floats, number: int, rng: np.random.Generator) -> Labels:
    """Return (n,) clusters of unit vectors: k-means on the sphere, the best of ten runs."""
    best, labels = -np.inf, np.zeros(len(units), np.intp)
    for _ in range(10):
        begin = units[rng.choice(len(units), min(number, len(units)), replace=False)]
        centres = k_means(units, begin, sphere=True, steps=50)
        assigned = nearest(units, centres)
        total = float((units * centres[assigned]).sum())
        if total > best:
            best, labels = total, assigned
    return labels
