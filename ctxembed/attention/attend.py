"""Attention, forward and backward. For a word x_i and the words x_j it looks at, in each head:

    q = x_i W_Q + b_Q                k = x_j W_K                v = x_j W_V W_O
    score  = scale · q·k + the terms (distance, walls, word bias)
    weight = softmax of the scores over j
    output = own · x_i + share · sum over heads and j of weight · v

In a layer that looks twice the first head runs alone, and its result n_i = Σ weight x_j, at length
1, is part of the other heads' queries: q = [x_i ; n_i] W_Q + b_Q.

Products are ordered so that no x_j is multiplied by a matrix: q·k = (q W_Kᵀ)·x_j and Σ weight v =
(Σ weight x_j) W_V W_O. Projecting x_j is faster only where all words are queries of narrow heads.

Shapes: B sentences of T words, Tq of them queries, N = B Tq; H heads, d dimensions.
"""

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Gradients, Layer
from ctxembed.attention.products import matmul_heads, mix, outer, project, project_heads, sum_heads
from ctxembed.attention.scores import Mask, dot, scale_scores, softmax
from ctxembed.attention.terms import TokenPairs
from ctxembed.stats.threads import one_thread
from ctxembed.stats.vectors import Floats, unit


@dataclass(frozen=True)
class Trace:
    """Every step from q·k to the scores that softmax turns into weights."""

    scores: Floats  # (B, H, Tq, T) q·k
    added: dict[str, Floats]  # (B, H, Tq, T) what each term adds
    scaled: Floats  # (B, H, Tq, T) scale · scores + all that is added; -inf where masked


@dataclass(frozen=True)
class Look:
    """Queries and weights of the heads that run together."""

    layer: Layer  # of these heads
    query_input: Floats  # (N, d or 2d) what W_Q multiplies
    q: Floats  # (N, H or 1, dk)
    weights: Floats  # (B, Tq, H, T)

    def backward(
        self, d_mixed: Floats, keys: Floats, pairs: TokenPairs
    ) -> tuple[Gradients, Floats | None]:
        """Return gradients by parameters and query_input, from that by Σ weight x_j (N, H, d)."""
        layer, weights, (batch, _, dim) = self.layer, self.weights, keys.shape
        d_weights = (d_mixed.reshape(batch, -1, dim) @ keys.swapaxes(1, 2)).reshape(weights.shape)
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
        gradients = {term.name: term.backward(d_scores, pairs) for term in layer.terms}
        if layer.w_q is None or layer.w_k is None:
            return gradients, None
        d_scores *= layer.scale
        d_u = d_scores.reshape(batch, -1, d_scores.shape[3]) @ keys  # u = q W_Kᵀ
        d_u = d_u.reshape(len(self.q), layer.heads, dim)
        gradients["w_k"] = outer(d_u, self.q)
        d_q = matmul_heads(d_u, layer.w_k)  # (N, H, dk)
        gradients["w_q"] = outer(self.query_input[:, None], d_q)
        if layer.b_q is not None:
            gradients["b_q"] = d_q.sum(axis=0)
        return gradients, sum_heads(d_q, layer.w_q.swapaxes(1, 2))


