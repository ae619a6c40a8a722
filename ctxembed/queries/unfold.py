"""Show every number of one head for a target, or set its weights by hand, for the web page."""

from collections.abc import Iterator, Mapping

import numpy as np

from ctxembed.context.columns import POSITION
from ctxembed.context.nearest import Axes, axis_cosines, nearest
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_attention, describe_skipped
from ctxembed.errors import UsageError
from ctxembed.explanation.explanation import Explanation, pick_head, trace_targets
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.compare import AXIS
from ctxembed.stats.vectors import Floats, cosine, unit
from ctxembed.table import Cell, Column, Row, Table

UNFOLD = (
    Column("step", "x, q, k, dot, scale, a term's name, score, weight, v, own or output", "label"),
    Column("token", "the word it is about", "label"),
    POSITION,
    Column("value", "the number, where it is one"),
    Column("vector", "the numbers, where there are several", "vector"),
)
REWEIGH = (
    Column("representation", "the attention, or `by hand`: the same with the given weights"),
    Column("cos_computed", "cosine with the vector of the weights that were computed"),
)
NEAREST = Column("nearest", "the nearest words by static vectors, the target left out", "text")


@on_model(*UNFOLD)
def unfold(
    model: Model,
    sentence: str,
    *,
    attention: str | None = None,
    general: str | None = None,
    head: str = "1",
    over: str | None = None,
    encoding: str = "none",
) -> Table:
    """List each step of one head for the first target; `over` is another sentence to attend to.

    Each number follows from those above it: dot = q·k, score = scale · dot + the terms, weight =
    softmax of score; the sum of weight · v over all heads, plus own, is the output.
    """
    chosen = choose_attention(Representations.of(model), attention, general)
    parsed = parse(model, sentence)
    other = parse(model, over) if over is not None else None
    item = next(trace_targets(chosen, parsed, over=other, encoding=encoding))
    rows = list(_steps(item, pick_head(head, item.heads)))
    return Table(UNFOLD, rows, describe_skipped([parsed, *([other] if other else [])]))


def _steps(item: Explanation, head: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the columns UNFOLD; numbers of vectors are rounded."""
    attended, layer, target = item.attended, item.attended.layer, item.target
    names = ["dot", "scale", *item.terms, "score"]
    queries = np.concatenate([look.q for look in attended.looks], axis=1)[0]  # (H or 1, dk)
    keys = unit(attended.keys[0]) if layer.unit else attended.keys[0]  # (T, d)
    k = keys if layer.w_k is None else keys @ layer.w_k[head]

    def vector(step: str, token: str, position: int | None, x: object) -> tuple[Cell, ...]:
        return step, token, position, None, np.asarray(x, np.float64).round(4).tolist()

    yield vector("x", target, None, attended.targets[0, 0])
    yield vector("q", target, None, queries[min(head, len(queries) - 1)])
    for i, (token, position) in enumerate(zip(item.tokens, item.positions, strict=True)):
        if not item.seen[head, i]:  # the word itself, left out of its own weights
            continue
        yield vector("k", token, position, k[i])
        for name, number in zip(names, item.steps(head, i), strict=True):
            yield name, token, position, number, None
        yield "weight", token, position, float(item.weights[head, i]), None
        yield vector("v", token, position, attended.values[0, head, i])
    yield vector("own", target, None, attended.own[0, 0])
    yield vector("output", target, None, attended.output[0, 0])


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
