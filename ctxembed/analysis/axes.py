"""Named directions: the mean of a few words."""

from collections.abc import Mapping, Sequence

import numpy as np

from ctxembed.errors import UnknownWordError
from ctxembed.model import Floats, Model, unit

Axes = Mapping[str, Sequence[str]]


def axis_vectors(model: Model, axes: Axes) -> Floats:
    """Return (axes, d) directions of length 1; each word counts the same."""
    directions = np.zeros((len(axes), model.dim), np.float32)
    for place, (name, words) in enumerate(axes.items()):
        known, unknown = model.sort_known(words)
        if unknown:
            raise UnknownWordError(f"--axis {name}: {model.unknown(unknown[0])}")
        directions[place] = unit(model.vectors[[model.row(word) for word in known]]).mean(axis=0)
    return unit(directions)


def axis_cosines(model: Model, vectors: Floats, axes: Axes) -> Floats:
    """Return (n, axes) the cosine of each vector with each axis."""
    return np.asarray(unit(np.atleast_2d(vectors)) @ axis_vectors(model, axes).T)
