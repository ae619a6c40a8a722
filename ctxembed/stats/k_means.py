"""k-means clustering (Lloyd's algorithm, k-means++), as in scikit-learn but with numpy only."""

from collections.abc import Sequence

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


def find_centres(x: Floats, k: int, seeds: Sequence[int]) -> Floats:
    """Return k centres (R, k, d) of each of R sets of rows x (R, n, d), begun by k-means++.

    One run for each set, whose seed is in seeds (R,); the sets are computed together.
    """
    middle = x.mean(axis=1, keepdims=True)  # distances are more exact around it
    x = x - middle
    draws = [np.random.RandomState(seed).uniform(size=_draws(k)) for seed in seeds]
    centres = _plus_plus(x, k, np.array(draws))
    min_shift = TOLERANCE * x.var(axis=1).mean(axis=1)  # (R,)
    before = np.full(x.shape[:2], -1, np.intp)
    running = np.arange(len(x))  # the sets whose centres still move
    for _ in range(300):
        some, own = (x, centres) if len(running) == len(x) else (x[running], centres[running])
        fit = some @ own.swapaxes(1, 2) - 0.5 * (own * own).sum(axis=2)[:, None]  # as in nearest
        labels = fit.argmax(axis=2)  # (r, n)
        changed = (labels != before[running]).any(axis=1)
        member = (labels[:, None] == np.arange(k)[:, None]).astype(x.dtype)  # (r, k, n)
        total = member.sum(axis=2, keepdims=True)
        moved = np.where(total > 0, member @ some / np.maximum(total, 1), own)
        shift = ((moved - own) ** 2).sum(axis=(1, 2))
        centres[running[changed]] = moved[changed]
        before[running] = labels
        running = running[changed & (shift > min_shift[running])]
        if not len(running):
            break
    return np.asarray(centres + middle)


def _draws(k: int) -> int:
    """Return how many random numbers k-means++ takes: one, then a few for each other centre."""
    return 1 + (k - 1) * (2 + int(np.log(k)))


def _plus_plus(x: Floats, k: int, draws: Floats) -> Floats:
    """Return k rows of each x (R, n, d) by k-means++ (Arthur and Vassilvitskii 2007).

    Each is the best of a few. draws: (R, _draws(k)) random numbers from 0 to 1.
    """
    squares, sets, last = np.einsum("rnd,rnd->rn", x, x), np.arange(len(x)), x.shape[1] - 1
    tries = draws[:, 1:].reshape(len(x), k - 1, -1)
    rows = (draws[:, :1] * x.shape[1]).astype(np.intp)  # (R, 1)
    chosen, closest = [rows[:, 0]], np.full(squares.shape, np.inf)  # (R, n) to the nearest chosen
    for step in range(k):
        if step:
            drawn = tries[:, step - 1] * closest.sum(axis=1, keepdims=True)  # (R, tries)
            rows = (np.cumsum(closest, axis=1)[:, None] < drawn[..., None]).sum(axis=2)
            rows = np.minimum(rows, last)
        picked = x[sets[:, None], rows]  # (R, tries, d)
        apart = squares[sets[:, None], rows][..., None] - 2 * picked @ x.swapaxes(1, 2)
        apart += squares[:, None]
        each = np.minimum(closest[:, None], np.maximum(apart, 0))  # (R, tries, n)
        best = each.sum(axis=2).argmin(axis=1)
        closest = each[sets, best]
        if step:
            chosen.append(rows[sets, best])
    return np.asarray(x[sets[:, None], np.stack(chosen, axis=1)])
