"""Named directions: the mean of a few words."""

from collections.abc import Mapping, Sequence

import numpy as np

from ctxembed.errors import UnknownWordError
from ctxembed.static.space import Floats, Space, unit
from ctxembed.store.model import Model

Axes = Mapping[str, Sequence[str]]


def axis_vectors(model: Model, axes: Axes, space: Floats | Space | None = None) -> Floats:
    """Return (axes, d) directions of length 1; each word counts the same.

    `space` (V, d) holds the words as the attention that made the vectors sees them.
    """
    directions = np.zeros((len(axes), model.dim), np.float32)
    for place, (name, words) in enumerate(axes.items()):
        known, unknown = model.sort_known(words)
        if unknown:
            raise UnknownWordError(f"--axis {name}: {model.unknown(unknown[0])}")
        vectors = np.array([model.vector(word, space) for word in known])
        directions[place] = unit(vectors).mean(axis=0)
    return unit(directions)


def axis_cosines(
    model: Model, vectors: Floats, axes: Axes, space: Floats | Space | None = None
) -> Floats:
    """Return (n, axes) the cosine of each vector with each axis."""
    return np.asarray(unit(np.atleast_2d(vectors)) @ axis_vectors(model, axes, space).T)
