"""Show every number of one head for a target, for the web page."""

from collections.abc import Iterator

import numpy as np

from ctxembed.context.columns import POSITION
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_attention, describe_skipped
from ctxembed.explanation.explanation import Explanation, pick_head, trace_targets
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import unit
from ctxembed.table import Cell, Column, Table

UNFOLD = (
    Column("step", "x, q, k, dot, scale, a term's name, score, weight, v, own or output", "label"),
    Column("token", "the word it is about", "label"),
    POSITION,
    Column("value", "the number, where it is one"),
    Column("vector", "the numbers, where there are several", "vector"),
)


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


def sum_contributions(
    model: Model, sentence: str, *, attention: str | None = None, general: str | None = None,
    over: str | None = None, encoding: str = "none",
) -> dict[str, float]:  # fmt: skip
    """Return how much each head, by its number, contributes to the vector of the first target."""
    chosen = choose_attention(Representations.of(model), attention, general)
    other = parse(model, over) if over is not None else None
    item = next(trace_targets(chosen, parse(model, sentence), over=other, encoding=encoding))
    parts, _ = item.contributions  # (H, T)
    return {str(head): float(part) for head, part in enumerate(parts.sum(axis=1), 1)}
