"""How alike are these words?"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ctxembed.context.axes import Axes, axis_cosines
from ctxembed.static.space import Floats, Space, unit
from ctxembed.store.model import Model
from ctxembed.table import Table


def similarity(
    model: Model,
    words: Sequence[str],
    *,
    pairs: bool = False,
    axes: Axes | None = None,
    attention: str | None = None,
) -> Table:
    """Compare words and marked words in sentences with each other, and with the axes."""
    if not any("[" in word for word in words):
        return compare_all(
            model,
            [model.spelling(word) for word in words],
            np.array([model.vector(word) for word in words]),
            pairs=pairs,
            axes=axes or {},
        )
    # A question about plain words need not wait for these.
    from ctxembed.ask.explain import name_targets
    from ctxembed.context.representations import Context, parse

    context = Context(model)
    way = context.get(attention or context.default())
    space = way.inputs  # all that is compared lies in one space
    names: list[str] = []
    vectors: list[Floats] = []
    unknown: dict[str, None] = {}
    for word in words:
        if "[" in word:
            parsed = parse(model, word)
            unknown |= dict.fromkeys(parsed.unknown)
            vectors += list(unit(way.vectors(parsed.occurrences)))
            several = len(parsed.occurrences) > 1
            names += [f"{name}: {word}" if several else word for name in name_targets(parsed)]
        else:
            vectors.append(unit(model.vector(word, space)))
            names.append(model.spelling(word))
    table = compare_all(model, names, np.array(vectors), pairs=pairs, axes=axes or {}, space=space)
    notes = [f"skipped, not in the vocabulary: {', '.join(unknown)}"] if unknown else []
    return replace(table, notes=[*table.notes, *notes])


def compare_all(
    model: Model,
    names: Sequence[str],
    vectors: Floats,
    *,
    pairs: bool,
    axes: Axes,
    space: Floats | Space | None = None,
) -> Table:
    """Tabulate the cosines of (n, d) vectors."""
    units = unit(vectors).astype(np.float64)
    cosines = np.clip(units @ units.T, -1, 1)
    np.fill_diagonal(cosines, 1.0)
    if pairs:
        return Table(
            ("word1", "word2", "cosine"),
            [
                (names[i], names[j], float(cosines[i, j]))
                for i, j in combinations(range(len(names)), 2)
            ],
        )
    on_axes = axis_cosines(model, vectors, axes, space) if axes else np.zeros((len(names), 0))
    return Table(
        ("word", *names, *axes),
        [(name, *map(float, cosines[i]), *map(float, on_axes[i])) for i, name in enumerate(names)],
    )
