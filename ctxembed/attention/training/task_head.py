"""The head of a task: it reads a label from a contextual vector, for each expression its own way.

For an occurrence with contextual vector z, static vector s and known expressions p_a:

    f     = [z/|z| ; s/|s| ; 1]                   what is read
    g_a   = max(0, s·p_a)^4,  g_0 = 1/2           which expressions it is like; 0 is any
    logit = sum over a of g_a W_a f               one row of W_a a label

A label such as `figurative` is read differently for each expression, so each has weights of its
own beside those that all share; an expression never seen is read by the shared ones and by those
of its likes.
"""

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.scores import softmax
from ctxembed.attention.training.objective import normalise, normalise_backward
from ctxembed.stats.vectors import Floats, unit

ALIKE = 0.8  # cosine from which two spans are forms of one expression
ANCHORS = 500  # expressions with weights of their own, at most
SHARED = 0.5  # how much the weights that all expressions share count
SHARP = 4  # so that only an expression's likes read with its weights


def find_expressions(own: Floats, most: int = ANCHORS) -> tuple[Floats, NDArray[np.intp]]:
    """Group spans that are forms of one expression: vectors (A, d), and each span's group (n,).

    A span joins the first expression that it is like, or founds one; -1 once there are too many.

    >>> find_expressions(np.array([[2.0, 0], [1, 0.1], [0, 1]]))[1]
    array([0, 0, 1])
    """
    units = unit(own)
    anchors = np.zeros((0, own.shape[1]), own.dtype)
    group = np.full(len(own), -1, np.intp)
    while len(anchors) < most and (group < 0).any():
        founder = units[np.flatnonzero(group < 0)[0]]
        group[(group < 0) & (units @ founder >= ALIKE)] = len(anchors)
        anchors = np.concatenate([anchors, founder[None]])
    sums = np.zeros_like(anchors)
    np.add.at(sums, group[group >= 0], units[group >= 0])
    return unit(sums), group


def gates(own: Floats, anchors: Floats) -> Floats:
    """Return (B, 1+A): how far each set of weights of the head reads each target.

    >>> gates(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[0.5, 1. , 0. ]])
    """
    alike = np.maximum(0, unit(own) @ anchors.T) ** SHARP
    return np.concatenate([np.full((len(own), 1), SHARED, own.dtype), alike], axis=1)


def read(task_head: Floats, output: Floats, own: Floats, gate: Floats) -> Floats:
    """Return logits (B, C) of contextual vectors; head is (1+A, C, 2d+1)."""
    weights = np.tensordot(gate, task_head, 1)  # (B, C, 2d+1)
    return np.asarray((weights @ _seen(unit(output), own)[:, :, None])[:, :, 0])


def _seen(units: Floats, own: Floats) -> Floats:
    return np.concatenate([units, unit(own), np.ones((len(own), 1), own.dtype)], axis=1)


def classify(
    task_head: Floats, output: Floats, own: Floats, gate: Floats, label: NDArray[np.intp]
) -> tuple[float, NDArray[np.intp], Floats, Floats]:
    """Return the cross-entropy, the labels given, and the gradients by head and output."""
    units, length = normalise(output)
    seen = _seen(units, own)  # (B, 2d+1)
    weights = np.tensordot(gate, task_head, 1)  # (B, C, 2d+1)
    p = softmax((weights @ seen[:, :, None])[:, :, 0])  # (B, C)
    rows = np.arange(len(label))
    loss = -float(np.log(np.maximum(p[rows, label], 1e-30)).mean())
    d_logits = p.copy()
    d_logits[rows, label] -= 1
    d_logits /= len(label)
    outer = (d_logits[:, :, None] * seen[:, None]).reshape(len(label), -1)  # (B, C(2d+1))
    d_task_head = (gate.T @ outer).reshape(task_head.shape)
    d_unit = (d_logits[:, None] @ weights[:, :, : output.shape[1]])[:, 0]  # (B, d)
    return loss, p.argmax(axis=1), d_task_head, normalise_backward(units, length, d_unit)
