"""Set weights of a target by hand, for the web page: its vector and what it means then."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from ctxembed.context.nearest import Axes, axis_cosines
from ctxembed.context.representation import Run, list_traces
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_attention, read_sentences
from ctxembed.explanation.by_hand import weigh_by_hand
from ctxembed.explanation.explanation import trace_targets
from ctxembed.explanation.meaning import MEANING, find_meanings
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.compare import AXIS
from ctxembed.queries.define import define_targets, shares_part
from ctxembed.stats.vectors import cosine
from ctxembed.table import Cell, Column, Row, Table

REWEIGH = (
    Column("representation", "the attention, or `by hand`: the same with the given weights"),
    Column("cos_computed", "cosine with the vector of the weights that were computed"),
)
VECTOR = Column("vector", "the target's vector", "vector")


@on_model(*REWEIGH, AXIS, *MEANING, VECTOR)
def reweigh(
    model: Model, sentence: str, weights: Mapping[int, float], *, axes: Axes | None = None,
    attention: str | None = None, general: str | None = None, head: str = "mean", number: int = 4,
) -> Table:  # fmt: skip
    """Return the first target's vector as computed, and with weights set in all heads or one."""
    representations, axes = Representations.of(model), axes or {}
    chosen = choose_attention(representations, attention, general)
    read = read_sentences(representations, sentence, None)
    parsed = replace(read.parsed[0], occurrences=read.parsed[0].occurrences[:1])
    items = parsed.occurrences
    computed = next(trace_targets(chosen, parsed))
    by_hand = weigh_by_hand(computed, weights, head)
    vectors = np.array([one.attended.output[0, 0] for one in (computed, by_hand)], np.float32)
    run = Run(vectors[1:], list_traces(by_hand.attended))
    by_name = {chosen.name: run.vectors, "bag": representations.get("bag").vectors(items)}
    decisions = define_targets(model, [parsed], by_name, chosen.name)
    (meanings,) = find_meanings(
        representations, replace(read, parsed=[parsed]), [chosen], {chosen.name: run}, [None],
        decisions, chosen.name, number, 1, partial(shares_part, model),
    )  # fmt: skip
    nothing: tuple[Cell, ...] = (None,) * len(MEANING)
    on_axes = axis_cosines(model, vectors, axes, chosen.alone).tolist()
    rows: list[Row] = [
        (name, cosine(vectors[row], vectors[0]), *on_axes[row], *cells, vectors[row])
        for row, (name, cells) in enumerate(
            [(chosen.name, nothing), ("by hand", meanings[chosen.name].cells())]
        )
    ]
    return Table((*REWEIGH, *AXIS.each(axes), *MEANING, VECTOR), rows, read.notes)
