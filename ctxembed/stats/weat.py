"""Word embedding association test (Caliskan, Bryson and Narayanan 2017), with its exact p-value."""

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

from ctxembed.stats.vectors import Floats

MAX_EXACT = 20_000  # partitions; of more, some are drawn at random
BATCH_SIZE = 1000  # partitions computed together


@dataclass(frozen=True)
class WeatResult:
    """Whether targets x are nearer to attributes a than targets y are, and how surely."""

    effect: float  # difference of the means of both groups, in standard deviations of all targets
    p_value: float  # share of the partitions of the targets with as large a difference
    partitions: int  # that were compared
    exact: bool  # whether these are all there are


def association(targets: Floats, a: Floats, b: Floats) -> Floats:
    """Return (n,) the mean cosine of unit targets (n, d) with a (k, d), minus that with b (m, d).

    >>> association(np.eye(2), np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])).tolist()
    [1.0, -1.0]
    """
    return np.asarray((targets @ a.T).mean(axis=1) - (targets @ b.T).mean(axis=1))


def weat(x: Floats, y: Floats, permutations: int, rng: np.random.Generator) -> WeatResult:
    """Return the test of associations x (n,) against y (m,); it is one-sided, x above y.

    >>> result = weat(np.array([3.0, 2.0]), np.array([1.0, 0.0]), 99, np.random.default_rng(1))
    >>> round(result.effect, 4), result.p_value, result.partitions
    (1.5492, 0.16666666666666666, 6)
    """
    both = np.concatenate([x, y])
    spread = float(both.std(ddof=1))
    effect = float(x.mean() - y.mean()) / spread if spread else 0.0
    # The sizes are fixed: the difference of the means grows with the sum of the first group.
    least = float(x.sum()) - 1e-12 * float(np.abs(both).sum())
    number = comb(len(both), len(x))
    if number <= MAX_EXACT:
        groups = combinations(range(len(both)), len(x))
        beyond = 0
        while batch := list(islice(groups, BATCH_SIZE)):
            beyond += int(np.count_nonzero(both[np.array(batch)].sum(axis=1) >= least))
        return WeatResult(effect, beyond / number, number, True)
    beyond = 0
    for first in range(0, permutations, BATCH_SIZE):
        size = min(BATCH_SIZE, permutations - first)
        order = rng.random((size, len(both))).argsort(axis=1)[:, : len(x)]
        beyond += int(np.count_nonzero(both[order].sum(axis=1) >= least))
    return WeatResult(effect, (1 + beyond) / (1 + permutations), permutations, False)
