"""Static vectors as an attention sees them, made when they are asked for."""

from typing import Any

import numpy as np

from ctxembed.static.quantized import BLOCK, Small
from ctxembed.stats.vectors import Floats, unit

Vectors = Floats | Small  # (V, d) as they are in a file


class Space:
    """Vectors of length 1, with or without what they all share.

    Stands wherever an array (V, d) is indexed by word: a question about one sentence needs a few
    rows, not a second copy of the whole table.
    """

    def __init__(self, vectors: Vectors, mean: Floats | None = None) -> None:
        self.vectors, self.shape = vectors, vectors.shape  # (V, d)
        self.mean = mean  # (d,) what they all share; None leaves it in
        self._norms: dict[tuple[int, int], Floats] = {}

    def __getitem__(self, ids: Any) -> Floats:
        """Return (..., d) a vector for each id."""
        x: Floats = self.vectors.take(ids, axis=0)
        return unit(x if self.mean is None else x - self.mean)

    def cosines(self, asked: Floats, first: int = 0, last: int | None = None) -> Floats:
        """Return (n, V): the cosines of n vectors of length 1 with the words from first to last."""
        last = len(self.vectors) if last is None else last
        norms = self._norms.get((first, last))
        lengths = np.empty(last - first, np.float32) if norms is None else norms
        products = np.empty((last - first, len(asked)), np.float32)  # (V, n)
        for start in range(first, last, BLOCK):
            stop = min(last, start + BLOCK)
            x, part = self.vectors[start:stop], slice(start - first, stop - first)
            products[part] = x @ asked.T  # the large matrix on the left is faster
            if norms is None:
                x = x if self.mean is None else x - self.mean
                lengths[part] = np.sqrt(np.einsum("vd,vd->v", x, x))
        if norms is None:
            lengths[lengths == 0] = 1  # a row of zeros
            self._norms[first, last] = lengths
        if self.mean is not None:
            products -= asked @ self.mean
        cosines: Floats = np.divide(products.T, lengths, order="C", dtype=np.float32)
        return cosines


def mean_of(vectors: Vectors) -> Floats:
    """Return (d,): short sums in float32 by a product with ones, a long one in float64."""
    total, ones = np.zeros(vectors.shape[1]), np.ones(BLOCK, np.float32)
    for first in range(0, len(vectors), BLOCK):
        some = vectors[first : first + BLOCK]
        total += ones[: len(some)] @ some
    return np.asarray(total / max(1, len(vectors)), np.float32)
