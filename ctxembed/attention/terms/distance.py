"""How far a word stands away, and on which side."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms.term import Seen, Term
from ctxembed.stats.vectors import Floats

REACH = 32  # words to either side that attention looks at; farther ones count as this far


class Distance(Term):
    """by_head: (H, 2R+1), its middle is distance 0 and its ends stand for all that is farther."""

    name: ClassVar[str] = "distance"

    def bias(self, seen: Seen, dtype: Any) -> Floats | None:
        """Look up a bias for each distance."""
        if seen.distance is None:
            return None
        table = self.by_head.astype(dtype, copy=False)[:, self._row(seen.distance)]
        return np.moveaxis(table, 0, -2)  # (H, B, Tq, T) -> (B, Tq, H, T)

    def backward(self, d_scores: Floats, seen: Seen) -> Floats:
        """Sum the gradients of all scores that used the same place."""
        gradient = np.zeros_like(self.by_head)
        if seen.distance is not None:
            row = np.broadcast_to(self._row(seen.distance), d_scores.shape[:2] + d_scores.shape[3:])
            for head in range(len(gradient)):
                sums = np.bincount(row.ravel(), d_scores[:, :, head].ravel(), gradient.shape[1])
                gradient[head] = sums
        return gradient

    def _row(self, distance: NDArray[np.intp]) -> NDArray[np.intp]:
        reach = self.by_head.shape[1] // 2
        return np.asarray(np.clip(distance, -reach, reach) + reach)


def decay(slopes: tuple[float, ...], reach: int) -> Floats:
    """Make a table that falls by a slope a word, one slope a head.

    >>> decay((0.5,), 2)
    array([[-1. , -0.5, -0. , -0.5, -1. ]])
    """
    distance = np.abs(np.arange(-reach, reach + 1))
    return -np.array(slopes)[:, None] * distance
