"""How shares differ between groups of clusters: intervals, trends, and their permutation tests.

Occurrences in one document, or by one author, resemble each other. Such a cluster is resampled and
permuted as a whole.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

RESAMPLES = 1000
PERMUTATIONS = 9999
BATCH_CELLS = 1 << 21  # numbers permuted together
MIN_CLUSTERS = 3  # fewer in a group have no interval


def share_intervals(hits: Floats, totals: Floats, rng: np.random.Generator) -> Floats | None:
    """Return the 95 % bootstrap intervals (k, 2) of shares in one group, its clusters resampled.

    hits: (C, k) occurrences of each kind in each cluster, of (C,) totals. None for fewer than
    MIN_CLUSTERS clusters: of one, every resample is the same.
    """
    if len(totals) < MIN_CLUSTERS:
        return None
    n = len(totals)
    weights = rng.multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(np.float64)  # (R, C)
    drawn = weights @ totals
    shares = (weights @ hits) / np.maximum(drawn, 1)[:, None]  # (R, k)
    return np.asarray(np.quantile(shares[drawn > 0], [0.025, 0.975], axis=0).T)


def slopes(hits: Floats, totals: Floats, times: Floats) -> Floats:
    """Return (k,) the change of each share for a unit of time, by weighted least squares.

    hits (C, k), totals and times (C,): the share in a cluster has the weight of its occurrences.

    >>> slopes(np.array([[1.0], [2], [3]]), np.full(3, 4.0), np.array([0.0, 1, 2])).tolist()
    [0.25]
    """
    mean = totals @ times / totals.sum()
    square = totals @ (times - mean) ** 2
    return np.asarray(_residuals(hits, totals).T @ (times - mean) / (square or 1.0))


def trend_test(
    hits: Floats, totals: Floats, times: Floats, rng: np.random.Generator,
    number: int = PERMUTATIONS,
) -> Floats:  # fmt: skip
    """Return (k,) p-values of trends: the times of clusters are permuted.

    The statistic is Σ (hits - total · share) · time; its mean over the permutations is 0.
    """
    residuals = _residuals(hits, totals)
    centred = times - times.mean()
    return _permute(lambda rows: np.abs(rows @ residuals), centred, rng, number)


def difference_test(
    hits: Floats, totals: Floats, groups: NDArray[np.integer], rng: np.random.Generator,
    number: int = PERMUTATIONS,
) -> Floats:  # fmt: skip
    """Return (k,) p-values of differences between groups (C,): those of clusters are permuted.

    The statistic is Σ n_g (share in g - share)², over the groups.
    """
    residuals, present = _residuals(hits, totals), np.unique(groups)

    def statistic(rows: Floats) -> Floats:
        score = np.zeros((len(rows), residuals.shape[1]))
        for group in present:
            inside = (rows == group).astype(np.float64)  # (n, C)
            size = inside @ totals
            score += (inside @ residuals) ** 2 / np.maximum(size, 1e-9)[:, None]
        return score

    return _permute(statistic, groups.astype(np.float64), rng, number)


def _residuals(hits: Floats, totals: Floats) -> Floats:
    """Return (C, k) how many more occurrences of each kind a cluster has than by all's shares."""
    return np.asarray(hits - totals[:, None] * (hits.sum(axis=0) / totals.sum()))


def _permute(
    statistic: Callable[[Floats], Floats], values: Floats, rng: np.random.Generator, number: int
) -> Floats:
    """Return (k,) the share of permutations of values (C,) that are as extreme, itself counted."""
    observed = statistic(values[None])[0]  # (k,)
    beyond, done = np.zeros(len(observed)), 0
    while done < number:
        size = min(number - done, max(1, BATCH_CELLS // len(values)))
        rows = rng.permuted(np.broadcast_to(values, (size, len(values))), axis=1)
        beyond += (statistic(rows) >= observed * (1 - 1e-9) - 1e-9).sum(axis=0)
        done += size
    return (1 + beyond) / (1 + number)
