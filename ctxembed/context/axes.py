"""Named directions: the mean of a few words."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Column

Axes = Mapping[str, Sequence[str]]
Alone = Callable[[Sequence[int]], Floats]  # of a representation: words without a sentence


def known_axes(
    model: Model, axes: Axes | None, beside: Sequence[Column] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """Return axes of the words that a model knows, and what to say of the words left out.

    beside: the columns that stand beside those of the axes, whose names are taken.

    A word that is there in another form is taken in that one; an axis needs one word at least.
    """
    kept: dict[str, list[str]] = {}
    notes: list[str] = []
    for name, words in (axes or {}).items():
        if name in [column.name for column in beside]:
            raise UsageError(
                f"--axis {name}: the answer has a column {name}; call the axis otherwise"
            )
        try:
            kept[name], forms, unknown = model.vocabulary.keep_known(words)
        except UnknownWordError as error:
            raise UnknownWordError(f"--axis {name}: {error}") from None
        notes += [f"--axis {name}: {told}" for told in (*forms, *unknown)]
    return kept, notes


def axis_vectors(model: Model, axes: Axes, alone: Alone | None = None) -> Floats:
    """Return (axes, d) directions of length 1; each word counts the same.

    alone: gives the words as the representation that made the vectors takes them.
    """
    look_up = alone or model.vectors.__getitem__
    directions = []
    for words in axes.values():
        if unknown := model.vocabulary.sort_known(words)[1]:
            raise UnknownWordError(model.vocabulary.unknown(unknown[0]))
        vectors = np.array([look_up(model.vocabulary.parts(word)).mean(axis=0) for word in words])
        directions.append(unit(vectors).mean(axis=0))
    return unit(np.array(directions))


def axis_cosines(model: Model, vectors: Floats, axes: Axes, alone: Alone | None = None) -> Floats:
    """Return (n, axes) the cosine of each vector with each axis."""
    vectors = np.atleast_2d(vectors)
    if not axes:
        return np.zeros((len(vectors), 0))
    return np.asarray(unit(vectors) @ axis_vectors(model, axes, alone).T)
