"""One attention layer. For a word i that asks and the words j it looks at, in each head:

    q = [x_i ; n_i] W_Q + b_Q        k = x_j W_K        v = x_j W_V W_O
    score  = scale · q·k + what the terms add (distance, walls, the word itself)
    weight = softmax of the scores over j
    output = own · x_i + share · sum over heads and j of weight · v

n_i is the neighbourhood of the word, where the layer has one. The matrices are moved to the side of
the word that asks, q·k = (q W_Kᵀ)·x_j and Σ weight v = (Σ weight x_j) W_V W_O, so that no other
word is multiplied by a matrix; only where every word asks and heads are narrow is that dearer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.neighbourhood import Neighbourhood
from ctxembed.attention.scores import dot, softmax, times
from ctxembed.attention.terms import Seen, Term
from ctxembed.static.space import Floats, unit

MATRICES = ("w_q", "w_k", "w_v", "w_o", "b_q")
Parameters = Mapping[str, Floats]
Gradients = dict[str, Floats]
Mask = NDArray[np.bool_]
T = TypeVar("T", bound=Term)


@dataclass(frozen=True)
class Layer:
    """All the numbers of a layer. Without matrices and terms it is the textbook's attention."""

    heads: int = 1
    w_q: Floats | None = None  # (H, d or 2d, dk)
    w_k: Floats | None = None  # (H, d, dk)
    w_v: Floats | None = None  # (H, d, dv)
    w_o: Floats | None = None  # (H, dv, d)
    b_q: Floats | None = None  # (H, dk) what every query looks for
    scale: float = 1.0  # what q·k is multiplied by
    unit: bool = False  # words are compared at length 1: without matrices, scores are cosines
    skip_self: bool = False  # a word is left out of its own weights
    own: float = 0.0  # how much of the word itself stays
    share: float = 1.0  # how much of the context comes in
    near: Neighbourhood | None = None  # a word asks together with what stands around it
    terms: tuple[Term, ...] = ()

    def parameters(self) -> Gradients:
        """Return all that can be learned, by name."""
        made = {name: getattr(self, name) for name in MATRICES}
        dtype = np.float32 if self.w_q is None else self.w_q.dtype
        made |= {"own": np.array([self.own], dtype)}
        made |= {term.name: term.by_head for term in self.terms}
        return {name: array for name, array in made.items() if array is not None}

    def updated(self, parameters: Parameters) -> "Layer":
        """Return the same layer with other parameters."""
        new: dict[str, Any] = dict(parameters)
        own = float(new.pop("own")[0]) if "own" in new else self.own
        terms = tuple(replace(t, by_head=new.pop(t.name, t.by_head)) for t in self.terms)
        return replace(self, own=own, terms=terms, **new)

    def term(self, kind: type[T]) -> T | None:
        """Return the term of a kind, if the layer has one."""
        return next((term for term in self.terms if isinstance(term, kind)), None)

    def only(self, rows: NDArray[Any]) -> "Layer":
        """Return the layer for a vocabulary of some words, in this order."""
        terms = (t if t.words is None else replace(t, words=t.words[rows]) for t in self.terms)
        near = None if self.near is None else self.near.only(rows)
        return replace(self, terms=tuple(terms), near=near)


@dataclass(frozen=True)
class Trace:
    """Every step from q·k to the weights, for anyone who wants to check it."""

    scores: Floats  # (B, H, Tq, T) q·k
    added: dict[str, Floats]  # (B, H, Tq, T) what each term adds
    scaled: Floats  # (B, H, Tq, T) scale · scores + all that is added; -inf where masked


