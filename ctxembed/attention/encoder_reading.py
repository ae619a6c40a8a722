"""What an encoder says of one target in each sentence, without what its gradients need.

The same numbers as `encoder.encode`, several times as fast: words of few sentences at once, so that
they stay in the processor's cache, the three projections as one product, and in the last block the
target alone asks.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.encoder import HIDE, Block, Encoder, distances, normalise
from ctxembed.stats.vectors import Floats

WORDS = 256  # read at once
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Reading:
    """The outputs of targets, and how much each saw of each word."""

    output: Floats  # (B, d)
    seen: Floats  # (B, T) as EncoderResult.rollout returns it; each row sums to 1


def read_targets(
    encoder: Encoder, x: Floats, targets: Ints, mask: Bools | None = None, *, hidden: bool = True
) -> Reading:
    """Return the output for one target in each sentence x (B, T, d); mask (B, T): words there."""
    step = max(1, WORDS // x.shape[1])
    parts = [slice(first, first + step) for first in range(0, len(x), step)]
    masks = [None if mask is None or mask[part].all() else mask[part] for part in parts]
    read = [
        _read(encoder, x[part], targets[part], own, hidden)
        for part, own in zip(parts, masks, strict=True)
    ]
    if not read:
        return Reading(np.zeros((0, x.shape[2]), x.dtype), np.zeros(x.shape[:2]))
    return Reading(*map(np.concatenate, zip(*read, strict=True)))


def _read(
    e: Encoder, x: Floats, targets: Ints, mask: Bools | None, hidden: bool
) -> tuple[Floats, Floats]:
    """Return outputs (B, d), and how much was seen of each word (B, T)."""
    rows, size = np.arange(len(x)), x.shape[1]
    y = (x * x.dtype.type(np.sqrt(x.shape[2]))) @ e.w_in  # (B, T, D)
    y += e.b_in
    y[rows, targets] = e.hidden if hidden else y[rows, targets] + e.shown
    looks = []
    for block in e.blocks:
        only = targets if block is e.blocks[-1] else None
        y, weights = _run_block(block, y, mask, only)
        looks.append(weights.mean(axis=1, dtype=np.float64))  # (B, T or 1, T)
    seen = np.zeros((len(x), 1, size))
    seen[rows, 0, targets] = 1
    seen = (seen + looks.pop()) / 2  # the target keeps half of itself in each block
    for look in reversed(looks):
        seen = (seen + seen @ look) / 2
    last, _ = normalise(y[:, 0], e.norm)
    return last @ e.w_out + e.b_out, seen[:, 0]


def _run_block(
    block: Block, x: Floats, mask: Bools | None, targets: Ints | None
) -> tuple[Floats, Floats]:
    """Return (B, T, D) the output of a block, and its weights (B, H, T, T).

    targets: (B,) the word of each sentence that goes on alone: (B, 1, D) and (B, H, 1, T).
    """
    (batch, size, width), heads = x.shape, len(block.position)
    y, _ = normalise(x, block.norm1)
    b_q, b_k, b_v, b_o = block.b
    k, v = (_heads(_linear(y, w, b), heads) for w, b in ((block.w_k, b_k), (block.w_v, b_v)))
    bias = block.position[:, distances(size, block.position.shape[1] // 2)]  # (H, T, T)
    if targets is not None:
        rows = np.arange(batch)
        x, y = x[rows, targets][:, None], y[rows, targets][:, None]
        bias = bias[:, targets].swapaxes(0, 1)[:, :, None]  # (B, H, 1, T)
    q = _heads(_linear(y, block.w_q, b_q), heads)
    q *= q.dtype.type((width // heads) ** -0.5)
    weights = q @ k.swapaxes(2, 3)
    weights += bias
    if mask is not None:
        weights += np.where(mask, 0, HIDE).astype(weights.dtype)[:, None, None]
    weights -= weights.max(axis=3, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=3, keepdims=True)
    mixed = (weights @ v).swapaxes(1, 2).reshape(x.shape)
    middle = _linear(mixed, block.w_o, b_o)
    middle += x
    z, _ = normalise(middle, block.norm2)
    inner = _linear(z, block.w_1, block.b_1)
    np.maximum(inner, 0, out=inner)
    middle += _linear(inner, block.w_2, block.b_2)
    return middle, weights


def _linear(x: Floats, w: Floats, bias: Floats) -> Floats:
    """Return (B, T, n): x w + bias, as one product."""
    y = x.reshape(-1, x.shape[-1]) @ w
    y += bias
    return y.reshape(*x.shape[:-1], -1)


def _heads(y: Floats, heads: int) -> Floats:
    """Return (B, H, T, D/H) of (B, T, D)."""
    return np.swapaxes(y.reshape(*y.shape[:2], heads, -1), 1, 2)
