"""Static vectors as an attention sees them, made when they are asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.static.small import BLOCK, Small

Floats = NDArray[Any]  # float32 for speed, float64 where numbers are checked
Vectors = Floats | Small  # (V, d) as they are in a file


def unit(vectors: Floats) -> Floats:
    """Scale rows to length 1; a row of zeros stays as it is.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    with np.errstate(over="ignore"):
        squares = np.einsum("...d,...d->...", vectors, vectors)[..., None]
    if not np.isfinite(squares).all() or (squares < 1e-30).any():  # too large or small to square
        peak = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
        vectors = vectors / np.where(peak > 0, peak, 1)
        squares = np.einsum("...d,...d->...", vectors, vectors)[..., None]
    return np.asarray(vectors / np.where(squares > 0, np.sqrt(squares), 1), vectors.dtype)


def cosine(one: Floats, other: Floats) -> float:
    """Return the cosine of two vectors (d,); 0 where one is all zeros."""
    return float(np.clip(unit(one.astype(np.float64)) @ unit(other.astype(np.float64)), -1, 1))


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
