"""One word, one head, every step: from q and k to the sum."""

from collections.abc import Iterator

import numpy as np

from ctxembed.context.columns import POSITION
from ctxembed.context.parse import parse
from ctxembed.context.representations import representations_of
from ctxembed.context.sentences import choose_attention, tell_skipped
from ctxembed.explanation.explained_target import Explained, explain_targets
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.explain import pick_head
from ctxembed.stats.vectors import Floats, unit
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
    """Take one head's look at the first target of a sentence apart; over: at another sentence.

    Each number can be had from those above it: dot = q·k, score = scale · dot + the terms, weight =
    softmax of score; the sum of weight · v over all heads, and own, is the output.
    """
    chosen = choose_attention(representations_of(model), attention, general)
    parsed = parse(model, sentence)
    other = parse(model, over) if over is not None else None
    item = next(explain_targets(chosen, parsed, over=other, encoding=encoding))
    rows = list(_steps(item, pick_head(head, item.heads)))
    return Table(UNFOLD, rows, tell_skipped([parsed, *([other] if other else [])]))


def _steps(item: Explained, head: int) -> Iterator[tuple[Cell, ...]]:
    made, layer, target = item.attended, item.attended.layer, item.target
    names = ["dot", "scale", *item.terms, "score"]
    queries = np.concatenate([look.q for look in made.looks], axis=1)[0]  # (H or 1, dk)
    keys = unit(made.keys[0]) if layer.unit else made.keys[0]  # (T, d)
    k = keys if layer.w_k is None else keys @ layer.w_k[head]
    yield "x", target, None, None, _round(made.asked[0, 0])
    yield "q", target, None, None, _round(queries[min(head, len(queries) - 1)])
    for place, token in enumerate(item.tokens):
        if not item.seen[head, place]:  # the word itself, left out of its own weights
            continue
        at = (token, item.positions[place])
        yield "k", *at, None, _round(k[place])
        for name, number in zip(names, item.steps(head, place), strict=True):
            yield name, *at, number, None
        yield "weight", *at, float(item.weights[head, place]), None
        yield "v", *at, None, _round(made.values[0, head, place])
    yield "own", target, None, None, _round(made.own[0, 0])
    yield "output", target, None, None, _round(made.output[0, 0])


def _round(vector: Floats) -> list[float]:
    return [round(float(number), 4) for number in vector]