@dataclass(frozen=True)
class AttentionResult:
    """The output of a layer for a batch of sentences, and what its gradients and trace need."""

    layer: Layer
    pairs: TokenPairs
    keys: Floats  # (B, T, d) x_j
    mask: Mask | None  # (B or 1, Tq or 1, 1, T) True where i may look at j; None for everywhere
    targets: Floats  # (B, Tq, d) x_i
    looks: tuple[Look, ...]  # one, or two
    head_weights: Floats  # (B, Tq, H, T)
    mixed: Floats | None  # (N, H, d) Σ weight x_j, where it was needed
    head_outputs: Floats  # (N, H, dv) Σ weight x_j W_V
    own: Floats  # (B, Tq, d) own · x_i
    output: Floats  # (B, Tq, d)

    @property
    def weights(self) -> Floats:
        """(B, H, Tq, T) each row sums to 1; to 0 where there is nothing to look at."""
        return np.asarray(self.head_weights.swapaxes(1, 2))

    @cached_property
    def values(self) -> Floats:
        """(B, H, T, d) share · v of each word in each head."""
        layer = self.layer
        v: Floats = layer.share * project(project(self.keys[:, None], layer.w_v), layer.w_o)
        if layer.w_o is None:
            v = v / layer.heads  # heads are averaged, so that contributions add up
        return np.broadcast_to(v, (len(v), layer.heads, *v.shape[2:]))

    def trace(self) -> Trace:
        """Return every step from q·k to the masked scores, which are computed again."""
        keys = unit(self.keys) if self.layer.unit else self.keys
        t_q, looks = self.pairs.t_q, self.looks
        products = [_dot_keys(look.layer, look.q, keys, t_q, False) for look in looks]
        scores = np.array(np.broadcast_to(np.concatenate(products, 2), self.head_weights.shape))
        scaled = scale_scores(scores.copy(), self.layer.scale)
        added = {}
        for term in self.layer.terms:
            bias = term.bias(self.pairs, scaled.dtype)
            if bias is not None:
                added[term.name] = np.broadcast_to(bias, scaled.shape).swapaxes(1, 2)
                scaled += bias
        if self.mask is not None:
            scaled = np.where(self.mask, scaled, -np.inf)
        return Trace(scores.swapaxes(1, 2), added, scaled.swapaxes(1, 2))

    def backward(self, d_output: Floats) -> Gradients:
        """Return the gradients by the parameters, from the gradient by the output (B, Tq, d)."""
        layer, keys, pairs, dim = self.layer, self.keys, self.pairs, self.keys.shape[2]
        number = len(self.head_outputs)
        attends = 1.0 if self.mask is None else self.mask.any(axis=3)  # else x_i stays whole
        d_own = (d_output * self.targets * attends).sum()
        gradients: Gradients = {"own": np.array([d_own], d_output.dtype)}
        d_heads = (layer.share * d_output).reshape(number, 1, -1)
        mixed = mix(self.head_weights, keys) if self.mixed is None else self.mixed
        if layer.w_o is None:
            d_heads = d_heads / layer.heads
        else:
            gradients["w_o"] = outer(self.head_outputs, d_heads)
            d_heads = matmul_heads(d_heads, layer.w_o, transpose=True)
        if layer.w_v is not None:
            gradients["w_v"] = outer(mixed, d_heads)
            d_heads = matmul_heads(d_heads, layer.w_v, transpose=True)
        d_mixed = np.broadcast_to(d_heads, (number, layer.heads, dim))
        if not layer.looks_twice:
            return gradients | self.looks[0].backward(d_mixed, keys, pairs)[0]
        first, others = self.looks
        d_others, d_input = others.backward(d_mixed[:, 1:], keys, pairs)
        assert d_input is not None
        n, d_n = others.query_input[:, dim:], d_input[:, dim:]  # (N, d)
        length = np.sqrt((mixed[:, 0] ** 2).sum(axis=1, keepdims=True))
        d_sum = (d_n - n * (n * d_n).sum(axis=1, keepdims=True)) / np.where(length > 0, length, 1)
        d_first, _ = first.backward(d_mixed[:, :1] + d_sum[:, None], keys, pairs)
        d_first["w_q"] = np.concatenate([d_first["w_q"], np.zeros_like(d_first["w_q"])], axis=1)
        return gradients | {k: np.concatenate([d_first[k], d_others[k]]) for k in d_first}


@one_thread()
def attend(
    layer: Layer, x: Floats, ids: NDArray[Any] | None = None, *,
    queries: NDArray[np.intp] | None = None, mask: Mask | None = None,
    over: tuple[Floats, NDArray[Any] | None] | None = None, causal: bool = False,
) -> AttentionResult:  # fmt: skip
    """Return a layer's output and weights for sentences x (B, T, d) of words ids (B, T).

    queries: (B,) one position a sentence, where only that word's vector is wanted.
    mask: (B, T) False for padding. over: x and ids of another sentence to look at, cross-attention.
    causal: a word looks at no later word, as in a decoder: its output is what it would be if the
    sentence ended with it. The words of another sentence are all looked at.

    >>> phone, fruit = [1.0, 0.0], [0.0, 1.0]
    >>> attended = attend(Layer(), np.array([[phone, fruit]]))
    >>> attended.trace().scores[0, 0]
    array([[1., 0.],
           [0., 1.]])
    >>> attended.weights[0, 0].round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    >>> attend(Layer(), np.array([[phone, fruit]]), causal=True).weights[0, 0].round(3)
    array([[1.   , 0.   ],
           [0.269, 0.731]])
    """
    keys, key_ids = over or (x, ids)  # (B, T, d)
    targets = x if queries is None else x[np.arange(len(x)), queries][:, None]  # (B, Tq, d)
    dim = x.shape[2]
    pairs = TokenPairs(key_ids, queries, x.shape[1], over is not None)
    mask = _mask(layer, pairs, mask, causal)
    size = layer.heads if layer.w_k is None else layer.heads * layer.w_k.shape[2]
    project_keys = queries is None and layer.w_v is not None and size <= dim
    query_input = targets.reshape(-1, dim)  # (N, d)
    mixed: Floats | None = None
    if layer.looks_twice:
        one, rest = layer.some_heads(slice(1)), layer.some_heads(slice(1, None))
        assert one.w_q is not None
        first = _compute_weights(replace(one, w_q=one.w_q[:, :dim]), query_input, keys, pairs, mask)
        n = mix(first.weights, keys)  # (N, 1, d)
        query_input = np.concatenate([query_input, unit(n[:, 0])], axis=1)  # (N, 2d)
        looks: tuple[Look, ...] = (first, _compute_weights(rest, query_input, keys, pairs, mask))
        weights = np.concatenate([look.weights for look in looks], axis=2)  # (B, Tq, H, T)
        mixed = np.concatenate([n, mix(looks[1].weights, keys)], axis=1)
    else:
        looks = (_compute_weights(layer, query_input, keys, pairs, mask, project_keys),)
        weights = looks[0].weights

    if layer.w_v is None and layer.w_o is None:  # heads are averaged
        mixed = head_outputs = (weights.mean(axis=2) @ keys).reshape(-1, 1, dim)
        output = head_outputs[:, 0]
    else:
        mixed = mix(weights, keys) if mixed is None and not project_keys else mixed
        head_outputs = _head_outputs(layer, weights, keys, mixed)  # (N, H, dv)
        if layer.w_o is None:
            output = head_outputs.mean(axis=1)
        else:
            output = sum_heads(head_outputs, layer.w_o)
    output = output.reshape(targets.shape)
    output = layer.share * output if layer.share != 1 else output
    own = _own(layer, targets, mask)
    output = output if own is None else output + own
    own = np.broadcast_to(np.zeros((), x.dtype), targets.shape) if own is None else own
    return AttentionResult(
        layer, pairs, keys, mask, targets, looks, weights, mixed, head_outputs, own, output
    )


