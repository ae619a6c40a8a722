"""What if a weight were another? The same sum with weights given by hand."""

from collections.abc import Mapping

import numpy as np

from ctxembed.context.axes import Axes, axis_cosines
from ctxembed.context.parse import parse
from ctxembed.context.representations import representations_of
from ctxembed.context.sentences import choose_attention, tell_skipped
from ctxembed.errors import UsageError
from ctxembed.explanation.explained_target import explain_targets
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.compare import AXIS
from ctxembed.queries.explain import pick_head
from ctxembed.queries.neighbors import nearest
from ctxembed.stats.vectors import Floats, cosine
from ctxembed.table import Column, Row, Table

REWEIGH = (
    Column("representation", "the attention, or `by hand`: the same with the given weights"),
    Column("cos_computed", "cosine with the vector of the weights that were computed"),
)
NEAREST = Column("nearest", "the nearest words by static vectors, the target left out", "text")


@on_model(*REWEIGH, AXIS, NEAREST)
def reweigh(
    model: Model,
    sentence: str,
    weights: Mapping[int, float],
    *,
    axes: Axes | None = None,
    attention: str | None = None,
    general: str | None = None,
    head: str = "mean",
    number: int = 4,
) -> Table:
    """Give words that the first target looks at a weight, by position; the others share the rest.

    head: of all heads (mean), or of one only.
    """
    chosen, axes = choose_attention(representations_of(model), attention, general), axes or {}
    parsed = parse(model, sentence)
    item = next(explain_targets(chosen, parsed))
    made, computed = item.attended, item.weights  # (H, T)
    if unknown := [position for position in weights if position not in item.positions]:
        raise UsageError(f"a weight for word {unknown[0]}: no known word stands there")
    by_place = {item.positions.index(position) + 1: share for position, share in weights.items()}
    heads = range(len(computed)) if head == "mean" else [pick_head(head, len(computed))]
    by_hand = computed.copy()
    for row in heads:
        by_hand[row] = share_out(computed[row], by_place)
    values = made.values[0].astype(np.float64)  # (H, T, d)
    outputs = [
        made.own[0, 0] + np.einsum("ht,htd->d", given, values) for given in (computed, by_hand)
    ]
    vectors = np.array(outputs, np.float32)
    own = [parsed.occurrences[0].own.tolist()] * 2
    near = nearest(model, vectors, number, own, chosen.inputs)
    on_axes = axis_cosines(model, vectors, axes, chosen.alone)
    rows: list[Row] = [
        (
            name,
            cosine(vectors[row], vectors[0]),
            *map(float, on_axes[row]),
            [word for word, _ in near[row]],
        )
        for row, name in enumerate((chosen.name, "by hand"))
    ]
    return Table((*REWEIGH, *AXIS.each(axes), NEAREST), rows, tell_skipped([parsed]))


def share_out(weights: Floats, given: Mapping[int, float]) -> Floats:
    """Set some weights, by position from 1; the others keep their proportions and share the rest.

    >>> share_out(np.array([0.5, 0.25, 0.25]), {1: 0.8}).round(3).tolist()
    [0.8, 0.1, 0.1]
    """
    places = [place - 1 for place in given]
    if any(not 0 <= place < len(weights) for place in places):
        raise UsageError(f"a weight for word {max(given)}: the sentence has {len(weights)}")
    total = sum(given.values())
    made: Floats = weights.copy()
    made[places] = 0
    rest = made.sum()
    made *= max(0.0, 1 - total) / rest if rest else 0.0
    made[places] = np.array(list(given.values())) / max(1.0, total)
    return made
