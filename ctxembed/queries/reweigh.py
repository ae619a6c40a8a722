"""Recompute a target's vector with other weights, for the web page."""

from collections.abc import Mapping

import numpy as np

from ctxembed.context.nearest import Axes, axis_cosines, nearest
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_attention, describe_skipped
from ctxembed.errors import UsageError
from ctxembed.explanation.explanation import pick_head, trace_targets
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.compare import AXIS
from ctxembed.stats.vectors import Floats, cosine
from ctxembed.table import Column, Row, Table

REWEIGH = (
    Column("representation", "the attention, or `by hand`: the same with the given weights"),
    Column("cos_computed", "cosine with the vector of the weights that were computed"),
)
NEAREST = Column("nearest", "the nearest words by static vectors, the target left out", "text")


def set_weights(weights: Floats, values: Mapping[int, float]) -> Floats:
    """Return weights (..., T) with some set, by index; the others keep their proportions.

    >>> set_weights(np.array([0.5, 0.25, 0.25]), {0: 0.8}).round(3).tolist()
    [0.8, 0.1, 0.1]
    """
    changed: Floats = weights.copy()
    total = sum(values.values())
    changed[..., list(values)] = 0
    rest = changed.sum(axis=-1, keepdims=True)
    changed *= max(0.0, 1 - total) / np.where(rest, rest, 1)
    changed[..., list(values)] = np.array(list(values.values())) / max(1.0, total)
    return changed


@on_model(*REWEIGH, AXIS, NEAREST)
def reweigh(
    model: Model, sentence: str, weights: Mapping[int, float], *, axes: Axes | None = None,
    attention: str | None = None, general: str | None = None, head: str = "mean", number: int = 4,
) -> Table:  # fmt: skip
    """Return the first target's vector as computed, and with weights set in all heads or one."""
    chosen, axes = choose_attention(Representations.of(model), attention, general), axes or {}
    parsed = parse(model, sentence)
    item = next(trace_targets(chosen, parsed))
    computed = item.weights  # (H, T)
    if unknown := [position for position in weights if position not in item.positions]:
        raise UsageError(f"a weight for word {unknown[0]}: no known word stands there")
    new = {item.positions.index(position): weight for position, weight in weights.items()}
    changed = computed.copy()
    for row in range(len(computed)) if head == "mean" else [pick_head(head, len(computed))]:
        changed[row] = set_weights(computed[row], new)
    values = item.attended.values[0].astype(np.float64)  # (H, T, d)
    outputs = [np.einsum("ht,htd->d", each, values) for each in (computed, changed)]
    vectors = (item.attended.own[0, 0] + np.array(outputs)).astype(np.float32)
    own = [parsed.occurrences[0].own.tolist()] * 2
    near = nearest(model, vectors, number, own, chosen.inputs)
    on_axes = axis_cosines(model, vectors, axes, chosen.alone).tolist()
    rows: list[Row] = [
        (name, cosine(vectors[row], vectors[0]), *on_axes[row], [word for word, _ in near[row]])
        for row, name in enumerate((chosen.name, "by hand"))
    ]
    return Table((*REWEIGH, *AXIS.each(axes), NEAREST), rows, describe_skipped([parsed]))
