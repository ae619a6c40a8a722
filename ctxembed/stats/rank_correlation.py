"""Rank correlation, ties included, of the data as they are or of resamples of them."""

from collections.abc import Sequence

import numpy as np

from ctxembed.stats.vectors import Floats


def ranks(values: Sequence[float] | Floats, weights: Floats) -> Floats:
    """Return (R, n) the ranks from 1, their mean where several are equal.

    weights: (R, n) how many items each counts as, in each resample.

    >>> ranks([10, 30, 20, 20], np.ones((1, 4)))
    array([[1. , 4. , 2.5, 2.5]])
    """
    _, at, sizes = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    order = np.argsort(at, kind="stable")
    starts = np.cumsum(sizes) - sizes
    tied = np.add.reduceat(weights[:, order], starts, axis=1, dtype=np.float64)  # (R, values)
    return np.asarray((np.cumsum(tied, axis=1) - (tied - 1) / 2)[:, at])


def rank_correlations(
    one: Sequence[float] | Floats, other: Sequence[float] | Floats, weights: Floats
) -> Floats:
    """Return (R,) Spearman's correlation in each resample; NaN where one side is all the same."""
    a, b = ranks(one, weights), ranks(other, weights)
    total = np.maximum(weights.sum(axis=1, keepdims=True, dtype=np.float64), 1)
    a -= (weights * a).sum(axis=1, keepdims=True) / total
    b -= (weights * b).sum(axis=1, keepdims=True) / total
    lengths = np.sqrt((weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1))
    products = (weights * a * b).sum(axis=1)
    rho = np.divide(products, lengths, out=np.full(len(lengths), np.nan), where=lengths > 0)
    return np.asarray(np.clip(rho, -1, 1))


def spearman(one: Sequence[float] | Floats, other: Sequence[float] | Floats) -> float | None:
    """Return the correlation of the ranks; None where one side is all the same.

    >>> round(spearman([1, 2, 3, 4], [1, 2, 4, 3]), 4)
    0.8
    """
    (rho,) = rank_correlations(one, other, np.ones((1, len(one))))
    return None if np.isnan(rho) else float(rho)
