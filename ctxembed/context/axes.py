"""Named directions: the mean of a few words."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ctxembed.errors import UnknownWordError
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model

Axes = Mapping[str, Sequence[str]]
Alone = Callable[[Sequence[int]], Floats]  # of a representation: words without a sentence


def axis_vectors(model: Model, axes: Axes, alone: Alone | None = None) -> Floats:
    """Return (axes, d) directions of length 1; each word counts the same.

    alone: gives the words as the representation that made the vectors takes them.
    """
    look_up = alone or model.vectors.__getitem__
    directions = []
    for name, words in axes.items():
        known, unknown = model.sort_known(words)
        if unknown:
            raise UnknownWordError(f"--axis {name}: {model.unknown(unknown[0])}")
        vectors = np.array([look_up(model.parts(word)).mean(axis=0) for word in known])
        directions.append(unit(vectors).mean(axis=0))
    return unit(np.array(directions))


def axis_cosines(model: Model, vectors: Floats, axes: Axes, alone: Alone | None = None) -> Floats:
    """Return (n, axes) the cosine of each vector with each axis."""
    vectors = np.atleast_2d(vectors)
    if not axes:
        return np.zeros((len(vectors), 0))
    return np.asarray(unit(vectors) @ axis_vectors(model, axes, alone).T)
