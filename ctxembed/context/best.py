"""The rows with the highest scores for many vectors, while a table is read once."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

KEPT = 4  # times the rows wanted: so many are kept before the others are dropped


class Best:
    """The best rows for each of n vectors.

    >>> best = Best(2, wanted=1)
    >>> best.add(0, np.array([[0.1, 0.9], [0.3, 0.2], [0.3, 0.5]], np.float32))
    >>> [rows.tolist() for rows, _ in best.rank()]
    [[1], [0]]
    """

    def __init__(self, vectors: int, wanted: int) -> None:
        self.least = np.full(vectors, -np.inf, np.float32)  # (n,) a later row has to score higher
        self.wanted, self.size = wanted, 0
        self.owners: list[Any] = [np.zeros(0, np.int32)]  # the vector of each row that is kept
        self.rows: list[Any] = [np.zeros(0, np.intp)]
        self.scores: list[Floats] = [np.zeros(0, np.float32)]

    def add(self, first: int, scores: Floats) -> None:
        """Take the scores (rows, n) of the next rows, which begin at `first`."""
        rows, owners = np.divmod(np.flatnonzero(scores > self.least), len(self.least))
        self.owners.append(owners.astype(np.int32))
        self.rows.append(rows + first)
        self.scores.append(scores[rows, owners])
        self.size += len(rows)
        if self.size > KEPT * self.wanted * len(self.least):
            self._drop()

    def rank(self) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Yield the best rows and their scores for each vector; of equals, the first row first."""
        rows, scores = self.rows, self.scores
        for start, stop in self._sort():
            own = np.argsort(-scores[0][start:stop], kind="stable")[: self.wanted]
            yield rows[0][start:stop][own], scores[0][start:stop][own]

    def _drop(self) -> None:
        """Drop the rows that are not among the best so far."""
        kept = np.ones(self.size, bool)
        for owner, (start, stop) in enumerate(self._sort()):
            scores, cut = self.scores[0][start:stop], stop - start - self.wanted
            if cut >= 0:
                self.least[owner] = np.partition(scores, cut)[cut]
                kept[start:stop] = scores >= self.least[owner]
        self.owners[0], self.rows[0] = self.owners[0][kept], self.rows[0][kept]
        self.scores[0] = self.scores[0][kept]
        self.size = len(self.rows[0])

    def _sort(self) -> list[tuple[int, int]]:
        """Sort what is kept by vector, and return where each vector's rows begin and end."""
        owners = np.concatenate(self.owners)
        order = np.argsort(owners, kind="stable")
        self.owners[:] = [owners[order]]
        self.rows[:] = [np.concatenate(self.rows)[order]]
        self.scores[:] = [np.concatenate(self.scores)[order]]
        ends = np.searchsorted(self.owners[0], np.arange(len(self.least) + 1))
        return list(pairwise(ends.tolist()))
