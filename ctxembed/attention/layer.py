"""One attention layer: general (no parameters) or with W_Q, W_K, W_V and W_O."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.scores import Trace, attend, weigh
from ctxembed.attention.sinusoids import decay, relative_bias
from ctxembed.attention.walls import between, neighbourhood
from ctxembed.static.space import Floats, unit

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
    b_q: Floats | None = None  # (H, dk) what every query looks for
    walls: Floats | None = None  # (H,) how much a wall between two words counts
    near: bool = False  # a word asks together with its neighbourhood: W_Q is (H, 2d, dk)


@dataclass(frozen=True)
class Side:
    """What is known about words beside their vectors: a row each, whatever the leading axes."""

    key_bias: Floats | None = None  # (...,) or (..., H) how much a word is looked at, whoever looks
    salience: Floats | None = None  # (...,) how much it says about the topic, a logarithm
    heights: Floats | None = None  # (...,) how high a wall it is

    def take(self, ids: NDArray[Any]) -> "Side":
        """Look words up."""
        parts = (self.key_bias, self.salience, self.heights)
        return Side(*(None if part is None else part[ids] for part in parts))


NOTHING = Side()


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


def random_layer(dim: int, heads: int, rng: "np.random.Generator") -> Layer:
    """Start a layer as training would, before it has learned anything: W ~ N(0, 1/d)."""
    size = max(1, dim // heads)
    into, out_of = (heads, dim, size), (heads, size, dim)
    deviations = (dim**-0.5, dim**-0.5, dim**-0.5, (heads * size) ** -0.5)
    w_q, w_k, w_v, w_o = (
        rng.normal(0, deviation, shape).astype(np.float32)
        for deviation, shape in zip(deviations, (into, into, into, out_of), strict=True)
    )
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
    side: Side | None = None,
    mask: NDArray[np.bool_] | None = None,
    over: Floats | None = None,
    over_side: Side | None = None,
    queries: NDArray[np.intp] | None = None,
) -> Encoded:
    """Run a layer over sentences x (B, T, d).

    side: (B, T) what is known about its words. mask: (B, T) False for padding.
    over: (B, Tk, d) another sentence for keys and values, cross-attention, with its own side.
    queries: (B,) one place a sentence, where only that word's vector is wanted.
    """
    keys = x if over is None else over  # (B, Tk, d)
    asked = _asked(x, queries)  # (B, Tq, d)
    walls = _walls(layer, side, queries)
    q = _project(_asking(layer, x, asked, side, walls, mask, queries)[:, None], layer.w_q)
    q = q if layer.b_q is None else q + layer.b_q[:, None].astype(x.dtype)
    k = _project(keys[:, None], layer.w_k)
    if layer.unit:
        q, k = unit(q), unit(k)  # (B, H or 1, T, dk)
    values = layer.share * _project(_project(keys[:, None], layer.w_v), layer.w_o)
    if layer.w_o is None:
        values = values / layer.heads  # heads are averaged, so that their contributions add up
    distance = None if over is not None else _distance(asked.shape[1], keys.shape[1], queries)
    look = _look(layer, distance, mask)
    bias = _bias(layer, distance, side, walls, x.dtype)
    if over is not None:  # two sentences have neither distance nor walls between them
        bias = _bias(layer, None, over_side, None, x.dtype)
    wide = np.zeros((1, layer.heads, 1, 1), x.dtype)  # every head has its own weights
    bias = wide if bias is None else bias + wide
    trace = attend(q, k, values, scale=layer.scale, bias=bias, mask=look)
    own = _own(layer, asked, look)
    own = np.zeros_like(asked) if own is None else own
    return Encoded(
        trace,
        own,
        values=np.broadcast_to(values, (len(x), layer.heads, *keys.shape[1:])),
        output=own + trace.output.sum(axis=1),
    )


def encode(
    layer: Layer,
    x: Floats,
    *,
    side: Side | None = None,
    mask: NDArray[np.bool_] | None = None,
    queries: NDArray[np.intp] | None = None,
) -> Floats:
    """Return the output of `run`, (B, Tq, d), without the trace and several times as fast."""
    asked = _asked(x, queries)  # (B, Tq, d)
    distance = _distance(asked.shape[1], x.shape[1], queries)
    look = _look(layer, distance, mask)
    walls = _walls(layer, side, queries)
    bias = _bias(layer, distance, side, walls, x.dtype)
    asking = _asking(layer, x, asked, side, walls, mask, queries)
    if queries is not None and (layer.w_k is None or not layer.unit):
        mixed = _mix_one(layer, asking[:, 0], x, bias, look)
    else:
        mixed = _mix_all(layer, asking, x, bias, look)
    if layer.share != 1:
        mixed *= layer.share
    own = _own(layer, asked, look)
    return mixed if own is None else np.add(mixed, own, out=mixed)


def _mix_all(
    layer: Layer, asking: Floats, x: Floats, bias: Floats | None, look: NDArray[np.bool_] | None
) -> Floats:
    """Mix for every word of a sentence."""
    q, k, v = _heads(asking, layer.w_q), _heads(x, layer.w_k), _heads(x, layer.w_v)
    if layer.b_q is not None:
        q = q + layer.b_q[:, None].astype(x.dtype, copy=False)
    if layer.unit:
        q, k = unit(q), unit(k)
    weights = weigh(q, k, scale=layer.scale, bias=bias, mask=look)  # (B, H or 1, Tq, T)
    if layer.w_v is None and layer.w_o is None:
        return np.asarray(weights.mean(axis=1) @ x)  # (B, Tq, d)
    batch, places, size = len(x), asking.shape[1], v.shape[-1]
    side_by_side = np.empty((batch, places, layer.heads, size), x.dtype)
    np.matmul(weights, v, out=side_by_side.swapaxes(1, 2))
    if layer.w_o is None:
        return np.asarray(side_by_side.mean(axis=2))
    w_o = layer.w_o.astype(x.dtype, copy=False).reshape(layer.heads * size, -1)
    made: Floats = side_by_side.reshape(batch * places, -1) @ w_o
    return made.reshape(batch, places, -1)


def _mix_one(
    layer: Layer, asking: Floats, x: Floats, bias: Floats | None, look: NDArray[np.bool_] | None
) -> Floats:
    """Mix for one word a sentence; the matrices move to its side, no other word meets them.

    (x_i W_Q)(x_j W_K)ᵀ = (x_i W_Q W_Kᵀ) x_jᵀ, and Σ w_j (x_j W_V) = (Σ w_j x_j) W_V.
    """
    q = _project(asking[None], layer.w_q)  # (H or 1, B, d)
    if layer.b_q is not None:
        q = q + layer.b_q[:, None].astype(x.dtype, copy=False)
    q = _project(q, None if layer.w_k is None else layer.w_k.swapaxes(1, 2))
    if layer.unit:
        q = unit(q)
    keys = unit(x) if layer.unit else x
    weights = weigh(
        q.swapaxes(0, 1),  # (B, H or 1, d): the heads are the rows
        keys,
        scale=layer.scale,
        bias=None if bias is None else bias[:, :, 0],
        mask=None if look is None else look[:, :, 0],
    )  # (B, H or 1, T)
    if layer.w_v is None and layer.w_o is None:
        return np.asarray(weights.mean(axis=1, keepdims=True) @ x)
    mixed = np.broadcast_to((weights @ x).swapaxes(0, 1), (layer.heads, len(x), x.shape[2]))
    mixed = _project(_project(mixed, layer.w_v), layer.w_o)  # (H, B, d)
    return np.asarray(mixed.mean(axis=0) if layer.w_o is None else mixed.sum(axis=0))[:, None]


def _asked(x: Floats, queries: NDArray[np.intp] | None) -> Floats:
    return x if queries is None else x[np.arange(len(x)), queries][:, None]


def _walls(layer: Layer, side: Side | None, queries: NDArray[np.intp] | None) -> Floats | None:
    """Return (B, Tq, T): the heights between each two words, where the layer asks for them."""
    if (layer.walls is None and not layer.near) or side is None or side.heights is None:
        return None
    return between(side.heights, queries)


def _asking(
    layer: Layer,
    x: Floats,
    asked: Floats,
    side: Side | None,
    walls: Floats | None,
    mask: NDArray[np.bool_] | None,
    queries: NDArray[np.intp] | None,
) -> Floats:
    """Return what W_Q meets: the word, and beside it its neighbourhood if the layer wants it."""
    if not layer.near or side is None or side.salience is None or walls is None:
        return asked
    around = neighbourhood(x, side.salience.astype(x.dtype), walls, queries, mask)
    return np.concatenate([asked, around], axis=-1)  # (B, Tq, 2d)


def query_inputs(layer: Layer, x: Floats, side: Side | None) -> Floats:
    """Return (B, T, d or 2d): what W_Q meets for every word."""
    return _asking(layer, x, x, side, _walls(layer, side, None), None, None)


def _project(x: Floats, matrix: Floats | None) -> Floats:
    return x if matrix is None else np.asarray(x @ matrix.astype(x.dtype, copy=False))


def _heads(x: Floats, matrix: Floats | None) -> Floats:
    """Project (B, T, d) by (H, d, dk) in one product; returns a view (B, H, T, dk)."""
    if matrix is None:
        return x[:, None]
    heads, dim, size = matrix.shape
    flat = matrix.astype(x.dtype, copy=False).transpose(1, 0, 2).reshape(dim, heads * size)
    made: Floats = np.matmul(x.reshape(-1, dim), flat)
    return np.swapaxes(made.reshape(*x.shape[:2], heads, size), 1, 2)


def _look(
    layer: Layer, distance: NDArray[np.intp] | None, mask: NDArray[np.bool_] | None
) -> NDArray[np.bool_] | None:
    """Return (B or 1, 1, Tq or 1, Tk): who may look at whom; None where all may."""
    look = None if mask is None else mask[:, None, None]
    if layer.skip_self and distance is not None:
        others = (distance != 0)[:, None]
        look = others if look is None else look & others
    return look


def _own(layer: Layer, asked: Floats, look: NDArray[np.bool_] | None) -> Floats | None:
    """Return (B, Tq, d): what the word itself brings; all of it where there is nothing else."""
    alone = None if look is None else ~np.any(look, axis=3)[:, 0, :, None]  # (B or 1, Tq or 1, 1)
    if alone is not None and alone.any():
        return np.where(alone, asked, layer.own * asked)
    return layer.own * asked if layer.own else None


def _distance(asked: int, keys: int, queries: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Return (B or 1, Tq, Tk): how far to the right of the query each key stands."""
    places = np.arange(asked)[None, :] if queries is None else queries[:, None]
    return np.arange(keys)[None, None, :] - places[:, :, None]


def _bias(
    layer: Layer,
    distance: NDArray[np.intp] | None,
    side: Side | None,
    walls: Floats | None,
    dtype: np.dtype[Any],
) -> Floats | None:
    """Add up what distance, walls and the word itself say, (B or 1, H or 1, Tq or 1, Tk)."""
    bias: Floats | None = None
    if layer.positions is not None and distance is not None:
        bias = relative_bias(layer.positions.astype(dtype), distance)
    if layer.walls is not None and walls is not None:
        through = -layer.walls[:, None, None].astype(dtype) * walls[:, None].astype(dtype)
        bias = through if bias is None else bias + through
    if side is not None and side.key_bias is not None:
        by_word = side.key_bias.astype(dtype)  # (B, T) or (B, T, H)
        by_word = by_word[..., None] if by_word.ndim == 2 else by_word
        by_word = by_word.swapaxes(1, 2)[:, :, None, :]  # (B, H or 1, 1, T)
        bias = by_word if bias is None else bias + by_word
    return bias
