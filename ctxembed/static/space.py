"""Static vectors of length 1, and vectors of 8 bits a number, computed on access."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats, unit

MAX_INT8 = 127  # the largest 8-bit integer whose negative is one too
BLOCK = 1 << 9  # rows converted at once: they fit in the cache


def quantize(vectors: NDArray[Any]) -> NDArray[np.int8]:
    """Return (V, 4 + d) bytes: each row's scale, a float32, and its numbers from -127 to 127.

    >>> quantize(np.array([[0.5, -1.0], [0.0, 0.0]], np.float32)).tolist()
    [[4, 2, 1, 60, 64, -127], [0, 0, 0, 0, 0, 0]]
    """
    quantized = np.zeros((len(vectors), 4 + vectors.shape[1]), np.int8)
    for first in range(0, len(vectors), BLOCK):
        x = np.asarray(vectors[first : first + BLOCK], np.float32)
        scale = np.abs(x).max(axis=1, initial=0) / np.float32(MAX_INT8)
        part = Quantized(quantized[first : first + BLOCK])
        part.scales[:] = scale
        part.numbers[:] = np.rint(x / np.where(scale > 0, scale, 1)[:, None])
    return quantized


class Quantized:
    """Quantized vectors that behave like a float32 array (V, d), a quarter of its size.

    >>> quantized = Quantized(quantize(np.array([[0.5, -1.0], [0.0, 0.0]])))
    >>> quantized.shape, quantized[0].round(3).tolist()
    ((2, 2), [0.5040000081062317, -1.0])
    """

    ndim, dtype = 2, np.dtype(np.float32)

    def __init__(self, rows: NDArray[np.int8]) -> None:
        self.rows = rows  # as in the file
        dim = rows.shape[1] - 4
        records = rows.view([("scale", "<f4"), ("numbers", "i1", (dim,))])[:, 0]
        self.scales, self.numbers = records["scale"], records["numbers"]  # (V,), (V, d)
        self.shape = self.numbers.shape

    def __len__(self) -> int:
        return len(self.scales)

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        """Return (..., d) the vectors of these rows."""
        vectors: NDArray[np.float32] = self.numbers[rows].astype(np.float32)  # then scaled: faster
        vectors *= np.asarray(self.scales[rows])[..., None]
        return vectors

    def take(self, rows: Any, axis: int = 0) -> NDArray[np.float32]:
        """Return (..., d) the vectors of these rows, as numpy's own arrays do."""
        assert axis == 0
        return self[np.asarray(rows, np.intp)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)


Vectors = Floats | Quantized  # (V, d) as they are in a file


class Space:
    """Vectors of length 1, centered or not: an array (V, d) whose rows are computed on access."""

    def __init__(self, vectors: Vectors, mean: Floats | None = None) -> None:
        self.vectors, self.shape = vectors, vectors.shape  # (V, d)
        self.mean = mean  # (d,) subtracted first; None subtracts nothing
        self._lengths = np.full(len(vectors), np.nan, np.float32)  # (V,) computed when needed

    def __getitem__(self, ids: Any) -> Floats:
        """Return (..., d) a vector for each id."""
        x: Floats = self.vectors.take(ids, axis=0)
        return unit(x if self.mean is None else x - self.mean)

    def cosines(self, queries: Floats, first: int = 0, last: int | None = None) -> Floats:
        """Return (V, n): the cosines of the words from first to last with n vectors of length 1."""
        last = len(self.vectors) if last is None else last
        products = np.empty((last - first, len(queries)), np.float32)
        for start in range(first, last, BLOCK):
            own = slice(start, min(last, start + BLOCK))
            x, part = self.vectors[own], products[start - first : start - first + BLOCK]
            np.matmul(x, queries.T, out=part)
            if self.mean is not None:
                part -= queries @ self.mean
            part /= self._read_lengths(own, x)[:, None]
        return products

    def _read_lengths(self, rows: slice, x: Floats) -> Floats:
        """Return the lengths of these rows, whose vectors are x (n, d); they are computed once."""
        lengths = self._lengths[rows]
        if np.isnan(lengths).any():
            x = x if self.mean is None else x - self.mean
            lengths[:] = np.sqrt(np.einsum("vd,vd->v", x, x))
            lengths[lengths == 0] = 1  # a row of zeros
        return lengths


def mean_of(vectors: Vectors) -> Floats:
    """Return (d,) the mean: short sums in float32 by a product with ones, a long one in float64."""
    total, ones = np.zeros(vectors.shape[1]), np.ones(BLOCK, np.float32)
    for first in range(0, len(vectors), BLOCK):
        some = vectors[first : first + BLOCK]
        total += ones[: len(some)] @ some
    return np.asarray(total / max(1, len(vectors)), np.float32)
