"""Products of words with the matrices of each head, N words at once."""

import numpy as np

from ctxembed.stats.vectors import Floats


def mix(shares: Floats, keys: Floats) -> Floats:
    """Return (N, H, d): the words looked at (B, T, d), mixed by shares (B, Tq, H, T)."""
    batch, _, heads, length = shares.shape
    return np.asarray(shares.reshape(batch, -1, length) @ keys).reshape(-1, heads, keys.shape[2])


def project(x: Floats, matrix: Floats | None) -> Floats:
    return x if matrix is None else np.asarray(x @ matrix.astype(x.dtype, copy=False))


def side_by_side(x: Floats, matrices: Floats) -> Floats:
    """Multiply (N, d) by each head's matrix (H, d, k) in one product, (N, H, k)."""
    heads, dim, size = matrices.shape
    flat = matrices.astype(x.dtype, copy=False).transpose(1, 0, 2).reshape(dim, heads * size)
    return np.asarray(x @ flat).reshape(len(x), heads, size)


def by_heads(x: Floats, matrices: Floats, *, back: bool = False) -> Floats:
    """Multiply each head's rows (N, H or 1, k) by its matrix (H, k, m), or by its transpose."""
    matrices = matrices.astype(x.dtype, copy=False)
    matrices = matrices.swapaxes(1, 2) if back else matrices
    made = np.empty((len(x), len(matrices), matrices.shape[2]), x.dtype)
    np.matmul(x.swapaxes(0, 1), matrices, out=made.swapaxes(0, 1))
    return made


def together(x: Floats, matrices: Floats) -> Floats:
    """Multiply each head's rows (N, H or 1, k) by its matrix (H, k, m) and add up, (N, m)."""
    heads, size, dim = matrices.shape
    x = np.broadcast_to(x, (len(x), heads, size)).reshape(len(x), -1)
    return np.asarray(x @ matrices.astype(x.dtype, copy=False).reshape(heads * size, dim))


def outer(x: Floats, y: Floats) -> Floats:
    """Return (H, k, m): xᵀ y for each head, of (N, H or 1, k) and (N, H or 1, m)."""
    return np.asarray(x.transpose(1, 2, 0) @ y.swapaxes(0, 1))
