"""How alike are these words?"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ctxembed.context.axes import Alone, Axes, axis_cosines
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Chart, Column, Row, Table

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
    words, axes = [words] if isinstance(words, str) else words, axes or {}
    plain = [text for text in words if "[" not in text]
    missing = model.keep_known(plain)[1] if plain else []
    words = [text for text in words if "[" in text or model.parts(text)]
    names = [model.spelling(word) for word in words]
    alone: Alone | None = None
    notes: list[str] = []
    if len(plain) - len(missing) == len(words):
        vectors = [model.vector(word) for word in words]
    else:
        names, vectors, alone, notes = _in_context(model, words, attention)
    units = unit(np.array(vectors)).astype(np.float64)
    cosines = np.clip(units @ units.T, -1, 1)
    np.fill_diagonal(cosines, 1.0)
    if pairs:
        both = combinations(range(len(names)), 2)
        found = [(names[i], names[j], float(cosines[i, j])) for i, j in both]
        chart = Chart("bars", ["cosine"], label=["word1", "word2"], title="cosine")
        return Table(PAIRS, found, notes, missing, chart)
    columns = (WORD, *OTHERS.each(names), *AXIS.each(axes))
    values = np.hstack([cosines, axis_cosines(model, np.array(vectors), axes, alone)])
    rows: list[Row] = [(name, *map(float, line)) for name, line in zip(names, values, strict=True)]
    chart = Chart("heat", range(1, len(columns)), label=["word"], domain=(-1, 1), title="cosine")
    return Table(columns, rows, notes, missing, chart)


def _in_context(
    model: Model, words: Sequence[str], attention: str | None
) -> tuple[list[str], list[Floats], Alone, list[str]]:
    """Return names, vectors, how other words lie beside them, and what to say beside them."""
    # A question about plain words need not wait for these.
    from ctxembed.ask.explain import name_targets
    from ctxembed.ask.targets import tell_skipped
    from ctxembed.context.representations import parse, representations_of

    representations = representations_of(model)
    way = representations.get(attention or representations.default())
    names: list[str] = []
    vectors: list[Floats] = []
    sentences = {word: parse(model, word) for word in words if "[" in word}
    for word in words:
        if word in sentences:
            occurrences = sentences[word].occurrences
            vectors += list(unit(way.vectors(occurrences)))
            targets = name_targets(sentences[word])
            names += [f"{name}: {word}" if len(targets) > 1 else word for name in targets]
        else:
            vectors.append(unit(model.vector(word, way.inputs)))
            names.append(model.spelling(word))
    return names, vectors, way.alone, tell_skipped(sentences.values())
