"""Static against contextual: what does this word mean here?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ctxembed.context.axes import Axes, axis_cosines, known_axes
from ctxembed.context.columns import POSITION, SENTENCE, TARGET
from ctxembed.context.occurrences import corpus_of
from ctxembed.context.parse import Occurrence, Parsed
from ctxembed.context.representations import (
    Attention,
    Ours,
    Representation,
    Representations,
    representations_of,
    vectors_at,
)
from ctxembed.context.sentences import general_kind, open_encoders, read_sentences
from ctxembed.explanation.sentence_weights import draw_sentences
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.meaning import MEANING, Meanings
from ctxembed.stats.vectors import Floats, cosine, unit
from ctxembed.table import Cell, Chart, Column, Role, Table

BASELINES = ("static", "bag")
OCCURRENCES = 200  # spread over the corpus; all their pairs make the baseline
ALIKE = 0.95  # cosine above which attention says no more than the bag
TARGET_COLUMNS = (
    SENTENCE,
    TARGET,
    replace(POSITION, role="aside"),
    Column("representation", "static, bag, general, learned or the name of an attention", "label"),
    Column("cos_static", "cosine with the word's static vector: how far context moved it"),
)
AXIS = Column("AXIS...", "cosine with each axis, a column under each one's name")
SEVERAL = (
    Column("cos_first", "with several sentences: cosine with the same target's first vector"),
    Column(
        "cos_random", "with several sentences: mean cosine of 200 of its occurrences, all pairs"
    ),
)


@on_model(*TARGET_COLUMNS, AXIS, *SEVERAL, *MEANING)
def compare(
    model: Model,
    sentences: str | Sequence[str],
    *,
    word: str | None = None,
    axes: Axes | None = None,
    attention: str | Sequence[str] = (),
    general: str | None = None,
    encoders: Sequence[str] = (),
    number: int = 3,
    min_count: int = 1,
) -> Table:
    """Say what each target means here, then put its vectors side by side, a row for each.

    attention: names, or a list of them; all that the model has. An encoder's vectors live in a
    space of their own: its lone words stand for static ones there.
    """
    representations = representations_of(model)
    axes, told = known_axes(model, axes, (*TARGET_COLUMNS, *SEVERAL, *MEANING))
    read = read_sentences(representations, sentences, word)
    names = attention.split(",") if isinstance(attention, str) else attention
    kind = general_kind(model, general)
    chosen = [
        representations.get(name, kind)
        for name in (*BASELINES, *(names or representations.names()[2:]))
    ]
    ways: list[Representation] = [*chosen, *open_encoders(encoders, model)]
    targets = read.targets()
    items = [item for _, _, item in targets]
    vectors = {way.name: way.vectors(items) for way in ways}
    shown: Role = "number" if len(axes) < 2 else "aside"  # there is no room for them all
    several = [replace(column, role=shown) for column in SEVERAL if read.several]
    columns = (*TARGET_COLUMNS, *AXIS.each(axes), *several, *MEANING)
    own = [item.own.tolist() for item in items]
    seen: dict[tuple[int, ...], int] = {}
    firsts = [seen.setdefault(tuple(ids), row) for row, ids in enumerate(own)]
    on_axes = {way.name: axis_cosines(model, vectors[way.name], axes, way.alone) for way in ways}
    random = _Random(representations) if read.several else None

    meanings = Meanings(
        representations, read, chosen, vectors, number, min_count, names[-1] if names else None
    )

    def row_of(row: int, way: Representation) -> tuple[Cell, ...]:
        (sentence, target, item), made = targets[row], vectors[way.name]
        cells: list[Cell] = [sentence, target, item.position, way.name]
        cells.append(cosine(made[row], way.alone(own[row]).mean(axis=0)))
        cells += map(float, on_axes[way.name][row])
        if random is not None:
            cells += [cosine(made[row], made[firsts[row]]), random.cosine(way, item)]
        meaning = meanings.at(row).get(way.name)
        return (*cells, *(meaning.cells() if meaning else (None,) * len(MEANING)))

    def rows() -> Iterator[tuple[Cell, ...]]:
        return (row_of(row, way) for row in range(len(targets)) for way in ways)

    def lines() -> Iterator[str]:
        nearest = {
            way.name: [list(axes)[i] for i in on_axes[way.name].argmax(axis=1)]
            for way in chosen
            if len(axes) > 1
        }
        names = [f"{place}. {name}" if read.several else name for place, name, _ in targets]
        return meanings.lines(names, nearest)

    compared = {way.name: vectors[way.name] for way in chosen}
    notes = [*told, *read.notes, *_verdict(compared, on_axes)]
    chart = _draw(chosen, read.parsed, list(axes))
    return Table(columns, rows, notes, read.unknown, chart=chart, lead=lines)


def _draw(chosen: Sequence[Ours], read: Sequence[Parsed], axes: Sequence[str]) -> list[Chart]:
    """Draw each target between the axes, an arrow from static to what the context makes of it."""
    first, which = len(TARGET_COLUMNS), ["sentence", "target"]
    attention = chosen[-1]
    charts = [draw_sentences(attention, read)] if isinstance(attention, Attention) else []
    if len(axes) == 2:
        plane = Chart("scatter", [first + 1], first, series=["representation"], panel=which)
        return [*charts, replace(plane, start="static", title="cosine with each axis")]
    dots = Chart("dots", label=which, series=["representation"], start="static")
    if not axes:
        return [*charts, replace(dots, y=["cos_static"], title="cosine with the static vector")]
    told = [(first + i, f"cosine with {name}") for i, name in enumerate(axes)]
    return [*charts, *(replace(dots, y=[column], title=title) for column, title in told)]


class _Random:
    """The baseline: mean cosine of pairs of occurrences of the same word, all over the corpus."""

    def __init__(self, representations: Representations) -> None:
        self.representations = representations
        self.known: dict[tuple[str, int], float | None] = {}

    def cosine(self, way: Representation, item: Occurrence) -> float | None:
        """Return the baseline for a target of one word that the corpus has at least twice."""
        word, name = int(item.ids[item.target.start]), way.name
        alone = len(item.target) > 1 or self.representations.model.index is None
        if alone or not isinstance(way, Ours):
            return None
        if (name, word) not in self.known:
            places = corpus_of(self.representations.model).positions(word)
            evenly = np.linspace(0, len(places) - 1, min(OCCURRENCES, len(places)))
            places = places[evenly.astype(np.intp)]  # spread over the corpus; no chance in it
            self.known[name, word] = None
            if len(places) > 1:
                made = vectors_at(self.representations.model, way, places)
                total, n = unit(made).sum(axis=0, dtype=np.float64), len(made)
                # Σ over pairs of u·v = |Σ u|² - n, over n(n-1) ordered pairs
                self.known[name, word] = float((total @ total - n) / (n * (n - 1)))
        return self.known[name, word]


def _verdict(vectors: Mapping[str, Floats], on_axes: Mapping[str, Floats]) -> list[str]:
    """Say so where attention gives no other answer than the plain mean of the context."""
    if "bag" not in vectors:
        return []
    notes = []
    for name, made in vectors.items():
        if name in ("static", "bag"):
            continue
        if on_axes[name].shape[1] > 1:
            if (on_axes[name].argmax(1) == on_axes["bag"].argmax(1)).all():
                notes.append(f"{name} adds nothing over the bag here: the same axis is nearest")
        elif all(cosine(a, b) >= ALIKE for a, b in zip(made, vectors["bag"], strict=True)):
            notes.append(
                f"{name} adds nothing over the bag here: the cosine of the two is over {ALIKE}"
            )
    return notes
