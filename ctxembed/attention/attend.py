"""Attention. For a word i that asks and the words j it looks at, in each head:

    q = x_i W_Q + b_Q                k = x_j W_K                v = x_j W_V W_O
    score  = scale · q·k + what the terms add (distance, walls, the word itself)
    weight = softmax of the scores over j
    output = own · x_i + share · sum over heads and j of weight · v

A layer may look twice: what its first head finds, n_i = Σ weight x_j at length 1, stands beside the
word in what the others ask with, q = [x_i ; n_i] W_Q + b_Q.

The matrices are moved to the side of the word that asks, q·k = (q W_Kᵀ)·x_j and Σ weight v =
(Σ weight x_j) W_V W_O, so that no other word is multiplied by a matrix; only where every word asks
and heads are narrow is that dearer.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Gradients, Layer
from ctxembed.attention.products import by_heads, mix, outer, project, side_by_side, together
from ctxembed.attention.scores import dot, softmax, times
from ctxembed.attention.terms import Seen
from ctxembed.stats.vectors import Floats, unit

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Trace:
    """Every step from q·k to the weights, for anyone who wants to check it."""

    scores: Floats  # (B, H, Tq, T) q·k
    added: dict[str, Floats]  # (B, H, Tq, T) what each term adds
    scaled: Floats  # (B, H, Tq, T) scale · scores + all that is added; -inf where masked


@dataclass(frozen=True)
class Look:
    """Some heads that look at the same time."""

    layer: Layer  # of these heads
    asking: Floats  # (N, d or 2d) what W_Q meets; N = B Tq
    q: Floats  # (N, H or 1, dk)
    shares: Floats  # (B, Tq, H, T) the weights

    def backward(
        self, d_mixed: Floats, keys: Floats, seen: Seen
    ) -> tuple[Gradients, Floats | None]:
        """Return the gradients by what makes the weights, and by what asks (N, d or 2d).

        d_mixed: (N, H, d) the gradient by the words looked at (B, T, d), mixed.
        """
        layer, weights, made = self.layer, self.shares, {}
        batch, dim = len(keys), keys.shape[2]
        d_weights = (d_mixed.reshape(batch, -1, dim) @ keys.swapaxes(1, 2)).reshape(weights.shape)
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
        for term in layer.terms:
            made[term.name] = term.backward(d_scores, seen)
        if layer.w_q is None or layer.w_k is None:
            return made, None
        d_scores *= layer.scale
        d_sought = d_scores.reshape(batch, -1, d_scores.shape[3]) @ keys
        d_sought = d_sought.reshape(len(self.q), layer.heads, dim)
        made["w_k"] = outer(d_sought, self.q)
        d_q = by_heads(d_sought, layer.w_k)  # (N, H, dk)
        made["w_q"] = outer(self.asking[:, None], d_q)
        if layer.b_q is not None:
            made["b_q"] = d_q.sum(axis=0)
        return made, together(d_q, layer.w_q.swapaxes(1, 2))


@dataclass(frozen=True)
class Attended:
    """What a layer made of a batch of sentences, with the way back and the trace."""

    layer: Layer
    seen: Seen
    keys: Floats  # (B, T, d)
    look: Mask | None  # (B or 1, Tq or 1, 1, T) who may look at whom; None where all may
    asked: Floats  # (B, Tq, d) the words that ask
    looks: tuple[Look, ...]  # one, or two
    shares: Floats  # (B, Tq, H, T) the weights
    mixed: Floats | None  # (N, H, d) Σ weight x_j, where it was needed
    passed: Floats  # (N, H, dv) Σ weight x_j W_V
    own: Floats  # (B, Tq, d) what the word itself brings
    output: Floats  # (B, Tq, d)

    @property
    def weights(self) -> Floats:
        """(B, H, Tq, T) each row sums to 1; to 0 where there is nothing to look at."""
        return np.asarray(self.shares.swapaxes(1, 2))

    @cached_property
    def values(self) -> Floats:
        """(B, H, T, d) what each word passes on through each head."""
        layer = self.layer
        made: Floats = layer.share * project(project(self.keys[:, None], layer.w_v), layer.w_o)
        if layer.w_o is None:
            made = made / layer.heads  # heads are averaged, so that contributions add up
        spread: Floats = np.broadcast_to(made, (len(made), layer.heads, *made.shape[2:]))
        return spread

    def trace(self) -> Trace:
        """Take the steps again, and keep each."""
        keys = unit(self.keys) if self.layer.unit else self.keys
        places = self.asked.shape[1]
        products = [_scores(look.layer, look.q, keys, places, narrow=False) for look in self.looks]
        scores = np.array(np.broadcast_to(np.concatenate(products, axis=2), self.shares.shape))
        scaled = times(scores.copy(), self.layer.scale)
        added = {}
        for term in self.layer.terms:
            bias = term.bias(self.seen, scaled.dtype)
            if bias is not None:
                added[term.name] = np.broadcast_to(bias, scaled.shape).swapaxes(1, 2)
                scaled += bias
        if self.look is not None:
            scaled = np.where(self.look, scaled, -np.inf)
        return Trace(scores.swapaxes(1, 2), added, scaled.swapaxes(1, 2))

    def backward(self, d_output: Floats) -> Gradients:
        """Return the gradients by the parameters, from that by the output (B, Tq, d)."""
        layer, heads, dim = self.layer, self.layer.heads, self.keys.shape[2]
        number = len(self.passed)
        made: Gradients = {}
        there = 1.0 if self.look is None else self.look.any(axis=3)  # alone, a word stays whole
        made["own"] = np.array([(d_output * self.asked * there).sum()], d_output.dtype)
        d_made = (layer.share * d_output).reshape(number, 1, -1)  # of each head
        mixed = mix(self.shares, self.keys) if self.mixed is None else self.mixed
        if layer.w_o is None:
            d_made = d_made / heads
        else:
            made["w_o"] = outer(self.passed, d_made)
            d_made = by_heads(d_made, layer.w_o, back=True)
        if layer.w_v is not None:
            made["w_v"] = outer(mixed, d_made)
            d_made = by_heads(d_made, layer.w_v, back=True)
        d_mixed = np.broadcast_to(d_made, (number, heads, dim))
        if not layer.looks_twice:
            return made | self.looks[0].backward(d_mixed, self.keys, self.seen)[0]
        near, wide = self.looks
        later, d_asking = wide.backward(d_mixed[:, 1:], self.keys, self.seen)
        assert d_asking is not None
        n, d_n = wide.asking[:, dim:], d_asking[:, dim:]  # (N, d)
        length = np.sqrt((mixed[:, 0] ** 2).sum(axis=1, keepdims=True))
        d_found = (d_n - n * (n * d_n).sum(axis=1, keepdims=True)) / np.where(length > 0, length, 1)
        first, _ = near.backward(d_mixed[:, :1] + d_found[:, None], self.keys, self.seen)
        first["w_q"] = np.concatenate([first["w_q"], np.zeros_like(first["w_q"])], axis=1)
        return made | {name: np.concatenate([first[name], later[name]]) for name in first}


def attend(
    layer: Layer,
    x: Floats,
    ids: NDArray[Any] | None = None,
    *,
    queries: NDArray[np.intp] | None = None,
    mask: Mask | None = None,
    over: tuple[Floats, NDArray[Any] | None] | None = None,
) -> Attended:
    """Run a layer over sentences x (B, T, d) of words ids (B, T).

    queries: (B,) one place a sentence, where only that word's vector is wanted.
    mask: (B, T) False for padding. over: x and ids of another sentence to look at, cross-attention.

    >>> phone, fruit = [1.0, 0.0], [0.0, 1.0]
    >>> attended = attend(Layer(), np.array([[phone, fruit]]))
    >>> attended.trace().scores[0, 0]
    array([[1., 0.],
           [0., 1.]])
    >>> attended.weights[0, 0].round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    """
    keys, key_ids = over or (x, ids)  # (B, T, d)
    asked = x if queries is None else x[np.arange(len(x)), queries][:, None]  # (B, Tq, d)
    places, dim = asked.shape[1:]
    seen = Seen(key_ids, queries, x.shape[1], over is not None)
    look = _look(layer, seen, mask)
    size = layer.heads if layer.w_k is None else layer.heads * layer.w_k.shape[2]
    narrow = queries is None and layer.w_v is not None and size <= dim
    asking = asked.reshape(-1, dim)  # (N, d)
    mixed: Floats | None = None
    if layer.looks_twice:
        first, others = layer.some_heads(slice(1)), layer.some_heads(slice(1, None))
        assert first.w_q is not None
        near = _weigh(replace(first, w_q=first.w_q[:, :dim]), asking, keys, seen, look, places)
        found = mix(near.shares, keys)  # (N, 1, d)
        asking = np.concatenate([asking, unit(found[:, 0])], axis=1)  # (N, 2d)
        looks: tuple[Look, ...] = (near, _weigh(others, asking, keys, seen, look, places))
        shares = np.concatenate([one.shares for one in looks], axis=2)
        mixed = np.concatenate([found, mix(looks[1].shares, keys)], axis=1)
    else:
        looks = (_weigh(layer, asking, keys, seen, look, places, narrow),)
        shares = looks[0].shares

    if layer.w_v is None and layer.w_o is None:  # heads are averaged
        mixed = passed = (shares.mean(axis=2) @ keys).reshape(-1, 1, dim)
        made = passed[:, 0]
    else:
        mixed = mix(shares, keys) if mixed is None and not narrow else mixed
        passed = _pass_on(layer, shares, keys, mixed)  # (N, H, dv)
        made = passed.mean(axis=1) if layer.w_o is None else together(passed, layer.w_o)
    made = made.reshape(asked.shape)
    made = layer.share * made if layer.share != 1 else made
    own = _own(layer, asked, look)
    output = made if own is None else made + own
    own = np.broadcast_to(np.zeros((), x.dtype), asked.shape) if own is None else own
    return Attended(layer, seen, keys, look, asked, looks, shares, mixed, passed, own, output)


def _weigh(
    layer: Layer,
    asking: Floats,
    keys: Floats,
    seen: Seen,
    look: Mask | None,
    places: int,
    narrow: bool = False,
) -> Look:
    """Let words ask (N, d or 2d): score, scale, add the terms, softmax."""
    compared = unit(asking) if layer.unit else asking
    q = compared[:, None] if layer.w_q is None else side_by_side(compared, layer.w_q)
    if layer.b_q is not None:
        q = q + layer.b_q.astype(q.dtype, copy=False)
    scores = _scores(layer, q, unit(keys) if layer.unit else keys, places, narrow)
    scores = times(scores, layer.scale)  # (B, Tq, H or 1, T)
    if layer.terms and scores.shape[2] < layer.heads:
        scores = np.repeat(scores, layer.heads, axis=2)
    for term in layer.terms:
        bias = term.bias(seen, scores.dtype)
        if bias is not None:
            scores += bias
    weights = softmax(scores, look, out=scores)
    wide = (len(keys), places, layer.heads, keys.shape[1])
    return Look(layer, asking, q, np.broadcast_to(weights, wide))


def _scores(layer: Layer, q: Floats, keys: Floats, places: int, narrow: bool) -> Floats:
    """Return (B, Tq, H or 1, T): q·k, of q (N, H or 1, dk) and the words looked at (B, T, d)."""
    batch, length, dim = keys.shape
    if narrow and layer.w_k is not None:
        k = side_by_side(keys.reshape(-1, dim), layer.w_k).reshape(batch, length, layer.heads, -1)
        asks = q.reshape(batch, places, layer.heads, -1).swapaxes(1, 2)
        scores = np.empty((batch, places, layer.heads, length), keys.dtype)
        dot(asks, k.swapaxes(1, 2), out=scores.swapaxes(1, 2))
        return scores
    sought = q if layer.w_k is None else by_heads(q, layer.w_k, back=True)  # (N, H or 1, d)
    return dot(sought.reshape(batch, -1, dim), keys).reshape(batch, places, -1, length)


def _pass_on(layer: Layer, shares: Floats, keys: Floats, mixed: Floats | None) -> Floats:
    """Return (N, H, dv): the words through W_V, mixed; or what is mixed already, through W_V."""
    if mixed is not None:
        return mixed if layer.w_v is None else by_heads(mixed, layer.w_v)
    assert layer.w_v is not None
    batch, places, heads, length = shares.shape
    v = side_by_side(keys.reshape(-1, keys.shape[2]), layer.w_v).reshape(batch, length, heads, -1)
    passed = np.empty((batch, places, heads, v.shape[3]), keys.dtype)
    np.matmul(shares.swapaxes(1, 2), v.swapaxes(1, 2), out=passed.swapaxes(1, 2))
    return passed.reshape(batch * places, heads, -1)


def _look(layer: Layer, seen: Seen, mask: Mask | None) -> Mask | None:
    """Return (B or 1, Tq or 1, 1, T): who may look at whom; None where all may."""
    look = None if mask is None or seen.crossed else mask[:, None, None]
    if layer.skip_self and not seen.crossed:
        others = np.asarray(seen.distance != 0)[:, :, None]
        look = others if look is None else look & others
    return look


def _own(layer: Layer, asked: Floats, look: Mask | None) -> Floats | None:
    """Return (B, Tq, d): what the word itself brings; all of it where there is nothing else."""
    own: Floats | None = layer.own * asked if layer.own else None
    if look is not None:
        alone = ~np.any(look, axis=3)  # (B or 1, Tq or 1, 1)
        if alone.any():
            own = np.where(alone, asked, 0 if own is None else own)
    return own
