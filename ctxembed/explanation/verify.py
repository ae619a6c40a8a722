"""Do the printed numbers add up? Each output is computed again from the rows of its explanation."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from ctxembed.attention.scores import softmax
from ctxembed.errors import CtxembedError
from ctxembed.explanation.explained_target import Explained
from ctxembed.stats.vectors import Floats
from ctxembed.table import Row


def check_rows(rows: Sequence[Row], item: Explained) -> None:
    """Recompute the output vector from the rows of all heads.

    score times scale and what the terms add must be the sum; weights must be the softmax of the
    sums and sum to 1; the values they mix and the word's own part must sum to the output, and the
    contributions to 1.
    """
    names = ["head", "token", "position", "score", "scale", *item.terms, "sum", "weight", "share"]
    there = {*item.positions}
    known = [row for row in rows if row[2] in there]
    own = sum(float(cast(float, row[-1])) for row in rows if row[0] == "own")

    def column(name: str, empty: float = 0.0) -> Floats:
        cells = (row[names.index(name)] for row in known)
        numbers = [empty if cell is None else cell for cell in cells]
        return np.array(numbers, np.float64).reshape(item.heads, -1)  # (H, T)

    total, weights = column("sum", -np.inf), column("weight")
    added = column("scale") * column("score") + sum(column(term) for term in item.terms)
    seen = np.isfinite(total)
    scales = np.where(seen, item.scale[:, None], 0)
    mixed = np.einsum("ht,htd->d", weights, item.attended.values[0]) + item.attended.own[0, 0]
    parts = column("share").sum() + own
    for what, found, expected in (
        ("the scale with that of the layer", column("scale"), scales),
        ("the sum with what is added", added[seen], total[seen]),
        ("the weights with the softmax of the sums", softmax(total), weights),
        ("the sum of the weights with 1", weights.sum(1), total.max(1) > -np.inf),
        ("the weighted sum with the output", mixed, item.attended.output[0, 0]),
        ("the sum of the contributions with 1", parts, 1.0),
    ):
        size = max(1.0, float(np.abs(expected).max(initial=0)))
        gap = float(np.abs(np.asarray(found, np.float64) - expected).max(initial=0)) / size
        if not gap < 1e-6:
            raise CtxembedError(f"check failed for {item.target!r}: {what} differs by {gap:.3g}")
