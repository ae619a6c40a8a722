"""Dot product, scale and softmax that never overflow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

Mask = NDArray[np.bool_]
SAFE = 60.0  # exp of this and of its negative is far from the ends of float32


def dot(q: Floats, k: Floats, out: Floats | None = None) -> Floats:
    """Return q @ kᵀ, clipped to the largest number where it would overflow.

    >>> dot(np.array([[1e30]], np.float32), np.array([[1e30]], np.float32)) < np.inf
    array([[ True]])
    """
    largest = _largest(np.result_type(q, k))
    with np.errstate(over="ignore", invalid="ignore"):
        product: Floats = np.matmul(q, k.swapaxes(-1, -2), out=out)
    if _peak(product) < largest:  # False for infinity and NaN
        return product
    peak_q, peak_k = (max(_peak(x), 1.0) for x in (q, k))
    small = (q / peak_q).astype(np.float64) @ (k / peak_k).astype(np.float64).swapaxes(-1, -2)
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.nan_to_num(small * peak_q * peak_k, nan=0.0)
    product = np.asarray(np.clip(product, -largest, largest), np.result_type(q, k))
    if out is None:
        return product
    out[...] = product
    return out


def scale_scores(scores: Floats, scale: float) -> Floats:
    """Return scores multiplied in place, clipped to the largest number where they overflow."""
    if scale != 1:
        with np.errstate(over="ignore"):
            np.multiply(scores, scale, out=scores, dtype=scores.dtype)
    if abs(scale) > 1:
        largest = _largest(scores.dtype)
        if not _peak(scores) < largest:
            np.clip(scores, -largest, largest, out=scores)
    return scores


def _largest(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).max) / 4  # the difference of two is still a number


def _peak(x: Floats) -> float:
    """Return the largest magnitude."""
    return max(float(x.max(initial=0)), -float(x.min(initial=0)))


def softmax(scores: Floats, mask: Mask | None = None, out: Floats | None = None) -> Floats:
    """Return rows that sum to 1: w_i = exp(s_i) / Σ exp(s_j); 0 where the mask is False.

    >>> softmax(np.array([0.0, np.log(3.0)]))
    array([0.25, 0.75])
    """
    if _peak(scores) < SAFE:  # nothing can overflow; the largest of each row is costly to find
        weights = np.exp(scores, out=out)
        if mask is not None:
            weights *= mask
    else:
        masked = scores if mask is None else np.where(mask, scores, -np.inf)
        top = masked.max(axis=-1, keepdims=True)
        weights = np.exp(masked - np.where(np.isfinite(top), top, 0), out=out)
    # A product with ones is several times as fast as a sum over short rows.
    length = weights.shape[-1]
    total = weights.reshape(-1, length) @ np.ones((length, 1), weights.dtype)
    total = np.where(total > 0, total, 1).reshape(*weights.shape[:-1], 1)
    return np.asarray(np.divide(weights, total, out=weights))
