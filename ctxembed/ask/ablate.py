"""Does the weight explain anything? Take each context word away and see what happens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctxembed.ask.columns import POSITION, SENTENCE
from ctxembed.ask.explained import explain_targets
from ctxembed.ask.targets import choose_attention, name_targets, read_sentences
from ctxembed.context.axes import Axes, axis_cosines, known_axes
from ctxembed.context.parse import Occurrence, Parsed, check_work
from ctxembed.context.representations import Attention, representations_of
from ctxembed.errors import UsageError
from ctxembed.static.ranks import spearman
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Cell, Chart, Column, Table

DIGITS = 9  # changes that differ less than this are ties: sums in another order
MOST = 10_000_000  # words looked at for a sentence: each is removed in turn
ENOUGH = 5  # words; below this any order is likely
ABLATE = (
    SENTENCE,
    Column(
        "target",
        "the word whose vector is watched; apple:2 is the second apple of the sentence",
        "label",
    ),
    Column("removed", "the context word that is taken away", "label"),
    POSITION,
    Column(
        "weight",
        "its attention weight before, mean over heads; one target's weights sum to 1",
        "share",
        ("sentence", "target"),
    ),
    Column("change", "1 - cosine of the target's vectors with the word and without it"),
)
AXIS = Column("AXIS...", "cosine with the axis without the word minus the one with it")
SPEARMAN = Column("spearman", "rank correlation of weight and change over the words of this target")


@dataclass(frozen=True)
class Ablation:
    """One target, and what each context word is worth to it."""

    target: str
    places: list[int]  # of the context words in the sentence
    weights: Floats  # (n,) mean over heads
    changes: Floats  # (n,) 1 - cosine of the target's vectors with and without the word
    axes: Floats  # (n, axes) cosine without the word minus the cosine with it

    @property
    def correlation(self) -> float | None:
        """Rank correlation of weight and change."""
        return spearman(self.weights.round(DIGITS), self.changes.round(DIGITS))


@on_model(*ABLATE, AXIS, SPEARMAN)
def ablate(
    model: Model,
    sentences: str | Sequence[str],
    *,
    word: str | None = None,
    axes: Axes | None = None,
    heads: int = 4,
    seed: int = 1,
    attention: str | None = None,
    general: str | None = None,
) -> Table:
    """Remove each context word of each target in turn, a row for each."""
    representations = representations_of(model)
    axes, told = known_axes(model, axes)
    chosen = choose_attention(representations, attention, general, heads, seed)
    read = read_sentences(representations, sentences, word)
    rows: list[tuple[Cell, ...]] = []
    found: list[float | None] = []
    for parsed in read.parsed:
        check_work(len(parsed.occurrences), len(parsed.words), MOST, power=2)
        if all(len(item.target) == len(item.ids) for item in parsed.occurrences):
            alone = f"{' '.join(parsed.words)!r}: no context word to remove"
            if not read.several:
                raise UsageError(alone)
            read.unknown.append(f"line {parsed.number}: {alone}")
            continue
        for made in ablations(model, chosen, parsed, axes):
            found.append(made.correlation)
            for place, weight, change, moved in zip(
                made.places, made.weights, made.changes, made.axes, strict=True
            ):
                position = parsed.positions[place]
                cells = (parsed.number, made.target, parsed.words[place], position)
                values = [float(cell) for cell in (weight, change, *moved)]
                rows.append((*cells, *values, found[-1]))
    notes = [*told, *read.notes, *_verdict(found, len(rows))]
    chart = Chart(
        "bars",
        ["weight", "change"],
        label=["removed"],
        panel=["sentence", "target"],
        title=f"what each context word is worth, by {chosen.name} attention",
    )
    columns = (*ABLATE, *AXIS.each(axes), SPEARMAN)
    return Table(columns, rows, notes, read.unknown, chart=chart)


def ablations(model: Model, attention: Attention, parsed: Parsed, axes: Axes) -> list[Ablation]:
    """Compute what each context word is worth to each target of a sentence."""
    names = name_targets(parsed)
    explained = explain_targets(attention, parsed)
    return [
        _ablation(model, attention, item, name, one.weights.mean(axis=0), axes)
        for name, item, one in zip(names, parsed.occurrences, explained, strict=True)
    ]


def _ablation(
    model: Model, attention: Attention, item: Occurrence, name: str, weights: Floats, axes: Axes
) -> Ablation:
    """Run the layer on the sentence without each word; the words behind it close up."""
    places = [place for place in range(len(item.ids)) if place not in item.target]
    local, whole = _by_place(attention, item)
    vectors = local.vectors([whole, *(_without(whole, place) for place in places)])  # (1+n, d)
    units = unit(vectors)
    cosines = axis_cosines(model, vectors, axes, attention.alone)  # (1+n, axes)
    seen = [
        place if place < item.target.start else place - len(item.target) + 1 for place in places
    ]
    return Ablation(
        name,
        places,
        weights[seen],
        changes=np.clip(1 - units[1:] @ units[0], 0, 2),
        axes=cosines[1:] - cosines[0],
    )


def _by_place(attention: Attention, item: Occurrence) -> tuple[Attention, Occurrence]:
    """Keep only the words of the sentence, row by place, in double precision."""
    local = replace(
        attention,
        inputs=attention.inputs[item.ids].astype(np.float64),
        layer=attention.layer.only(item.ids),
    )
    return local, Occurrence(np.arange(len(item.ids), dtype=np.int32), item.target)


def _without(item: Occurrence, place: int) -> Occurrence:
    before = place < item.target.start
    target = range(item.target.start - before, item.target.stop - before)
    return Occurrence(np.delete(item.ids, place), target)


def _verdict(found: Sequence[float | None], words: int) -> list[str]:
    """Answer the question in one line."""
    known = [value for value in found if value is not None]
    if not known:
        return ["too little to compare: no rank correlation of weight and change"]
    mean = float(np.mean(known))
    how = f"mean over {len(known)} targets" if len(found) > 1 else f"over {words} words"
    meaning = _meaning(mean) if words >= ENOUGH else "too few words to mean anything"
    return [f"rank correlation of weight and change: {mean:.2f} ({how}): {meaning}"]


def _meaning(correlation: float) -> str:
    if correlation >= 0.7:
        return "the words that weigh most change most when they go"
    if correlation >= 0.3:
        return "the weight tells part of what a word changes"
    return "the weight does not tell what a word changes"
