"""Where a word stands, as sine waves added to its vector."""

import numpy as np
from numpy.typing import NDArray


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
