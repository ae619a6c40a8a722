"""Compare the static vector of a word with its contextual vectors in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ctxembed.context.columns import DRAWN, POSITION, SENTENCE, SHADED, TARGET, TOKEN, WEIGHT
from ctxembed.context.nearest import Axes, axis_cosines, known_axes
from ctxembed.context.occurrences import corpus_of, spread_positions
from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import (
    Attention,
    ModelRepresentation,
    Representation,
    Run,
    TargetTrace,
    vectors_at,
)
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import Sentences, general_kind, open_encoders, read_sentences
from ctxembed.context.worked_example import has_names, name_dimensions, worked_attention
from ctxembed.explanation.meaning import MEANING, describe_meanings, find_meanings
from ctxembed.explanation.substitutes import assign_each
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.define import define_targets, shares_part
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Role, Table

BASELINES = ("static", "bag")
OCCURRENCES = 200  # spread over the corpus; all their pairs make the baseline
SAME_AS_BAG = 0.95  # cosine from which attention adds nothing to the bag
TARGET_COLUMNS = (
    SENTENCE,
    TARGET,
    replace(POSITION, role="aside"),
    Column(
        "representation",
        "static, bag, general, learned, given (matrices of --vectors), together or a name",
        "label",
    ),
    Column("cos_static", "cosine with the word's static vector: how far context moved it"),
)
AXIS = Column("AXIS...", "cosine with each axis, a column under each one's name")
SEVERAL = (
    Column("cos_first", "with several sentences: cosine with the same target's first vector"),
    Column("cos_random", "with several sentences: mean cosine of 200 occurrences, all pairs"),
)
VECTOR = Column("vector", "of a worked example with matrices: the vector itself", "vector")
WRITTEN = Column("written", "the target as written, where another form of it was taken", "aside")
PANEL = ("sentence", "target")
WEIGHTS = (
    SENTENCE, TARGET, TOKEN, POSITION, replace(WEIGHT, group=PANEL),
    Column("contribution", "its share of the vector", "share", PANEL),
)  # fmt: skip


@dataclass
class Earlier:
    """What sentences compared earlier say of later ones: first vectors at length 1, baselines."""

    firsts: dict[tuple[int, ...], dict[str, Floats]] = field(default_factory=dict)  # by target
    baseline: dict[tuple[str, int], float | None] = field(default_factory=dict)


@on_model(*TARGET_COLUMNS, AXIS, VECTOR, *MEANING, WRITTEN, *SEVERAL)
def compare(
    model: Model, sentences: str | Sequence[str], *, word: str | None = None,
    axes: Axes | None = None, attention: str | Sequence[str] = (), general: str | None = None,
    encoders: Sequence[str] = (), number: int = 3, min_count: int = 1,
    earlier: Earlier | None = None, draw: str = DRAWN[0],
) -> Table:  # fmt: skip
    """Describe what each target means here, and compare its vectors: a row for each representation.

    attention: names, or a list of them; default all of the model. An encoder's vectors have a space
    of their own: its vectors of single words are the static ones there. earlier: kept over calls.
    draw: contribution or weight, in a picture.
    """
    representations = Representations.of(model)
    own_columns = (*TARGET_COLUMNS, *SEVERAL, VECTOR, *MEANING, WRITTEN)
    axes, axis_notes = known_axes(model, axes, own_columns)
    read = read_sentences(representations, sentences, word)
    names = attention.split(",") if isinstance(attention, str) else attention
    given = worked_attention(model) if model.is_worked_example else None
    names = names or [*representations.names()[2:], *([given.name] if given else [])]
    # described first
    main = names[-1] if attention or given else representations.answer()
    kind = general_kind(model, general)
    chosen = [
        given if given and name == given.name else representations.get(name, kind)
        for name in (*BASELINES, *names)
    ]
    opened = open_encoders(encoders, model)
    compared: list[Representation] = [*chosen, *opened]
    targets = read.targets()
    items = [item for _, _, item in targets]
    written = [parsed.written(item) for parsed in read.parsed for item in parsed.occurrences]
    runs = {representation.name: representation.run(items) for representation in chosen}
    vectors = {name: run.vectors for name, run in runs.items()}
    decisions = define_targets(model, read.parsed, vectors, main)
    vectors |= {encoder.name: encoder.vectors(items) for encoder in opened}
    on_axes = {r.name: axis_cosines(model, vectors[r.name], axes, r.alone) for r in compared}
    moved = {one.name: _cosines_alone(one, vectors[one.name], items) for one in compared}
    senses = assign_each(representations, items)
    meanings = find_meanings(
        representations,
        read,
        chosen,
        runs,
        senses,
        decisions,
        main,
        number,
        min_count,
        partial(shares_part, model),
    )
    earlier = earlier or Earlier()
    baseline = earlier.baseline
    units = {name: unit(own.astype(np.float64)) for name, own in vectors.items()}
    rows: list[tuple[Cell, ...]] = []
    for row, (sentence, target, item) in enumerate(targets):
        own = item.own.tolist()
        first = earlier.firsts.setdefault(tuple(own), {n: v[row] for n, v in units.items()})
        for one in compared:
            name, vector = one.name, vectors[one.name][row]
            cells: list[Cell] = [sentence, target, item.position, name, moved[name][row]]
            cells += map(float, on_axes[name][row])
            several: list[Cell] = []
            if read.several:
                if len(own) == 1 and (name, own[0]) not in baseline:
                    baseline[name, own[0]] = _mean_cosine(model, one, own[0])
                random = baseline[name, own[0]] if len(own) == 1 else None
                several = [min(1.0, float(units[name][row] @ first[name])), random]
            cells += [vector] if given else []
            meaning = meanings[row].get(name)
            cells += meaning.cells() if meaning else (None,) * len(MEANING)
            rows.append((*cells, written[row], *several))

    def describe_lines() -> Iterator[str]:
        # The dimensions of a worked example are its axes, if they have names.
        directions = list(axes) or (name_dimensions(model) if has_names(model) else [])
        on_each = on_axes if axes else vectors
        best = {name: on_each[name].argmax(axis=1) for name in runs if len(directions) > 1}
        nearest = {name: [directions[i] for i in indices] for name, indices in best.items()}
        labels = [f"{number}. {name}" if read.several else name for number, name, _ in targets]
        return describe_meanings(model, meanings, labels, main, nearest)

    shown: Role = "number" if len(axes) < 2 else "aside"  # a terminal is not wide enough for all
    at_end = [replace(column, role=shown) for column in SEVERAL if read.several]
    parts = [f"vector_{name}" for name in name_dimensions(model)] if given else []
    itself = [replace(VECTOR, parts=parts)] if given else []
    columns = (*TARGET_COLUMNS, *AXIS.each(axes), *itself, *MEANING, WRITTEN, *at_end)
    notes = [*axis_notes, *read.notes, *_compare_with_bag(runs, items)]
    attentions = [one for one in chosen if isinstance(one, Attention)]
    chart = _draw(attentions[-1] if attentions else None, runs, read, list(axes), draw)
    return Table(columns, rows, notes, read.unknown, chart=chart, lead=describe_lines)


def _cosines_alone(
    representation: Representation, vectors: Floats, items: Sequence[Occurrence]
) -> list[float]:
    """Return the cosine of the vector (n, d) of each target with its mean without a sentence."""
    alone = representation.alone(np.concatenate([item.own for item in items]).tolist())
    sizes = np.array([len(item.target) for item in items])
    means = np.add.reduceat(alone, np.cumsum(sizes) - sizes, axis=0) / sizes[:, None]
    both = unit(vectors.astype(np.float64)), unit(means.astype(np.float64))
    return list(np.einsum("nd,nd->n", *both).clip(-1, 1).tolist())


def _mean_cosine(model: Model, representation: Representation, word: int) -> float | None:
    """Return the mean cosine of all pairs of a word's occurrences; None if there is no pair."""
    if model.index is None or not isinstance(representation, ModelRepresentation):
        return None
    positions = spread_positions(corpus_of(model).positions(word), OCCURRENCES)
    if len(positions) < 2:
        return None
    vectors = vectors_at(model, representation, positions)
    total, n = unit(vectors).sum(axis=0, dtype=np.float64), len(vectors)
    # Σ over pairs of u·v = |Σ u|² - n, over n(n-1) ordered pairs
    return float((total @ total - n) / (n * (n - 1)))


