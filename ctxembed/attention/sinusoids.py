"""Where a word stands: sine waves added to its vector, or a bias on its scores."""

import numpy as np
from numpy.typing import NDArray

from ctxembed.static.space import Floats


def sinusoidal(length: int, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """Encode places 0 .. length-1 as sine waves of falling frequency (Vaswani et al. 2017).

    Even columns are sin(p / base^(2i/d)), odd ones the cosine of the same angle.

    >>> sinusoidal(2, 2).round(3)
    array([[0.   , 1.   ],
           [0.841, 0.54 ]])
    """
    place = np.arange(length)[:, None]  # (T, 1)
    column = np.arange(dim)[None, :]  # (1, d)
    angle = place / base ** (2 * (column // 2) / dim)  # (T, d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def relative_bias(table: Floats, distance: NDArray[np.intp]) -> Floats:
    """Look up a bias for each distance.

    table: (H, 2R+1), its middle is distance 0 and its ends stand for all that is farther.
    distance: (B, Tq, Tk). Returns (B, H, Tq, Tk).
    """
    reach = (table.shape[-1] - 1) // 2
    return np.moveaxis(table[:, reach + np.clip(distance, -reach, reach)], 0, 1)


def decay(slopes: tuple[float, ...], reach: int) -> Floats:
    """Make a relative-bias table that falls by a slope a word, one slope a head.

    >>> decay((0.5,), 2)
    array([[-1. , -0.5, -0. , -0.5, -1. ]])
    """
    distance = np.abs(np.arange(-reach, reach + 1))
    return -np.array(slopes)[:, None] * distance
