"""Compare words, and marked words in sentences, by cosine."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ctxembed.context.nearest import Alone, Axes, axis_cosines, known_axes
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
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
    """Return the cosines of words and marked words in sentences with each other, and with axes."""
    texts = [words] if isinstance(words, str) else list(words)
    axes, axis_notes = known_axes(model, axes)
    alone: Alone | None = None
    if any("[" in text for text in texts):
        names, vectors, alone, notes, unknown = _in_context(model, texts, attention)
    else:
        names, notes, unknown = model.vocabulary.keep_known([t for t in texts if t.strip()])
        vectors = [model.vector(word) for word in names]
    notes = [*axis_notes, *notes]
    units = unit(np.array(vectors)).astype(np.float64)
    cosines = np.clip(units @ units.T, -1, 1)
    np.fill_diagonal(cosines, 1.0)
    if pairs:
        both = combinations(range(len(names)), 2)
        rows: list[Row] = [(names[i], names[j], float(cosines[i, j])) for i, j in both]
        chart = Chart("bars", ["cosine"], label=["word1", "word2"], title="cosine")
        return Table(PAIRS, rows, notes, unknown, chart)
    columns = (WORD, *OTHERS.each(names), *AXIS.each(axes))
    values = np.hstack([cosines, axis_cosines(model, np.array(vectors), axes, alone)])
    rows = [(name, *line) for name, line in zip(names, values.tolist(), strict=True)]
    chart = Chart("heat", range(1, len(columns)), label=["word"], domain=(-1, 1), title="cosine")
    return Table(columns, rows, notes, unknown, chart)


def _in_context(
    model: Model, texts: Sequence[str], attention: str | None
) -> tuple[list[str], list[Floats], Alone, list[str], list[str]]:
    """Return names, vectors (n, d), the vectors of other words beside them, notes and errors."""
    # imported here, so that a query of plain words starts faster
    from ctxembed.context.parse import parse
    from ctxembed.context.representations import Representations
    from ctxembed.context.sentences import Skipped, list_targets

    representations = Representations.of(model)
    representation = representations.get(attention or representations.answer())
    names: list[str] = []
    vectors: list[Floats] = []
    skipped = Skipped()
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            if "[" in text:
                parsed = parse(model, text)
                skipped.add(parsed)
                vectors += list(unit(representation.vectors(parsed.occurrences)))
                targets = list_targets([parsed])
                names += [f"{one.name}: {text}" if len(targets) > 1 else text for one in targets]
            else:
                (word,), forms, _ = model.vocabulary.keep_known(text)
                skipped.forms |= {text: word} if forms else {}
                vectors.append(unit(model.vector(word, representation.inputs)))
                names.append(word)
        except (UnknownWordError, UsageError) as error:
            if len(texts) == 1:
                raise
            skipped.lines.append((number, error))
    if not names:
        raise UnknownWordError("\n".join(skipped.unknown))
    return names, vectors, representation.alone, skipped.notes, skipped.unknown
