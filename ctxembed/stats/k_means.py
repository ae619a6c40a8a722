"""k-means: groups of vectors, each vector in the group whose mean is nearest to it."""

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats, unit

Labels = NDArray[np.intp]
REST = 1e-4  # a usual tolerance


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
    """Move centres (k, d) to the means of the rows of x (n, d) nearest to them, until they rest.

    weights: (n,) how much each row counts. sphere: rows and centres have length 1. tolerance: the
    square of a step that is rest enough, as a share of the variance.

    >>> k_means(np.array([[0.0], [1], [8], [10]]), np.array([[0.0], [1]])).tolist()
    [[0.5], [9.0]]
    """
    before: Labels | None = None
    least = tolerance * float(x.var(axis=0).mean()) if tolerance else 0.0
    counts = np.ones(len(x), x.dtype) if weights is None else weights
    for _ in range(steps):
        labels = nearest(x, centres)
        if before is not None and np.array_equal(labels, before):
            break
        member = np.equal.outer(np.arange(len(centres)), labels) * counts  # (k, n)
        total = member.sum(axis=1, keepdims=True)
        # A group that is empty stays where it is.
        moved = np.where(total > 0, member @ x / np.where(total > 0, total, 1), centres)
        moved = np.asarray(unit(moved) if sphere else moved, centres.dtype)
        shift, centres, before = float(((moved - centres) ** 2).sum()), moved, labels
        if shift <= least:
            break
    return centres


def find_centres(x: Floats, k: int, seed: int, starts: int) -> Floats:
    """Return the best k centres (k, d) of several starts, each spread out by k-means++."""
    rng = np.random.RandomState(seed)
    middle = x.mean(axis=0)  # distances are more exact around it
    x = x - middle
    least, best = np.inf, x[:k]
    for _ in range(starts):
        centres = k_means(x, _spread_out(x, k, rng), tolerance=REST)
        apart = float(((x - centres[nearest(x, centres)]) ** 2).sum())
        if apart < least * (1 - 1e-12):  # the same groups may differ in the last digit
            least, best = apart, centres
    return np.asarray(best + middle)


def _spread_out(x: Floats, k: int, rng: np.random.RandomState) -> Floats:
    """Draw k rows far apart (Arthur and Vassilvitskii 2007), each the best of a few drawn."""
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
