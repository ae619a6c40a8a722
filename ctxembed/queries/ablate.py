"""Remove each context word and measure the change: do the weights explain the vector?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ctxembed.context.columns import APART, DRAWN, POSITION, SENTENCE
from ctxembed.context.nearest import Axes, axis_cosines, known_axes
from ctxembed.context.parse import Occurrence, check_work
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_attention, read_sentences
from ctxembed.errors import UsageError
from ctxembed.explanation.explanation import trace_targets
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.rank_correlation import spearman
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Table

DIGITS = 9  # changes that differ by less are ties: sums in another order
MAX_WORDS = 10_000_000  # read for a sentence: targets times the square of its words
MIN_WORDS = 5  # below this any order is likely
MEANINGS = (  # of the lowest rank correlation
    (0.7, "the words with most weight change the vector most"),
    (0.3, "the weight tells part of what a word changes"),
    (-2.0, "the weight does not tell what a word changes"),
)
PANEL = ("sentence", "target")
ABLATE = (
    SENTENCE,
    Column("target", "the word whose vector is watched; apple:2 is the second apple", "label"),
    Column("removed", "the context word that is taken away", "label"),
    POSITION,
    Column("weight", "its weight before, mean over heads; a target's sum to 1", "share", PANEL),
    Column("change", "1 - cosine of the target's vectors with the word and without it"),
)
AXIS = Column("AXIS...", "cosine with the axis without the word minus the one with it")
CONTRIBUTION = Column(
    "contribution", "its share of the target's vector before, of all heads", "aside"
)
SPEARMAN = Column("spearman", "rank correlation of weight and change over the words of this target")


@on_model(*ABLATE, AXIS, SPEARMAN, CONTRIBUTION)
def ablate(
    model: Model, sentences: str | Sequence[str], *, word: str | None = None,
    axes: Axes | None = None, heads: int = 4, seed: int = 1, attention: str | None = None,
    general: str | None = None, draw: str = DRAWN[0],
) -> Table:  # fmt: skip
    """Remove each context word of each target in turn; return a row for each.

    draw: contribution or weight, beside the change in a picture.
    """
    representations = Representations.of(model)
    axes, axis_notes = known_axes(model, axes, (*ABLATE, SPEARMAN, CONTRIBUTION))
    chosen = choose_attention(representations, attention, general, heads, seed)
    read = read_sentences(representations, sentences, word)
    rows: list[tuple[Cell, ...]] = []
    correlations: list[float | None] = []
    for parsed in read.parsed:
        check_work(len(parsed.occurrences), len(parsed.words), MAX_WORDS, power=2)
        if all(len(item.target) == len(item.ids) for item in parsed.occurrences):
            message = f"{' '.join(parsed.words)!r}: no context word to remove"
            if not read.several:
                raise UsageError(message)
            read.unknown.append(f"line {parsed.number}: {message}")
            continue
        for item, one in zip(parsed.occurrences, trace_targets(chosen, parsed), strict=True):
            weights = np.delete(one.weights.mean(axis=0), item.target.start)  # (n,) of the context
            parts = np.delete(one.contributions[0].sum(axis=0), item.target.start).tolist()
            changes = _remove_each(model, chosen, item, axes)  # (n, 1 + axes)
            correlations.append(spearman(weights.round(DIGITS), changes[:, 0].round(DIGITS)))
            context = [i for i in range(len(item.ids)) if i not in item.target]
            values = zip(context, weights, changes.tolist(), parts, strict=True)
            for i, weight, change, part in values:
                cells = (parsed.number, one.target, parsed.words[i], parsed.positions[i])
                rows.append((*cells, float(weight), *change, correlations[-1], part))
    notes = [*axis_notes, *read.notes, _interpret(correlations, len(rows))]
    title = f"what each context word is worth, by {chosen.name} attention"
    chart = Chart("bars", [draw, "change"], label=["removed"], panel=PANEL, title=title, note=APART)
    columns = (*ABLATE, *AXIS.each(axes), SPEARMAN, CONTRIBUTION)
    return Table(columns, rows, notes, read.unknown, chart=chart)


def _remove_each(model: Model, attention: Attention, item: Occurrence, axes: Axes) -> Floats:
    """Return (n, 1 + axes): 1 - cosine without each context word, and the changes on the axes."""
    words = replace(  # only those of the sentence, a row for each position, in double precision
        attention,
        inputs=attention.inputs[item.ids].astype(np.float64),
        layer=attention.layer.only(item.ids),
    )
    rows = np.arange(len(item.ids), dtype=np.int32)
    before, own, after = np.split(rows, [item.target.start, item.target.stop])
    without = [Occurrence.join(np.delete(before, i), own, after) for i in range(len(before))]
    without += [Occurrence.join(before, own, np.delete(after, i)) for i in range(len(after))]
    vectors = words.vectors([Occurrence(rows, item.target), *without])  # (1+n, d)
    units = unit(vectors)
    cosines = axis_cosines(model, vectors, axes, attention.alone)  # (1+n, axes)
    return np.column_stack([np.clip(1 - units[1:] @ units[0], 0, 2), cosines[1:] - cosines[0]])


def _interpret(correlations: Sequence[float | None], words: int) -> str:
    """Return a note on the mean rank correlation of weight and change."""
    known = [value for value in correlations if value is not None]
    if not known:
        return "too little to compare: no rank correlation of weight and change"
    mean = float(np.mean(known))
    over = f"mean over {len(known)} targets" if len(correlations) > 1 else f"over {words} words"
    meaning = next(text for limit, text in MEANINGS if mean >= limit)
    meaning = meaning if words >= MIN_WORDS else "too few words to mean anything"
    return f"rank correlation of weight and change: {mean:.2f} ({over}): {meaning}"
