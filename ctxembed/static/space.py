"""Static vectors as an attention sees them, made when they are asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]  # float32 for speed, float64 where numbers are checked
BLOCK = 1 << 12  # rows handled at once: they stay near the processor


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

    def __init__(self, vectors: Floats, *, centred: bool = False) -> None:
        self.vectors = vectors
        self.mean = _mean(vectors) if centred else None  # (d,)
        self._norms: dict[int, Floats] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """(V, d)."""
        return self.vectors.shape[0], self.vectors.shape[1]

    def __getitem__(self, ids: Any) -> Floats:
        """Return (..., d) a vector for each id."""
        x: Floats = self.vectors.take(ids, axis=0)
        return unit(x if self.mean is None else x - self.mean)

    def norms(self, words: int) -> Floats:
        """Return the lengths of the first words before they were made 1; 1 for a row of zeros."""
        if words not in self._norms:
            norms = np.empty(words, np.float32)
            for first in range(0, words, BLOCK):
                x = self.vectors[first : min(words, first + BLOCK)]
                x = x if self.mean is None else x - self.mean
                norms[first : first + BLOCK] = np.sqrt(np.einsum("vd,vd->v", x, x))
            norms[norms == 0] = 1
            self._norms[words] = norms
        return self._norms[words]

    def cosines(self, asked: Floats, words: int | None = None) -> Floats:
        """Return (n, V): the cosines of n vectors of length 1 with the first words, or all."""
        words = len(self.vectors) if words is None else words
        products = self.vectors[:words] @ asked.T  # (V, n); the large matrix on the left is faster
        if self.mean is not None:
            products -= asked @ self.mean
        cosines: Floats = np.divide(products.T, self.norms(words), order="C", dtype=np.float32)
        return cosines


def _mean(vectors: Floats) -> Floats:
    """Return (d,): short sums in float32 by a product with ones, a long one in float64."""
    rows = len(vectors) // BLOCK * BLOCK
    sums = np.ones((1, BLOCK), np.float32) @ vectors[:rows].reshape(-1, BLOCK, vectors.shape[1])
    total = sums.sum(axis=(0, 1), dtype=np.float64)
    total += vectors[rows:].sum(axis=0, dtype=np.float64)
    return np.asarray(total / max(1, len(vectors)), np.float32)
