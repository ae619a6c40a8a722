"""Does the weight explain anything? Take each context word away and see what happens."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ctxembed.context.axes import Axes, axis_cosines, known_axes
from ctxembed.context.columns import POSITION, SENTENCE
from ctxembed.context.parse import Occurrence, check_work
from ctxembed.context.representations import Attention, representations_of
from ctxembed.context.sentences import choose_attention, read_sentences
from ctxembed.errors import UsageError
from ctxembed.explanation.explained_target import explain_targets
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.rank_correlation import spearman
from ctxembed.stats.vectors import Floats, unit
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
    axes, told = known_axes(model, axes, (*ABLATE, SPEARMAN))
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
        for item, one in zip(parsed.occurrences, explain_targets(chosen, parsed), strict=True):
            weights = np.delete(one.weights.mean(axis=0), item.target.start)  # (n,) of the context
            changes = _without_each(model, chosen, item, axes)  # (n, 1 + axes)
            found.append(spearman(weights.round(DIGITS), changes[:, 0].round(DIGITS)))
            places = [place for place in range(len(item.ids)) if place not in item.target]
            for place, weight, change in zip(places, weights, changes.tolist(), strict=True):
                cells = (parsed.number, one.target, parsed.words[place], parsed.positions[place])
                rows.append((*cells, float(weight), *change, found[-1]))
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


def _without_each(model: Model, attention: Attention, item: Occurrence, axes: Axes) -> Floats:
    """Run the layer on the sentence without each context word; the words behind it close up.

    Returns (n, 1 + axes): 1 - cosine of the target's vectors with the word and without it, and its
    cosine with each axis without the word minus the one with it.
    """
    words = replace(  # those of the sentence only, row by place, in double precision
        attention,
        inputs=attention.inputs[item.ids].astype(np.float64),
        layer=attention.layer.only(item.ids),
    )
    rows = np.arange(len(item.ids), dtype=np.int32)
    start, stop = item.target.start, item.target.stop
    without = [
        Occurrence(np.delete(rows, place), range(start - (place < start), stop - (place < start)))
        for place in rows.tolist()
        if place not in item.target
    ]
    vectors = words.vectors([Occurrence(rows, item.target), *without])  # (1+n, d)
    units = unit(vectors)
    cosines = axis_cosines(model, vectors, axes, attention.alone)  # (1+n, axes)
    return np.column_stack([np.clip(1 - units[1:] @ units[0], 0, 2), cosines[1:] - cosines[0]])


def _verdict(found: Sequence[float | None], words: int) -> list[str]:
    """Answer the question in one line."""
    known = [value for value in found if value is not None]
    if not known:
        return ["too little to compare: no rank correlation of weight and change"]
    mean = float(np.mean(known))
    how = f"mean over {len(known)} targets" if len(found) > 1 else f"over {words} words"
    if words < ENOUGH:
        meaning = "too few words to mean anything"
    elif mean >= 0.7:
        meaning = "the words that weigh most change most when they go"
    elif mean >= 0.3:
        meaning = "the weight tells part of what a word changes"
    else:
        meaning = "the weight does not tell what a word changes"
    return [f"rank correlation of weight and change: {mean:.2f} ({how}): {meaning}"]