@dataclass(frozen=True)
class Attended:
    """What a layer made of a batch of sentences, with the way back and the trace."""

    layer: Layer
    seen: Seen
    keys: Floats  # (B, T, d)
    look: Mask | None  # (B or 1, Tq or 1, 1, T) who may look at whom; None where all may
    asked: Floats  # (B, Tq, d) the words that ask
    asking: Floats  # (N, d or 2d) the same, with their neighbourhood; N = B Tq
    q: Floats  # (N, H or 1, dk)
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
        made: Floats = self.layer.share * _project(
            _project(self.keys[:, None], self.layer.w_v), self.layer.w_o
        )
        if self.layer.w_o is None:
            made = made / self.layer.heads  # heads are averaged, so that contributions add up
        wide = (len(made), self.layer.heads, *made.shape[2:])
        return np.array(np.broadcast_to(made, wide), copy=False)

    def contributions(self) -> Floats:
        """Return (B, Tq, T, d): what each context word adds to each output, without `own`."""
        return np.asarray(np.einsum("bqht,bhtd->bqtd", self.shares, self.values))

    def trace(self) -> Trace:
        """Take the steps again, and keep each."""
        scores = np.array(np.broadcast_to(self._products(), self.shares.shape))
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

    def _products(self) -> Floats:
        """Return (B, Tq, H or 1, T): q·k."""
        keys = unit(self.keys) if self.layer.unit else self.keys
        return _scores(self.layer, self.q, keys, self.asked.shape[1], narrow=False)

    def backward(self, d_output: Floats) -> Gradients:
        """Return the gradients by the parameters, from that by the output (B, Tq, d)."""
        layer, heads = self.layer, self.layer.heads
        batch, _, dim = self.asked.shape
        number = len(self.passed)
        made: Gradients = {}
        there = 1.0 if self.look is None else self.look.any(axis=3)  # alone, a word stays whole
        made["own"] = np.array([(d_output * self.asked * there).sum()], d_output.dtype)
        d_made = (layer.share * d_output).reshape(number, 1, -1)  # of each head
        if layer.w_o is None:
            d_made = d_made / heads
        else:
            made["w_o"] = _outer(self.passed, d_made)
            d_made = _by_heads(d_made, layer.w_o, back=True)
        if layer.w_v is not None:
            mixed = _mix(self.shares, self.keys) if self.mixed is None else self.mixed
            made["w_v"] = _outer(mixed, d_made)
            d_made = _by_heads(d_made, layer.w_v, back=True)
        d_mixed = np.broadcast_to(d_made, (number, heads, dim)).reshape(batch, -1, dim)
        d_weights = (d_mixed @ self.keys.swapaxes(1, 2)).reshape(self.shares.shape)
        weights = self.shares
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
        for term in layer.terms:
            made[term.name] = term.backward(d_scores, self.seen)
        if layer.w_q is None or layer.w_k is None:
            return made
        d_scores *= layer.scale
        d_sought = (d_scores.reshape(batch, -1, d_scores.shape[3]) @ self.keys).reshape(
            number, heads, dim
        )
        made["w_k"] = _outer(d_sought, self.q)
        d_q = _by_heads(d_sought, layer.w_k)  # (N, H, dk)
        made["w_q"] = _outer(self.asking[:, None], d_q)
        if layer.b_q is not None:
            made["b_q"] = d_q.sum(axis=0)
        return made


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
    batch, places, dim = asked.shape
    seen = Seen(key_ids, queries, x.shape[1], over is not None)
    asking = asked
    if layer.near is not None:
        mine = seen if over is None else Seen(ids, queries, x.shape[1])
        asking = np.concatenate([asked, layer.near.around(x, mine, mask)], axis=-1)
    asking = asking.reshape(batch * places, -1)  # (N, d or 2d)
    compared = unit(asking) if layer.unit else asking
    q = compared[:, None] if layer.w_q is None else _side_by_side(compared, layer.w_q)
    if layer.b_q is not None:
        q = q + layer.b_q.astype(x.dtype, copy=False)
    size = layer.heads if layer.w_k is None else layer.heads * layer.w_k.shape[2]
    narrow = queries is None and layer.w_v is not None and size <= dim

    scores = _scores(layer, q, unit(keys) if layer.unit else keys, places, narrow)
    scores = times(scores, layer.scale)  # (B, Tq, H or 1, T)
    if layer.terms and scores.shape[2] < layer.heads:
        scores = np.repeat(scores, layer.heads, axis=2)
    for term in layer.terms:
        term.add(scores, seen)
    look = _look(layer, seen, mask)
    weights = softmax(scores, look, out=scores)

    shares: Floats = np.broadcast_to(weights, (batch, places, layer.heads, keys.shape[1]))
    if layer.w_v is None and layer.w_o is None:  # heads are averaged
        mixed = passed = (weights.mean(axis=2) @ keys).reshape(-1, 1, dim)
        made = passed[:, 0]
    else:
        mixed = None if narrow else _mix(shares, keys)
        passed = _pass_on(layer, shares, keys, mixed)  # (N, H, dv)
        made = passed.mean(axis=1) if layer.w_o is None else _together(passed, layer.w_o)
    made = made.reshape(asked.shape)
    made = layer.share * made if layer.share != 1 else made
    own = _own(layer, asked, look)
    output = made if own is None else made + own
    own = np.broadcast_to(np.zeros((), x.dtype), asked.shape) if own is None else own
    return Attended(layer, seen, keys, look, asked, asking, q, shares, mixed, passed, own, output)


