"""One attention layer: general (no parameters) or with W_Q, W_K, W_V and W_O."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.positions import decay, relative_bias
from ctxembed.attention.scores import Floats, Trace, attend

SLOPES = (0.0, 0.05, 0.2, 0.5)  # a head that sees the whole sentence, to one that sees the clause
REACH = 32  # words; farther ones count as this far
GENERAL = ("textbook", "scaled", "cosine")


@dataclass(frozen=True)
class Layer:
    """All the numbers of a layer. Without matrices it is general attention.

    The output of word i is  own * x_i + share * Σ_h Σ_j w_hij * x_j W_V^h W_O^h,
    so each word's contribution is a vector, and the contributions sum to the output.
    """

    heads: int = 1
    w_q: Floats | None = None  # (H, d, dk)
    w_k: Floats | None = None  # (H, d, dk)
    w_v: Floats | None = None  # (H, d, dv)
    w_o: Floats | None = None  # (H, dv, d)
    scale: float = 1.0  # what q·k is multiplied by
    unit: bool = False  # q and k have length 1: scores are cosines
    skip_self: bool = False  # a word is left out of its own weights
    own: float = 0.0  # how much of the word itself stays
    share: float = 1.0  # how much of the context comes in
    positions: Floats | None = None  # (H, 2R+1) bias by distance


@dataclass(frozen=True)
class Encoded:
    """What a layer made of a batch of sentences."""

    trace: Trace  # (B, H, Tq, T)
    own: Floats  # (B, Tq, d) what the word itself brings
    values: Floats  # (B, H, T, d) what each word passes on through each head
    output: Floats  # (B, Tq, d)

    def contributions(self) -> Floats:
        """Return (B, Tq, T, d): what each context word adds to each output, without `own`."""
        return np.asarray(np.einsum("bhqt,bhtd->bqtd", self.trace.weights, self.values))


def general(kind: str, dim: int, heads: int = 4) -> Layer:
    """Make a layer without parameters: the textbook's, the scaled one, or the one that works."""
    if kind == "textbook":
        return Layer()
    if kind == "scaled":
        return Layer(scale=1 / float(np.sqrt(dim)))
    slopes = SLOPES[:heads] if heads <= len(SLOPES) else tuple(np.linspace(0, 0.5, heads))
    return Layer(
        heads=heads,
        scale=6.0,
        unit=True,
        skip_self=True,
        own=0.3,
        share=0.7,
        positions=decay(slopes, REACH),
    )


def random_layer(dim: int, heads: int, rng: np.random.Generator) -> Layer:
    """Start a layer as training would, before it has learned anything: W ~ N(0, 1/d)."""
    size = max(1, dim // heads)
    w_q, w_k, w_v = (rng.normal(0, dim**-0.5, (heads, dim, size)) for _ in range(3))
    w_o = rng.normal(0, (heads * size) ** -0.5, (heads, size, dim))
    return Layer(heads, w_q, w_k, w_v, w_o, scale=1 / float(np.sqrt(size)))


def damping(frequency: Floats, half: float = 1e-3) -> Floats:
    """Return a key bias that makes frequent words count less: log(a / (a + p)).

    >>> damping(np.array([0.0, 1e-3])).round(3)  # a word with p = a counts half
    array([ 0.   , -0.693])
    """
    return np.asarray(np.log(half / (half + frequency)))


def run(
    layer: Layer,
    x: Floats,
    *,
    key_bias: Floats | None = None,
    mask: NDArray[np.bool_] | None = None,
    over: Floats | None = None,
    queries: NDArray[np.intp] | None = None,
) -> Encoded:
    """Run a layer over sentences x (B, T, d).

    key_bias: (B, T) how much each word is looked at, whoever looks. mask: (B, T) False: padding.
    over: (B, Tk, d) another sentence for keys and values: cross-attention.
    queries: (B,) one place a sentence, where only that word's vector is wanted.
    """
    keys = x if over is None else over  # (B, Tk, d)
    asked = x if queries is None else x[np.arange(len(x)), queries][:, None]  # (B, Tq, d)
    q, k = _project(asked[:, None], layer.w_q), _project(keys[:, None], layer.w_k)
    if layer.unit:
        q, k = _unit(q), _unit(k)  # (B, H or 1, T, dk)
    values = layer.share * _project(_project(keys[:, None], layer.w_v), layer.w_o)
    if layer.w_o is None:
        values = values / layer.heads  # heads are averaged, so that their contributions add up
    shape = (len(x), layer.heads, asked.shape[1], keys.shape[1])
    look = np.ones(shape, bool) if mask is None else np.broadcast_to(mask[:, None, None], shape)
    distance = None  # two sentences have no distance between them
    if over is None:
        distance = _distance(asked.shape[1], keys.shape[1], queries)  # (B or 1, Tq, Tk)
        if layer.skip_self:
            look = look & (distance != 0)[:, None]
    trace = attend(
        q, k, values, scale=layer.scale, bias=_bias(layer, distance, key_bias, x.dtype), mask=look
    )
    alone = ~np.any(look, axis=(1, 3), keepdims=True)[
        :, 0
    ]  # (B, Tq, 1) nothing to look at: the word stays
    own = np.where(alone, asked, layer.own * asked)
    return Encoded(
        trace,
        own,
        values=np.broadcast_to(values, (len(x), layer.heads, *keys.shape[1:])),
        output=own + trace.output.sum(axis=1),
    )


def _project(x: Floats, matrix: Floats | None) -> Floats:
    return x if matrix is None else np.asarray(x @ matrix)


def _unit(x: Floats) -> Floats:
    norms = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    return np.asarray(x / np.where(norms > 0, norms, 1))


def _distance(asked: int, keys: int, queries: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Return (B or 1, Tq, Tk): how far to the right of the query each key stands."""
    places = np.arange(asked)[None, :] if queries is None else queries[:, None]
    return np.arange(keys)[None, None, :] - places[:, :, None]


def _bias(
    layer: Layer, distance: NDArray[np.intp] | None, key_bias: Floats | None, dtype: np.dtype[Any]
) -> Floats | None:
    """Add up what the distance and the word itself say, (B or 1, H or 1, Tq or 1, Tk)."""
    bias: Floats | None = None
    if layer.positions is not None and distance is not None:
        bias = relative_bias(layer.positions.astype(dtype), distance)
    if key_bias is not None:
        by_word = key_bias[:, None, None, :].astype(dtype)
        bias = by_word if bias is None else bias + by_word
    return bias
