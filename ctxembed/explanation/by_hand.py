"""Set some weights of an attention by hand, and see what the output becomes."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ctxembed.errors import UsageError
from ctxembed.explanation.explanation import Explanation, pick_head
from ctxembed.stats.vectors import Floats


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


def weigh_by_hand(
    item: Explanation, weights: Mapping[int, float], head: str = "mean"
) -> Explanation:
    """Return an explanation with some weights set, by position, in all heads or in one.

    Its output and contributions follow from the weights; its scores stay those that were computed.
    """
    if unknown := [position for position in weights if position not in item.positions]:
        raise UsageError(f"a weight for word {unknown[0]}: no known word stands there")
    values = {item.positions.index(position): weight for position, weight in weights.items()}
    changed = item.weights.copy()  # (H, T)
    for row in range(len(changed)) if head == "mean" else [pick_head(head, len(changed))]:
        changed[row] = set_weights(item.weights[row], values)
    attended = item.attended
    mixed = np.einsum("ht,htd->d", changed, attended.values[0].astype(np.float64))
    output = (attended.own[0, 0] + mixed).astype(np.float32)[None, None]
    new = replace(attended, head_weights=changed[None, None], output=output)
    return replace(item, attended=new)