def _scores(layer: Layer, q: Floats, keys: Floats, places: int, narrow: bool) -> Floats:
    """Return (B, Tq, H or 1, T): q·k, of q (N, H or 1, dk) and the words looked at (B, T, d)."""
    batch, length, dim = keys.shape
    if narrow and layer.w_k is not None:
        k = _side_by_side(keys.reshape(-1, dim), layer.w_k).reshape(batch, length, layer.heads, -1)
        asks = q.reshape(batch, places, layer.heads, -1).swapaxes(1, 2)
        scores = np.empty((batch, places, layer.heads, length), keys.dtype)
        dot(asks, k.swapaxes(1, 2), out=scores.swapaxes(1, 2))
        return scores
    sought = q if layer.w_k is None else _by_heads(q, layer.w_k, back=True)  # (N, H or 1, d)
    return dot(sought.reshape(batch, -1, dim), keys).reshape(batch, places, -1, length)


def _mix(shares: Floats, keys: Floats) -> Floats:
    """Return (N, H, d): the words looked at (B, T, d), mixed by shares (B, Tq, H, T)."""
    batch, _, heads, length = shares.shape
    return np.asarray(shares.reshape(batch, -1, length) @ keys).reshape(-1, heads, keys.shape[2])


def _pass_on(layer: Layer, shares: Floats, keys: Floats, mixed: Floats | None) -> Floats:
    """Return (N, H, dv): the words through W_V, mixed; or what is mixed already, through W_V."""
    if mixed is not None:
        return mixed if layer.w_v is None else _by_heads(mixed, layer.w_v)
    assert layer.w_v is not None
    batch, places, heads, length = shares.shape
    v = _side_by_side(keys.reshape(-1, keys.shape[2]), layer.w_v).reshape(batch, length, heads, -1)
    passed = np.empty((batch, places, heads, v.shape[3]), keys.dtype)
    np.matmul(shares.swapaxes(1, 2), v.swapaxes(1, 2), out=passed.swapaxes(1, 2))
    return passed.reshape(batch * places, heads, -1)


def _project(x: Floats, matrix: Floats | None) -> Floats:
    return x if matrix is None else np.asarray(x @ matrix.astype(x.dtype, copy=False))


def _side_by_side(x: Floats, matrices: Floats) -> Floats:
    """Multiply (N, d) by each head's matrix (H, d, k) in one product, (N, H, k)."""
    heads, dim, size = matrices.shape
    flat = matrices.astype(x.dtype, copy=False).transpose(1, 0, 2).reshape(dim, heads * size)
    return np.asarray(x @ flat).reshape(len(x), heads, size)


def _by_heads(x: Floats, matrices: Floats, *, back: bool = False) -> Floats:
    """Multiply each head's rows (N, H or 1, k) by its matrix (H, k, m), or by its transpose."""
    matrices = matrices.astype(x.dtype, copy=False)
    matrices = matrices.swapaxes(1, 2) if back else matrices
    made = np.empty((len(x), len(matrices), matrices.shape[2]), x.dtype)
    np.matmul(x.swapaxes(0, 1), matrices, out=made.swapaxes(0, 1))
    return made


def _together(x: Floats, matrices: Floats) -> Floats:
    """Multiply each head's rows (N, H or 1, k) by its matrix (H, k, m) and add up, (N, m)."""
    heads, size, dim = matrices.shape
    x = np.broadcast_to(x, (len(x), heads, size)).reshape(len(x), -1)
    return np.asarray(x @ matrices.astype(x.dtype, copy=False).reshape(heads * size, dim))


def _outer(x: Floats, y: Floats) -> Floats:
    """Return (H, k, m): xᵀ y for each head, of (N, H or 1, k) and (N, H or 1, m)."""
    return np.asarray(x.transpose(1, 2, 0) @ y.swapaxes(0, 1))


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
