"""How alike are these words?"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ctxembed.context.axes import Axes, axis_cosines
from ctxembed.static.space import Floats, Space, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Column, Row, Table

WORD = Column("word", "a word", "label")
OTHERS = Column("WORD...", "its cosine with each of the words, a column under each one's name")
AXIS = Column("AXIS...", "its cosine with each axis")
PAIRS = (
    Column("word1", "with --pairs: a word", "label"),
    Column("word2", "with --pairs: another", "label"),
    Column("cosine", "with --pairs: their cosine"),
)


@on_model(WORD, OTHERS, AXIS, *PAIRS)
def similarity(
    model: Model,
    words: str | Sequence[str],
    *,
    pairs: bool = False,
    axes: Axes | None = None,
    attention: str | None = None,
) -> Table:
    """Compare words and marked words in sentences with each other, and with the axes."""
    words = [words] if isinstance(words, str) else words
    plain = [text for text in words if "[" not in text]
    missing = model.keep_known(plain)[1] if plain else []
    words = [text for text in words if "[" in text or model.parts(text)]
    if len(plain) - len(missing) == len(words):
        return compare_all(
            model,
            [model.spelling(word) for word in words],
            np.array([model.vector(word) for word in words]),
            pairs=pairs,
            axes=axes or {},
            missing=missing,
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
    notes = [f"skipped, not in the vocabulary: {', '.join(unknown)}"] if unknown else []
    return compare_all(
        model,
        names,
        np.array(vectors),
        pairs=pairs,
        axes=axes or {},
        space=space,
        notes=notes,
        missing=missing,
    )


def compare_all(
    model: Model,
    names: Sequence[str],
    vectors: Floats,
    *,
    pairs: bool,
    axes: Axes,
    space: Floats | Space | None = None,
    notes: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Table:
    """Tabulate the cosines of (n, d) vectors."""
    units = unit(vectors).astype(np.float64)
    cosines = np.clip(units @ units.T, -1, 1)
    np.fill_diagonal(cosines, 1.0)
    if pairs:
        both = combinations(range(len(names)), 2)
        found = [(names[i], names[j], float(cosines[i, j])) for i, j in both]
        return Table(PAIRS, found, notes, missing)
    on_axes = axis_cosines(model, vectors, axes, space) if axes else np.zeros((len(names), 0))
    rows: list[Row] = [
        (name, *map(float, cosines[i]), *map(float, on_axes[i])) for i, name in enumerate(names)
    ]
    return Table((WORD, *OTHERS.each(names), *AXIS.each(axes)), rows, notes, missing)
