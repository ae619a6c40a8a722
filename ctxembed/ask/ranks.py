"""Rank correlation, ties included."""

from collections.abc import Sequence

import numpy as np

from ctxembed.static.space import Floats


def ranks(values: Sequence[float] | Floats) -> Floats:
    """Return the rank of each value from 1, the mean rank where several are equal.

    >>> ranks([10, 30, 20, 20])
    array([1. , 4. , 2.5, 2.5])
    """
    _, group, sizes = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return np.asarray((last - (sizes - 1) / 2)[group.ravel()])


def spearman(one: Sequence[float] | Floats, other: Sequence[float] | Floats) -> float | None:
    """Return the correlation of the ranks; None where one side is all the same.

    >>> round(spearman([1, 2, 3, 4], [1, 2, 4, 3]), 4)
    0.8
    """
    a, b = (r - r.mean() for r in (ranks(one), ranks(other)))
    lengths = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / lengths, -1, 1)) if lengths else None
