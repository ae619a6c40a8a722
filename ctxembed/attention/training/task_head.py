"""The head of a task: a label from a contextual vector, with weights for each expression.

For an occurrence with contextual vector z, static vector s and known expressions p_a:

    f     = [z/|z| ; s/|s| ; 1]                   features
    g_a   = max(0, s·p_a)^4,  g_0 = 1/2           gates: similarity to each expression; 0 is any
    logit = sum over a of g_a W_a f               one row of W_a a label

A label such as `figurative` depends on the expression, so each has weights of its own beside the
shared ones; for a new expression the shared weights and those of similar expressions are used.
"""

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.scores import softmax
from ctxembed.attention.training.objective import normalise, normalise_backward
from ctxembed.stats.vectors import Floats, unit

ALIKE = 0.8  # cosine from which two spans are forms of one expression
MAX_EXPRESSIONS = 500  # with weights of their own
SHARED = 0.5  # gate of the weights that all expressions share
SHARP = 4  # power of the gate, so that only similar expressions share weights


def find_expressions(own: Floats, limit: int = MAX_EXPRESSIONS) -> tuple[Floats, NDArray[np.intp]]:
    """Group spans that are forms of one expression: vectors (A, d), and each span's group (n,).

    A span joins the first expression similar to it, or begins a new one; -1 beyond the limit.

    >>> find_expressions(np.array([[2.0, 0], [1, 0.1], [0, 1]]))[1]
    array([0, 0, 1])
    """
    units, number = unit(own), 0
    group = np.full(len(own), -1, np.intp)
    while number < limit and (group < 0).any():
        first = units[np.flatnonzero(group < 0)[0]]
        group[(group < 0) & (units @ first >= ALIKE)] = number
        number += 1
    sums = np.zeros((number, own.shape[1]), own.dtype)
    np.add.at(sums, group[group >= 0], units[group >= 0])
    return unit(sums), group


def gates(own: Floats, anchors: Floats) -> Floats:
    """Return (B, 1+A): a constant, then how alike static vectors (B, d) and expressions (A, d) are.

    >>> gates(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[0.5, 1. , 0. ]])
    """
    alike = np.maximum(0, unit(own) @ anchors.T) ** SHARP
    return np.concatenate([np.full((len(own), 1), SHARED, own.dtype), alike], axis=1)


def logits(task_head: Floats, output: Floats, own: Floats, gate: Floats) -> Floats:
    """Return logits (B, C) of vectors `output` in context and `own` static; head (1+A, C, 2d+1)."""
    weights = np.tensordot(gate, task_head, 1)  # (B, C, 2d+1)
    return np.asarray((weights @ _features(unit(output), own)[:, :, None])[:, :, 0])


def _features(units: Floats, own: Floats) -> Floats:
    """Return (B, 2d+1): contextual vectors, static vectors, both of length 1, and a 1."""
    return np.concatenate([units, unit(own), np.ones((len(own), 1), own.dtype)], axis=1)


def classify(
    task_head: Floats, output: Floats, own: Floats, gate: Floats, label: NDArray[np.intp]
) -> tuple[float, NDArray[np.intp], Floats, Floats]:
    """Return the cross-entropy, the predicted labels, and the gradients by head and output."""
    units, length = normalise(output)
    f = _features(units, own)  # (B, 2d+1)
    weights = np.tensordot(gate, task_head, 1)  # (B, C, 2d+1)
    p = softmax((weights @ f[:, :, None])[:, :, 0])  # (B, C)
    rows = np.arange(len(label))
    loss = -float(np.log(np.maximum(p[rows, label], 1e-30)).mean())
    d_logits = p.copy()
    d_logits[rows, label] -= 1
    d_logits /= len(label)
    outer = (d_logits[:, :, None] * f[:, None]).reshape(len(label), -1)  # (B, C(2d+1))
    d_task_head = (gate.T @ outer).reshape(task_head.shape)
    d_unit = (d_logits[:, None] @ weights[:, :, : output.shape[1]])[:, 0]  # (B, d)
    return loss, p.argmax(axis=1), d_task_head, normalise_backward(units, length, d_unit)
