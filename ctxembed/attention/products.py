"""Products of N words with the matrices of all heads."""

import numpy as np

from ctxembed.stats.vectors import Floats


def mix(weights: Floats, keys: Floats) -> Floats:
    """Return Σ weight x_j (N, H, d), of weights (B, Tq, H, T) and words x_j (B, T, d)."""
    batch, _, heads, length = weights.shape
    return np.asarray(weights.reshape(batch, -1, length) @ keys).reshape(-1, heads, keys.shape[2])


def project(x: Floats, matrix: Floats | None) -> Floats:
    """Return x @ matrix; x itself where there is no matrix."""
    return x if matrix is None else np.asarray(x @ matrix.astype(x.dtype, copy=False))


def project_heads(x: Floats, matrices: Floats) -> Floats:
    """Return x (N, d) times each head's matrix (H, d, k) as (N, H, k), in one product."""
    heads, dim, size = matrices.shape
    flat = matrices.astype(x.dtype, copy=False).transpose(1, 0, 2).reshape(dim, heads * size)
    return np.asarray(x @ flat).reshape(len(x), heads, size)


def matmul_heads(x: Floats, matrices: Floats, *, transpose: bool = False) -> Floats:
    """Return each head's rows (N, H or 1, k) times its own matrix (H, k, m), or its transpose."""
    matrices = matrices.astype(x.dtype, copy=False)
    matrices = matrices.swapaxes(1, 2) if transpose else matrices
    product = np.empty((len(x), len(matrices), matrices.shape[2]), x.dtype)
    np.matmul(x.swapaxes(0, 1), matrices, out=product.swapaxes(0, 1))
    return product


def sum_heads(x: Floats, matrices: Floats) -> Floats:
    """Return (N, m): each head's rows (N, H or 1, k) times its matrix (H, k, m), summed."""
    heads, size, dim = matrices.shape
    x = np.broadcast_to(x, (len(x), heads, size)).reshape(len(x), -1)
    return np.asarray(x @ matrices.astype(x.dtype, copy=False).reshape(heads * size, dim))


def outer(x: Floats, y: Floats) -> Floats:
    """Return (H, k, m): xᵀ y for each head, of (N, H or 1, k) and (N, H or 1, m)."""
    return np.asarray(x.transpose(1, 2, 0) @ y.swapaxes(0, 1))
