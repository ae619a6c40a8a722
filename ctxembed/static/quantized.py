"""Vectors of 8 bits a number: a quarter of the size, widened where they are asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 127  # the largest number of 8 bits that has a negative
BLOCK = 1 << 9  # rows widened at once: they stay near the processor


def narrow(vectors: NDArray[Any]) -> NDArray[np.int8]:
    """Return (V, 4 + d) bytes: each row's scale, a float32, and its numbers from -127 to 127.

    >>> narrow(np.array([[0.5, -1.0], [0.0, 0.0]], np.float32)).tolist()
    [[4, 2, 1, 60, 64, -127], [0, 0, 0, 0, 0, 0]]
    """
    small = np.zeros((len(vectors), 4 + vectors.shape[1]), np.int8)
    for first in range(0, len(vectors), BLOCK):
        x = np.asarray(vectors[first : first + BLOCK], np.float32)
        scale = np.abs(x).max(axis=1, initial=0) / np.float32(MOST)
        part = Small(small[first : first + BLOCK])
        part.scales[:] = scale
        part.numbers[:] = np.rint(x / np.where(scale > 0, scale, 1)[:, None])
    return small


class Small:
    """Stands for an array (V, d) of float32 that lies in a file as `narrow` made it.

    A row's scale lies beside its numbers: one word is one place to read.

    >>> small = Small(narrow(np.array([[0.5, -1.0], [0.0, 0.0]])))
    >>> small.shape, small[0].round(3).tolist()
    ((2, 2), [0.5040000081062317, -1.0])
    """

    ndim, dtype = 2, np.dtype(np.float32)

    def __init__(self, rows: NDArray[np.int8]) -> None:
        self.rows = rows  # as they lie in the file
        dim = rows.shape[1] - 4
        records = rows.view([("scale", "<f4"), ("numbers", "i1", (dim,))])[:, 0]
        self.scales, self.numbers = records["scale"], records["numbers"]  # (V,), (V, d)
        self.shape = self.numbers.shape

    def __len__(self) -> int:
        return len(self.scales)

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        """Return (..., d) the vectors of these rows."""
        wide: NDArray[np.float32] = self.numbers[rows].astype(np.float32)  # then scaled: faster
        wide *= np.asarray(self.scales[rows])[..., None]
        return wide

    def take(self, rows: Any, axis: int = 0) -> NDArray[np.float32]:
        """Return (..., d) the vectors of these rows, as numpy's own arrays do."""
        assert axis == 0
        return self[np.asarray(rows, np.intp)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:] if dtype is None else self[:].astype(dtype, copy=False)
