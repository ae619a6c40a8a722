"""Vectors as arrays: their type, unit length, cosine."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]  # float32 for speed, float64 where numbers are checked


def unit(vectors: Floats) -> Floats:
    """Return rows scaled to length 1; a row of zeros stays as it is.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    with np.errstate(over="ignore"):
        squares = np.einsum("...d,...d->...", vectors, vectors)[..., None]
    if squares.min(initial=1) >= 1e-30 and squares.max(initial=0) < np.inf:
        return np.asarray(vectors / np.sqrt(squares), vectors.dtype)
    # too large or small to square, zeros, or not a number
    peak = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    vectors = vectors / np.where(peak > 0, peak, 1)
    squares = np.einsum("...d,...d->...", vectors, vectors)[..., None]
    return np.asarray(vectors / np.where(squares > 0, np.sqrt(squares), 1), vectors.dtype)


def all_finite(array: Floats) -> bool:
    """Return whether no number is infinite or NaN: its bits are read, which needs no conversion.

    >>> [all_finite(np.array([1, x], np.float16)) for x in (-65504, np.inf, np.nan)]
    [True, False, False]
    """
    infinity = np.array(np.inf, array.dtype).view(array.dtype.str.replace("f", "u"))
    return bool(((array.view(infinity.dtype) & infinity) < infinity).all())


def cosine(one: Floats, other: Floats) -> float:
    """Return the cosine of two vectors (d,); 0 where one is all zeros."""
    return float(np.clip(unit(one.astype(np.float64)) @ unit(other.astype(np.float64)), -1, 1))
