"""A word asks together with what stands around it, so that it looks for its own clause's topic."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.scores import softmax
from ctxembed.attention.terms import Seen
from ctxembed.attention.terms.walls import walls_between
from ctxembed.static.space import Floats

NEAR = 0.3  # how fast the neighbourhood of a word fades, a word
NEAR_WALL = 10.0  # and how fast behind walls


@dataclass(frozen=True)
class Neighbourhood:
    """What is known about each word that says how much it tells about the words around it."""

    salience: Floats  # (V,) how much a word says about the topic, a logarithm
    heights: Floats  # (V,) how high a wall it is

    def only(self, rows: NDArray[Any]) -> "Neighbourhood":
        """Keep some words of the vocabulary."""
        return Neighbourhood(self.salience[rows], self.heights[rows])

    def around(self, x: Floats, seen: Seen, mask: NDArray[np.bool_] | None = None) -> Floats:
        """Return (B, Tq, d): the mean of the words around each place, near ones most, of length 1.

        x: (B, T, d). mask: (B, T) False for padding.
        """
        walls = walls_between(self.heights, seen, x.dtype)
        assert walls is not None and seen.distance is not None and seen.ids is not None
        distance = np.abs(seen.distance)  # (B or 1, Tq, T)
        salience = self.salience[seen.ids].astype(x.dtype, copy=False)
        scores = salience[:, None, :] - (NEAR * distance + NEAR_WALL * walls).astype(x.dtype)
        look = distance != 0
        if mask is not None:
            look = look & mask[:, None, :]
        mean = softmax(np.where(look, scores, -np.inf)) @ x  # (B, Tq, d)
        length = np.sqrt((mean * mean).sum(axis=-1, keepdims=True))
        return np.asarray(mean / np.where(length > 0, length, 1), x.dtype)
