"""k-means clustering (Lloyd's algorithm, k-means++), as in scikit-learn but with numpy only."""

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats, unit

Labels = NDArray[np.intp]
TOLERANCE = 1e-4  # of find_centres


def nearest(x: Floats, centres: Floats) -> Labels:
    """Return (n,) the nearest of the centres (k, d) to each row of x (n, d)."""
    # |x - c|² = |x|² - 2 x·c + |c|²: the nearest centre has the greatest x·c - |c|²/2
    return np.asarray((x @ centres.T - 0.5 * (centres * centres).sum(axis=1)).argmax(axis=1))


def k_means(
    x: Floats,
    centres: Floats,
    *,
    weights: Floats | None = None,
    sphere: bool = False,
    steps: int = 300,
    tolerance: float = 0.0,
) -> Floats:
    """Return centres (k, d), each the mean of the rows of x (n, d) nearest to it.

    weights: (n,) of the rows. sphere: rows and centres have length 1. tolerance: stop at a smaller
    squared step, as a fraction of the variance.

    >>> k_means(np.array([[0.0], [1], [8], [10]]), np.array([[0.0], [1]])).tolist()
    [[0.5], [9.0]]
    """
    before: Labels | None = None
    min_shift = tolerance * float(x.var(axis=0).mean()) if tolerance else 0.0
    counts = np.ones(len(x), x.dtype) if weights is None else weights
    for _ in range(steps):
        labels = nearest(x, centres)
        if before is not None and np.array_equal(labels, before):
            break
        member = np.equal.outer(np.arange(len(centres)), labels) * counts  # (k, n)
        total = member.sum(axis=1, keepdims=True)
        # The centre of an empty cluster does not move.
        moved = np.where(total > 0, member @ x / np.where(total > 0, total, 1), centres)
        moved = np.asarray(unit(moved) if sphere else moved, centres.dtype)
        shift, centres, before = float(((moved - centres) ** 2).sum()), moved, labels
        if shift <= min_shift:
            break
    return centres


def find_centres(x: Floats, k: int, seed: int, starts: int) -> Floats:
    """Return the best k centres (k, d) of several runs of k-means, each begun by k-means++."""
    rng = np.random.RandomState(seed)
    middle = x.mean(axis=0)  # distances are more exact around it
    x = x - middle
    lowest, best = np.inf, x[:k]
    for _ in range(starts):
        centres = k_means(x, _plus_plus(x, k, rng), tolerance=TOLERANCE)
        inertia = float(((x - centres[nearest(x, centres)]) ** 2).sum())
        if inertia < lowest * (1 - 1e-12):  # the same clusters may differ in the last digit
            lowest, best = inertia, centres
    return np.asarray(best + middle)


def _plus_plus(x: Floats, k: int, rng: np.random.RandomState) -> Floats:
    """Return k rows of x by k-means++ (Arthur and Vassilvitskii 2007), each the best of a few."""
    squares = np.einsum("nd,nd->n", x, x)

    def distances(rows: NDArray[np.intp]) -> Floats:
        apart = squares[rows, None] - 2 * x[rows] @ x.T + squares
        return np.asarray(np.maximum(apart, 0))  # (rows, n)

    chosen = [int(rng.choice(len(x), p=np.full(len(x), 1 / len(x))))]
    closest = distances(np.array(chosen))[0]  # (n,) to the nearest row chosen
    for _ in range(1, k):
        drawn = rng.uniform(size=2 + int(np.log(k))) * closest.sum()
        rows = np.minimum(np.searchsorted(np.cumsum(closest), drawn), len(x) - 1)
        each = np.minimum(closest, distances(rows))
        best = int(each.sum(axis=1).argmin())
        chosen.append(int(rows[best]))
        closest = each[best]
    return x[chosen]
