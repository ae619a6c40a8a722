"""Permutation test and bootstrap interval for the difference of two corpora, by documents.

Occurrences in one document resemble each other, so whole documents are permuted and resampled; or
whole clusters of documents, such as all documents of one author. A cluster that has documents in
both corpora keeps them apart: a permutation exchanges its two sides, or leaves them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
BATCH_SIZE = 1000  # permutations computed together
FIRST_BATCH = 50
ENOUGH = 20  # permutations with as large a difference, after which the test stops
RESAMPLES = 200  # bootstrap samples of documents for an interval
SAME = 1e-5  # relative difference of two scores that are taken as equal, in single precision
ROUNDING = 1e-6  # and of sums, relative to the sizes of what is added
FEW = 1000  # where there are no more assignments than that, all are made
MAX_CELLS = 1 << 21  # permutations times documents in memory at once


@dataclass(frozen=True)
class Units:
    """The documents or clusters in which a word occurs, and the sums of its vectors there.

    In this order: those of the first corpus only, those of the second only, those of both.
    """

    sums: Floats  # (2, U, d) of its occurrences in each corpus
    counts: Floats  # (2, U) numbers of occurrences
    first: int  # number of units of the first corpus only
    second: int  # and of the second only

    @cached_property
    def centred(self) -> tuple[Floats, Floats, Floats, float]:
        """Moving sums (U, d) and counts (U,), and the sum (d,) and count that never move.

        They are relative to the mean of all occurrences, so that the sums of the two sides add up
        to 0. The first corpus has the moving sums of its units, and the others' part that is fixed.
        """
        both = self.first + self.second
        mean = self.sums.sum(axis=(0, 1)) / self.counts.sum()
        centred = self.sums - self.counts[:, :, None] * mean
        moving = centred[0] + centred[1]
        counts = self.counts[0] + self.counts[1]
        moving[both:] = (centred[0] - centred[1])[both:]
        counts[both:] = (self.counts[0] - self.counts[1])[both:]
        fixed = centred[1][both:].sum(axis=0)
        return moving.astype(np.float32), counts, fixed, float(self.counts[1][both:].sum())

    @property
    def number(self) -> int:
        """How many units there are."""
        return int(self.counts.shape[1])

    @property
    def observed(self) -> Bools:
        """(1, U) the units whose sums are in the first corpus."""
        observed = np.ones((1, self.number), np.bool_)
        observed[0, self.first : self.first + self.second] = False
        return observed

    def lowest_equal(self, score: float) -> float:
        """Return the lowest score that equals a score of the observed units, but for rounding."""
        sums, counts, fixed, fixed_count = self.centred
        a = float(counts[: self.first].sum() + counts[self.first + self.second :].sum())
        a += fixed_count
        b = float(self.counts.sum()) - a
        size = float(np.linalg.norm(sums, axis=1).sum() + np.linalg.norm(fixed))
        root = np.sqrt(score) * (1 - SAME / 2) - ROUNDING * size * np.sqrt(1 / a + 1 / b)
        return float(max(0.0, root)) ** 2 - 1e-12

    def permute(self, size: int, rng: np.random.Generator) -> Bools:
        """Return (size, U) random assignments; the number of units of each corpus stays."""
        return assign_units(size, self.number, self.first, self.second, rng)

    def means(self, assigned: Bools) -> tuple[Floats, Floats]:
        """Return the mean vectors (n, d) of both corpora, from assignments (n, U)."""
        sums, counts, fixed, fixed_count = self.centred
        total = self.counts.sum()
        middle = self.sums.sum(axis=(0, 1)) / total
        first = assigned @ sums + fixed
        a = np.clip(assigned @ counts + fixed_count, 1e-9, total - 1e-9)[:, None]
        return middle + first / a, middle - first / (total - a)

    def scores(self, assigned: Bools) -> tuple[Floats, Floats]:
        """Return |D|² (n,), D the difference of means, and |D|² / (1/a + 1/b) (n,), a and b counts.

        assigned: (n, U) whether the sums of a unit are in the first corpus.
        """
        sums, counts, fixed, fixed_count = self.centred
        weights = assigned.astype(np.float32)
        first = weights @ sums + fixed  # (n, d), the second corpus has its negative
        a = weights @ counts + fixed_count
        b = self.counts.sum() - a
        with np.errstate(divide="ignore"):
            scale = np.where((a > 0) & (b > 0), 1 / a + 1 / b, 0.0)
        squares = np.einsum("nd,nd->n", first, first).astype(np.float64)
        return squares * scale**2, squares * scale


def assign_units(
    size: int, number: int, first: int, second: int, rng: np.random.Generator
) -> Bools:
    """Return (size, number) which units are in the first corpus, in random permutations.

    As many of the first + second units as before; those after them, of both corpora, by a coin.
    """
    both = first + second
    assigned = np.empty((size, number), np.bool_)
    assigned[:, both:] = rng.random((size, number - both), np.float32) < 0.5
    if 0 < first < both:
        keys = rng.random((size, both), np.float32)
        last = np.partition(keys, first - 1, axis=1)[:, first - 1 : first]
        assigned[:, :both] = keys <= last
    else:
        assigned[:, :both] = first > 0
    return assigned


def list_assignments(number: int, first: int, second: int) -> Bools | None:
    """Return all that assign_units could draw, the observed one first; None for more than FEW.

    >>> list_assignments(3, 1, 1).tolist()
    [[True, False, True], [True, False, False], [False, True, True], [False, True, False]]
    """
    both = first + second
    paired = number - both
    if paired >= FEW.bit_length() or comb(both, first) << paired > FEW:
        return None
    assigned = []
    for taken in combinations(range(both), first):
        chosen = [unit in taken for unit in range(both)]
        assigned += [[*chosen, *kept] for kept in product((True, False), repeat=paired)]
    return np.array(assigned, np.bool_)


def order_units(counts: Floats) -> tuple[NDArray[np.intp], int, int]:
    """Return the units (U,) of the first corpus only, the second only, both; how many of each.

    counts: (2, U) in each corpus. Units without any are counted with the first.
    """
    kinds = np.where(counts[1] == 0, 0, np.where(counts[0] == 0, 1, 2))
    first, second, _ = np.bincount(kinds, minlength=3).tolist()
    return np.argsort(kinds, kind="stable"), first, second


def sum_by_unit(x: Floats, of_x: Ints, y: Floats, of_y: Ints) -> Units:
    """Return the sums of vectors (n, d), (m, d) in each unit, numbered by (n,), (m,).

    A number that occurs on both sides is one unit, which has occurrences in both corpora.
    """
    numbers, of = np.unique(np.concatenate([of_x, of_y]), return_inverse=True)
    sums, counts = np.zeros((2, len(numbers), x.shape[1])), np.zeros((2, len(numbers)))
    for side, (vectors, units) in enumerate(((x, of[: len(x)]), (y, of[len(x) :]))):
        order = np.argsort(units, kind="stable")
        starts = np.flatnonzero(np.diff(units[order], prepend=-1))
        rows = units[order][starts]
        sums[side, rows] = np.add.reduceat(vectors[order], starts, axis=0, dtype=np.float64)
        counts[side] = np.bincount(units, minlength=len(numbers))
    rows, first, second = order_units(counts)
    return Units(sums[:, rows], counts[:, rows], first, second)


@dataclass(frozen=True)
class PermutationResult:
    """The difference of two corpora, compared with that of permuted documents."""

    distance: float  # length of the difference of the means
    score: float  # its square over 1/a + 1/b, for a and b occurrences: what is compared
    spread: float  # root mean square distance of an occurrence to the mean of its corpus
    done: int = 0  # permutations
    beyond: int = 0  # of them with at least this difference
    sum_of_squares: float = 0.0  # of their distances
    stopped_at: int | None = None  # the permutation that was the twentieth with this difference
    complete: bool = False  # whether all permutations were made

    @property
    def p_value(self) -> float:
        """The share of permutations with at least this difference."""
        return ENOUGH / self.stopped_at if self.stopped_at else (1 + self.beyond) / (1 + self.done)

    @property
    def chance(self) -> float:
        """Root mean square distance over the permutations."""
        return float(np.sqrt(self.sum_of_squares / max(1, self.done)))

    @property
    def measurable(self) -> bool:
        """Whether occurrences differ by more than rounding, so that their spread is a unit."""
        return self.spread > SAME * self.distance or self.distance == 0

    @property
    def effect(self) -> float:
        """The distance beyond chance, in units of `spread`; 0 without such a unit."""
        if not self.measurable:
            return 0.0
        return effect_size(self.distance**2 - self.chance**2, self.spread)


def start_test(x: Floats, y: Floats, units: Units) -> PermutationResult:
    """Return the test of means of x (n, d) and y (m, d) before the first permutation."""
    (square,), (score,) = units.scores(units.observed)
    within = [((v - v.mean(axis=0)) ** 2).sum() for v in (x, y)]
    spread = float(np.sqrt(sum(within) / max(1, len(x) + len(y) - 2)))
    return PermutationResult(float(np.sqrt(square)), float(score), spread)


def continue_test(
    test: PermutationResult, units: Units, number: int, rng: np.random.Generator
) -> PermutationResult:
    """Return a test after `number` permutations in all, or fewer where 20 have this difference.

    A permutation changes the numbers of occurrences a and b, and larger corpora differ less by
    chance: permutations are compared by |D|² / (1/a + 1/b). The test stops at the twentieth
    permutation with as large a difference (Besag and Clifford 1991). Where there are few, all
    are made, whatever `number`.
    """
    if test.complete:
        return test
    limit = units.lowest_equal(test.score)
    every = list_assignments(units.number, units.first, units.second)
    if every is not None:
        squares, scores = units.scores(every)
        others = len(every) - 1  # the observed one counts in the p-value already
        return replace(
            test, done=others, beyond=int((scores[1:] >= limit).sum()), complete=True,
            sum_of_squares=float(squares.mean()) * others,
        )  # fmt: skip
    largest = max(1, min(BATCH_SIZE, MAX_CELLS // units.number))
    while test.done < number and test.stopped_at is None:
        size = min(max(FIRST_BATCH, test.done), largest, number - test.done)
        squares, scores = units.scores(units.permute(size, rng))
        as_far = np.flatnonzero(scores >= limit)
        stopped_at = None
        if test.beyond + len(as_far) >= ENOUGH:
            stopped_at = test.done + int(as_far[ENOUGH - test.beyond - 1]) + 1
        test = replace(
            test, done=test.done + size, beyond=test.beyond + len(as_far), stopped_at=stopped_at,
            sum_of_squares=test.sum_of_squares + float(squares.sum()),
        )  # fmt: skip
    return test


def permutation_test(
    x: Floats, y: Floats, units: Units, number: int, rng: np.random.Generator
) -> PermutationResult:
    """Return the test of means of x (n, d) and y (m, d) against at most `number` permutations."""
    return continue_test(start_test(x, y, units), units, number, rng)


def effect_size(square: float, spread: float) -> float:
    """Return the root of a squared distance in units of spread; 0 where it is negative."""
    return float(np.sqrt(max(0.0, square)) / (spread or 1.0))


def bootstrap_interval(
    units: Units, tested: PermutationResult, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the effect; units are resampled in each corpus.

    Resampling adds to a squared distance what chance adds, a second time: both are subtracted.
    """
    both = units.first + units.second
    parts = [(0, units.first), (units.first, both), (both, units.number)]
    drawn = np.concatenate(
        [
            rng.multinomial(end - begin, np.full(end - begin, 1 / (end - begin)), RESAMPLES)
            for begin, end in parts
            if end > begin
        ],
        axis=1,
    ).astype(np.float64)
    means = [
        drawn @ sums / np.maximum(drawn @ counts, 1)[:, None]
        for sums, counts in zip(units.sums, units.counts, strict=True)
    ]
    squares = ((means[1] - means[0]) ** 2).sum(axis=1) - 2 * tested.chance**2
    effects = [effect_size(float(square), tested.spread) for square in squares]
    low, high = np.quantile(effects, [0.025, 0.975])
    return float(min(low, tested.effect)), float(max(high, tested.effect))
