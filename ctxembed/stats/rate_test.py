"""Test the rates of many words between two corpora by permuting documents, all words together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.progress import SILENT, Progress
from ctxembed.stats.association import log_ratio
from ctxembed.stats.many_tests import SIGNIFICANT, are_settled
from ctxembed.stats.permutation_test import (
    ENOUGH,
    FIRST_BATCH,
    ROUNDING,
    SAME,
    assign_units,
    list_assignments,
    order_units,
)
from ctxembed.stats.vectors import Floats

Ints = NDArray[np.int64]
MAX_CELLS = 1 << 21  # permutations times words, or times documents, in memory at once
RESAMPLES = 999
MIN_SIZE = 0.25  # of the mean size: a shorter document counts as so long


@dataclass(frozen=True)
class UnitCounts:
    """How often words occur in the documents or clusters of two corpora.

    counts: for each corpus (V, U), sparse; sizes: (2, U) all words of each unit there.
    """

    counts: Sequence[Any]
    sizes: Floats

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], int, int]:
        """The units of the first corpus only, of the second only, of both; numbers of the first."""
        return order_units(self.sizes)

    @cached_property
    def _moving(self) -> tuple[Any, Floats]:
        """Return rates (V, U) that a permutation moves, and the sum (V,) that stays.

        Every document counts equally, whatever its size: documents of the two corpora may have
        other sizes, and a permutation would mix these. The rate of a very short document is
        noise, so no document counts as shorter than a quarter of the mean.
        """
        order, first, second = self._order
        least = MIN_SIZE * self.sizes.sum() / max(1, np.count_nonzero(self.sizes))
        a, b = (
            counts[:, order].multiply(1 / np.maximum(size[order], max(least, 1e-9))[None]).tocsc()
            for counts, size in zip(self.counts, self.sizes, strict=True)
        )
        both = np.arange(len(order)) >= first + second
        moving = (a + b.multiply(np.where(both, -1.0, 1.0)[None])).tocsr().astype(np.float32)
        fixed = np.asarray(b[:, both].sum(axis=1), np.float64).ravel()
        total = np.asarray((a + b).sum(axis=1), np.float64).ravel()
        number = int(both.sum())
        share = (first + number) / (first + second + 2 * number)
        return moving, fixed - total * share

    @property
    def testable(self) -> bool:
        """Whether both corpora have two units."""
        order, first, second = self._order
        return min(first, second) + len(order) - first - second > 1

    def scores(self, assigned: NDArray[np.bool_], rows: NDArray[np.intp]) -> Floats:
        """Return (rows, n) how far the mean rates of the documents of the two corpora differ.

        assigned: (n, U) whether what a permutation moves is in the first corpus. The difference
        is in units that are the same for all permutations.
        """
        moving, fixed = self._moving
        return np.asarray(np.abs(moving[rows] @ assigned.T.astype(np.float32) + fixed[rows, None]))

    def p_values(
        self, permutations: int, rng: np.random.Generator, progress: Progress = SILENT
    ) -> Floats:
        """Return (V,) the share of permutations in which the rates differ at least as much.

        A word is permuted until 20 permutations have such a difference (Besag and Clifford 1991),
        or until its q-value is settled, at most a hundred times `permutations`.
        """
        order, first, second = self._order
        observed = np.zeros((1, len(order)), np.bool_)
        observed[0, :first] = observed[0, first + second :] = True
        number, limit = self.counts[0].shape[0], 100 * (permutations + 1) - 1
        moving, fixed = self._moving
        sizes = np.asarray(abs(moving).sum(axis=1), np.float64).ravel() + np.abs(fixed)
        truth = self.scores(observed, np.arange(number))[:, 0] * (1 - SAME) - ROUNDING * sizes
        every = list_assignments(len(order), first, second)
        if every is not None:
            return self._count_all(every, truth)
        beyond, done, left = np.zeros(number), np.zeros(number), np.arange(number)
        drawn, next_look = 0, permutations
        with progress.stage("testing", number, "words") as stage:
            while len(left) and drawn < limit:
                most = MAX_CELLS // max(len(left), len(order))
                size = max(1, min(max(FIRST_BATCH, drawn), most, next_look - drawn))
                assigned = assign_units(size, len(order), first, second, rng)
                hits = self.scores(assigned, left) >= truth[left, None]  # (left, size)
                total = beyond[left, None] + hits.cumsum(axis=1)
                ends = total[:, -1] >= ENOUGH
                done[left] += np.where(ends, (total >= ENOUGH).argmax(axis=1) + 1, size)
                beyond[left] = np.minimum(total[:, -1], ENOUGH)
                before, left, drawn = len(left), left[~ends], drawn + size
                if drawn >= next_look:
                    settled = are_settled(beyond, done, SIGNIFICANT)
                    left, next_look = left[~settled[left]], min(limit, 10 * (next_look + 1) - 1)
                stage.advance(before - len(left))
        return np.where(beyond >= ENOUGH, ENOUGH / np.maximum(done, 1), (1 + beyond) / (1 + done))

    def _count_all(self, assigned: NDArray[np.bool_], least: Floats) -> Floats:
        """Return (V,) in which share of assignments (n, U) the scores are at least `least`."""
        shares, size = np.empty(len(least)), max(1, MAX_CELLS // len(assigned))
        for start in range(0, len(least), size):
            some = np.arange(start, min(start + size, len(least)))
            scores = self.scores(assigned, some)
            shares[some] = (scores >= least[some, None]).mean(axis=1)
        return shares

    def intervals(self, rows: NDArray[np.intp], rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the ends (rows,) of 95 % bootstrap intervals of log2 of the ratio of the rates."""
        order, first, second = self._order
        bounds = [0, first, first + second, len(order)]
        a, b = np.zeros((2, len(rows), RESAMPLES))
        size_a, size_b = np.zeros((2, RESAMPLES))
        wanted = [counts[rows].tocsc() for counts in self.counts]
        for begin, end in pairwise(bounds):
            units, even = order[begin:end], np.full(end - begin, 1 / max(1, end - begin))
            batch = max(1, MAX_CELLS // (4 * max(1, end - begin)))  # samples drawn at once
            for start in range(0, RESAMPLES if end > begin else 0, batch):
                some = slice(start, min(RESAMPLES, start + batch))
                drawn = rng.multinomial(end - begin, even, some.stop - start).astype(np.float64)
                for counts, size, of_words, of_all in zip(
                    wanted, self.sizes, (a, b), (size_a, size_b), strict=True
                ):
                    of_words[:, some] += counts[:, units] @ drawn.T
                    of_all[some] += drawn @ size[units]
        ratios = log_ratio(a, np.maximum(1, size_a), b, np.maximum(1, size_b))
        low, high = np.quantile(ratios, [0.025, 0.975], axis=1)
        return low, high


def count_by_unit(
    ids: NDArray[Any], units: NDArray[Any], rows: NDArray[np.int64], shape: tuple[int, int]
) -> Any:
    """Return the counts, sparse of shape (V, U), of words in units; ids (n,), units (n,).

    rows: the row of each id in the result, -1 for none.
    """
    from scipy.sparse import coo_matrix

    kept = rows[ids]
    at = kept >= 0
    ones = np.ones(int(at.sum()), np.float32)
    return coo_matrix((ones, (kept[at], units[at])), shape).tocsr()
