"""Dot product, scale, softmax, weighted sum, and the trace of all four."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]  # float32 for speed, float64 where numbers are checked


@dataclass(frozen=True)
class Trace:
    """Every step of one attention, for anyone who wants to check it."""

    scores: Floats  # (..., Tq, Tk) q·k
    scaled: Floats  # (..., Tq, Tk) scores * scale + bias; -inf where masked
    weights: Floats  # (..., Tq, Tk) each row sums to 1; to 0 where all is masked
    output: Floats  # (..., Tq, d) weighted sums of v


def attend(
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    scale: float | None = None,
    bias: Floats | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> Trace:
    """Mix the rows of v by how well each q matches each k; leading axes are heads.

    `bias` is added to the scaled scores; where `mask` is False nothing is looked at.

    >>> phone, fruit = [1.0, 0.0], [0.0, 1.0]
    >>> x = np.array([phone, fruit])
    >>> attend(x, x, x, scale=1.0).scores
    array([[1., 0.],
           [0., 1.]])
    >>> attend(x, x, x, scale=1.0).weights.round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    """
    scores = dot(q, k)
    scaled = scores * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if bias is not None:
        scaled = scaled + bias
    if mask is not None:
        scaled = np.where(mask, scaled, -np.inf)
    weights = softmax(scaled)
    return Trace(scores, scaled, weights, output=weights @ v)


def dot(q: Floats, k: Floats) -> Floats:
    """Return q @ k transposed, held at the largest number where it would overflow.

    >>> dot(np.array([[1e30]], np.float32), np.array([[1e30]], np.float32)) < np.inf
    array([[ True]])
    """
    dtype = np.result_type(q, k)
    largest = float(np.finfo(dtype).max) / 4
    peak_q, peak_k = (max(float(np.abs(x).max(initial=0)), 1.0) for x in (q, k))
    if peak_q * peak_k * q.shape[-1] < largest:
        return np.asarray(q @ k.swapaxes(-1, -2))
    small = (q / peak_q).astype(np.float64) @ (k / peak_k).astype(np.float64).swapaxes(-1, -2)
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.nan_to_num(small * peak_q * peak_k, nan=0.0)
    return np.asarray(np.clip(product, -largest, largest), dtype)


def softmax(scores: Floats) -> Floats:
    """Turn each row into shares that sum to 1: w_i = exp(s_i) / Σ exp(s_j).

    >>> softmax(np.array([0.0, np.log(3.0)]))
    array([0.25, 0.75])
    """
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))  # (..., T) no overflow
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1))
