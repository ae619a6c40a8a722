"""Dot product, scale, softmax, weighted sum, and the trace of all four."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.static.space import Floats


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
    scaled = _times(scores, 1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if bias is not None:
        scaled = scaled + bias
    if mask is not None:
        scaled = np.where(mask, scaled, -np.inf)
    weights = softmax(scaled)
    return Trace(scores, scaled, weights, output=weights @ v)


def weigh(
    q: Floats,
    k: Floats,
    *,
    scale: float,
    bias: Floats | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return the weights of `attend` without its trace: each step overwrites the one before."""
    weights = _times(dot(q, k), scale, in_place=True)  # (..., Tq, Tk)
    if bias is not None:
        wide = np.broadcast_shapes(bias.shape, weights.shape) != weights.shape
        weights = np.add(weights, bias, out=None if wide else weights)
    if mask is not None:
        mask = np.broadcast_to(mask, weights.shape)
    return softmax(weights, mask, out=weights)


def dot(q: Floats, k: Floats) -> Floats:
    """Return q @ k transposed, held at the largest number where it would overflow.

    >>> dot(np.array([[1e30]], np.float32), np.array([[1e30]], np.float32)) < np.inf
    array([[ True]])
    """
    largest = _largest(np.result_type(q, k))
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.asarray(q @ k.swapaxes(-1, -2))
    if _peak(product) < largest:  # not so for infinity, nor for what is not a number
        return product
    peak_q, peak_k = (max(_peak(x), 1.0) for x in (q, k))
    small = (q / peak_q).astype(np.float64) @ (k / peak_k).astype(np.float64).swapaxes(-1, -2)
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.nan_to_num(small * peak_q * peak_k, nan=0.0)
    return np.asarray(np.clip(product, -largest, largest), np.result_type(q, k))


def _times(scores: Floats, scale: float, in_place: bool = False) -> Floats:
    """Scale scores, held at the largest number where they would overflow."""
    with np.errstate(over="ignore"):
        scaled = np.multiply(scores, scale, out=scores if in_place else None, dtype=scores.dtype)
    if abs(scale) > 1:
        largest = _largest(scores.dtype)
        if not _peak(scaled) < largest:
            np.clip(scaled, -largest, largest, out=scaled)
    return scaled


def _largest(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).max) / 4  # the difference of two is still a number


def _peak(x: Floats) -> float:
    """Return the largest magnitude."""
    return max(float(x.max(initial=0)), -float(x.min(initial=0)))


SAFE = 60.0  # exp of this and of its negative is far from the ends of float32


def softmax(
    scores: Floats, mask: NDArray[np.bool_] | None = None, out: Floats | None = None
) -> Floats:
    """Turn each row into shares that sum to 1: w_i = exp(s_i) / Σ exp(s_j).

    >>> softmax(np.array([0.0, np.log(3.0)]))
    array([0.25, 0.75])
    """
    if _peak(scores) < SAFE:  # nothing can overflow; the largest of each row is costly to find
        weights = np.exp(scores, out=out)
        if mask is not None:
            weights *= mask
    else:
        seen = scores if mask is None else np.where(mask, scores, -np.inf)
        top = seen.max(axis=-1, keepdims=True)
        weights = np.exp(seen - np.where(np.isfinite(top), top, 0), out=out)
    # A product with ones is several times as fast as a sum over short rows.
    total = weights @ np.ones((weights.shape[-1], 1), weights.dtype)  # (..., 1)
    return np.divide(weights, np.where(total > 0, total, 1), out=weights)