def _compute_weights(
    layer: Layer, query_input: Floats, keys: Floats, pairs: TokenPairs, mask: Mask | None,
    project_keys: bool = False,
) -> Look:  # fmt: skip
    """Return queries and weights, softmax(scale · q·k + terms), of a layer's heads."""
    compared = unit(query_input) if layer.unit else query_input
    q = compared[:, None] if layer.w_q is None else project_heads(compared, layer.w_q)
    if layer.b_q is not None:
        q = q + layer.b_q.astype(q.dtype, copy=False)
    scores = _dot_keys(layer, q, unit(keys) if layer.unit else keys, pairs.t_q, project_keys)
    scores = scale_scores(scores, layer.scale)  # (B, Tq, H or 1, T)
    if layer.terms and scores.shape[2] < layer.heads:
        scores = np.repeat(scores, layer.heads, axis=2)
    for term in layer.terms:
        bias = term.bias(pairs, scores.dtype)
        if bias is not None:
            scores += bias
    weights = softmax(scores, mask, out=scores)
    shape = (len(keys), pairs.t_q, layer.heads, keys.shape[1])
    return Look(layer, query_input, q, np.broadcast_to(weights, shape))


def _dot_keys(layer: Layer, q: Floats, keys: Floats, t_q: int, project_keys: bool) -> Floats:
    """Return q·k (B, Tq, H or 1, T), as q · (x W_K) if project_keys, else as (q W_Kᵀ) · x."""
    batch, length, dim = keys.shape
    if project_keys and layer.w_k is not None:
        k = project_heads(keys.reshape(-1, dim), layer.w_k).reshape(batch, length, layer.heads, -1)
        q = q.reshape(batch, t_q, layer.heads, -1)
        scores = np.empty((batch, t_q, layer.heads, length), keys.dtype)
        dot(q.swapaxes(1, 2), k.swapaxes(1, 2), out=scores.swapaxes(1, 2))
        return scores
    u = q if layer.w_k is None else matmul_heads(q, layer.w_k, transpose=True)  # (N, H or 1, d)
    return dot(u.reshape(batch, -1, dim), keys).reshape(batch, t_q, -1, length)


def _head_outputs(layer: Layer, weights: Floats, keys: Floats, mixed: Floats | None) -> Floats:
    """Return Σ weight x_j W_V (N, H, dv), from Σ weight x_j where that is known."""
    if mixed is not None:
        return mixed if layer.w_v is None else matmul_heads(mixed, layer.w_v)
    assert layer.w_v is not None
    batch, t_q, heads, length = weights.shape
    v = project_heads(keys.reshape(-1, keys.shape[2]), layer.w_v).reshape(batch, length, heads, -1)
    outputs = np.empty((batch, t_q, heads, v.shape[3]), keys.dtype)
    np.matmul(weights.swapaxes(1, 2), v.swapaxes(1, 2), out=outputs.swapaxes(1, 2))
    return outputs.reshape(batch * t_q, heads, -1)


def _mask(layer: Layer, pairs: TokenPairs, padding: Mask | None, causal: bool) -> Mask | None:
    """Return (B or 1, Tq or 1, 1, T): True where i may look at j; None for everywhere."""
    if pairs.distance is None:
        return None
    parts = [] if padding is None else [padding[:, None, None]]
    if layer.skip_self:
        parts.append(np.asarray(pairs.distance != 0)[:, :, None])
    if causal:
        parts.append(np.asarray(pairs.distance <= 0)[:, :, None])
    return reduce(np.logical_and, parts) if parts else None


def _own(layer: Layer, targets: Floats, mask: Mask | None) -> Floats | None:
    """Return what x_i keeps of itself: own · x_i (B, Tq, d), or all of it without context."""
    own: Floats | None = layer.own * targets if layer.own else None
    if mask is not None:
        alone = ~np.any(mask, axis=3)  # (B or 1, Tq or 1, 1)
        if alone.any():
            own = np.where(alone, targets, 0 if own is None else own)
    return own