def _draw(
    last: Attention | None, runs: Mapping[str, Run], read: Sentences, axes: Sequence[str],
    draw: str,
) -> list[Chart]:  # fmt: skip
    """Return charts: the words of each sentence, and each target on the axes or cos_static."""
    first, charts = len(TARGET_COLUMNS), []
    if last is not None:
        traces, skip_self = runs[last.name].traces, last.layer.skip_self
        table = Table(WEIGHTS, lambda: _weight_rows(read, traces, skip_self))
        title = f"{last.name} attention"
        charts.append(replace(SHADED, y=[draw], panel=PANEL, title=title, of=lambda: table))
    if len(axes) == 2:
        plane = Chart("scatter", [first + 1], first, series=["representation"], panel=PANEL)
        return [*charts, replace(plane, start="static", title="cosine with each axis")]
    dots = Chart("dots", label=PANEL, series=["representation"], start="static", beside=["like"])
    if not axes:
        return [*charts, replace(dots, y=["cos_static"], title="cosine with the static vector")]
    titles = [(first + i, f"cosine with {name}") for i, name in enumerate(axes)]
    return [*charts, *(replace(dots, y=[column], title=title) for column, title in titles)]


def _weight_rows(
    read: Sentences, traces: Sequence[TargetTrace], skip_self: bool
) -> Iterator[tuple[Cell, ...]]:
    """Yield the columns WEIGHTS: each word's mean weight over heads, and its contribution."""
    parsed = {one.number: one for one in read.parsed}
    for (number, name, item), trace in zip(read.targets(), traces, strict=True):
        tokens, positions = parsed[number].tokens(item)
        weights = trace.weights.mean(axis=0).tolist()
        parts = trace.contributions.sum(axis=0)
        parts[item.target.start] += trace.own
        if skip_self:  # the target has no weight of its own
            weights[item.target.start] = None
        for cells in zip(tokens, positions, weights, parts.tolist(), strict=True):
            yield number, name, *cells


def _compare_with_bag(runs: Mapping[str, Run], items: Sequence[Occurrence]) -> list[str]:
    """Return a note for each attention whose vectors are nearly those of the bag."""
    notes, bag = [], runs["bag"].vectors
    if all(len(item.ids) == len(item.target) for item in items):
        return ["there is no context: every representation has the word's static vector"]
    for name, run in runs.items():
        cosines = np.einsum("nd,nd->n", unit(run.vectors), unit(bag)).tolist()
        if name not in BASELINES and min(cosines) >= SAME_AS_BAG:
            same = "its vector is nearly the mean of the context, cosine"
            notes.append(f"{name} adds nothing to the bag here: {same} {min(cosines):.2f}")
    return notes
