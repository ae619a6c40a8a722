"""A bidirectional recurrent network, the GRU of Cho et al. (2014), forward and backward.

A sentence is read word by word, from its beginning to the target and from its end to the target.
The state h is all that the network keeps of the words read so far. With the next word x:

    reset  = σ(x W_r + b_r + h U_r)      how much of h helps to write what is new
    kept   = σ(x W_z + b_z + h U_z)      how much of h stays (the update gate)
    new    = tanh(x W_n + b_n + reset · (h U_n + c))
    h      ← kept · h + (1 - kept) · new

    output = own · x_target + the two last states, each times its W_out

So the output has the size of a static vector, and the nearest words of it can be computed. A word
that is far away is seen only through the states of all words between; attention sees it at once.

Shapes: B sentences of T words; S steps of each of 2 readings; d dimensions, D of the state.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Gradients, Layer, Parameters
from ctxembed.stats.vectors import Floats

STATE = 64  # numbers in a state
OWN = 0.08  # how much of the word itself stays while the network is learned
MEMORY = 24  # words: the longest that a number of the state is kept at first, about
SMALL = 0.5  # size of what enters tanh at first: nearly linear
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Recurrent:
    """The parameters; the first axis is the reading: from the beginning, from the end."""

    w: Floats  # (2, d, 3D) W_r, W_z and W_n side by side
    u: Floats  # (2, D, 3D) U_r, U_z and U_n side by side
    b: Floats  # (2, 3D) b_r, b_z and b_n
    c: Floats  # (2, D)
    w_out: Floats  # (2, D, d)
    own: float = 0.0  # how much of the target itself stays

    @property
    def size(self) -> int:
        """The number of dimensions of a state."""
        return int(self.c.shape[1])

    def parameters(self) -> Gradients:
        """Return the arrays that can be learned, by name."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return named | {"own": np.array([self.own], self.w.dtype)}

    def updated(self, parameters: Parameters) -> "Recurrent":
        """Return a copy of the network with these parameters replaced."""
        new: dict[str, Any] = dict(parameters)
        own = float(new.pop("own")[0]) if "own" in new else self.own
        return replace(self, own=own, **new)

    def only(self, rows: NDArray[Any]) -> "Recurrent":
        """Return the network for a vocabulary of these rows: the same, it has nothing by word."""
        return self


def random_recurrent(dim: int, rng: "np.random.Generator", size: int = STATE) -> Recurrent:
    """Return a network to begin learning with: its output is near a mean of the nearer words.

    What is new is a random projection of the word and W_out turns it back. The numbers of the state
    are kept for 1 to MEMORY words at first (Tallec and Ollivier 2018).
    """
    project = rng.normal(0, 1 / np.sqrt(dim), (2, dim, size))
    w = 0.1 * rng.normal(0, 1 / np.sqrt(dim), (2, dim, 3 * size))
    w[:, :, 2 * size :] = SMALL * project
    u = 0.1 * rng.normal(0, 1 / np.sqrt(size), (2, size, 3 * size))
    b = np.zeros((2, 3 * size))
    b[:, size : 2 * size] = np.log(rng.uniform(1, MEMORY, (2, size)))
    w_out = (1 - OWN) / (2 * SMALL * size) * np.sqrt(dim) * project.swapaxes(1, 2)
    double = Recurrent(w, u, b, np.zeros((2, size)), w_out, own=OWN)
    return double.updated({k: v.astype(np.float32) for k, v in double.parameters().items()})


AnyLayer = Layer | Recurrent


@dataclass(frozen=True)
class RecurrentResult:
    """The outputs of the targets, and the gates and states of every step."""

    network: Recurrent
    targets: Floats  # (B, d)
    words: Floats  # (S, 2, B, d) each reading, scaled; the last step reads the target
    there: Bools  # (S, 2, B) False before a reading begins: the state stays 0
    reset: Floats  # (S, 2, B, D)
    kept: Floats  # (S, 2, B, D)
    inner: Floats  # (S, 2, B, D) h U_n + c
    new: Floats  # (S, 2, B, D)
    states: Floats  # (S+1, 2, B, D) h before each step, and after the last
    output: Floats  # (B, d)

    def backward(self, d_output: Floats) -> Gradients:
        """Return the gradient of every parameter, from the gradient of the output (B, d).

        The gradient of the state goes back through time, from the target to the first word.
        """
        p, (steps, _, _, size) = self.network, self.kept.shape
        g: Gradients = {"own": np.array([(d_output * self.targets).sum()], d_output.dtype)}
        g["w_out"] = self.states[-1].swapaxes(1, 2) @ d_output
        d_gates = np.empty((*self.kept.shape[:3], 3 * size), d_output.dtype)
        d_inner = np.empty_like(self.kept)
        d_h = d_output @ p.w_out.swapaxes(1, 2)  # (2, B, D)
        u_gates, u_new = p.u[:, :, : 2 * size].swapaxes(1, 2), p.u[:, :, 2 * size :].swapaxes(1, 2)
        for s in reversed(range(steps)):
            h, reset, kept, new = self.states[s], self.reset[s], self.kept[s], self.new[s]
            d_step = d_h * self.there[s, :, :, None]
            d_tanh = d_step * (1 - kept) * (1 - new * new)
            d_gates[s, :, :, :size] = d_tanh * self.inner[s] * reset * (1 - reset)
            d_gates[s, :, :, size : 2 * size] = d_step * (h - new) * kept * (1 - kept)
            d_gates[s, :, :, 2 * size :] = d_tanh
            d_inner[s] = d_tanh * reset
            d_h = d_h - d_step * (1 - kept)  # where no word is read, all of it
            d_h += d_gates[s, :, :, : 2 * size] @ u_gates + d_inner[s] @ u_new
        before = self.states[:-1]
        g["w"] = _sum_products(self.words, d_gates)
        g["b"] = d_gates.sum(axis=(0, 2))
        g["c"] = d_inner.sum(axis=(0, 2))
        d_u = (d_gates[..., : 2 * size], d_inner)
        g["u"] = np.concatenate([_sum_products(before, part) for part in d_u], axis=2)
        return g


def read_sentences(
    network: Recurrent, x: Floats, targets: Ints, mask: Bools | None = None
) -> RecurrentResult:
    """Return the output for one target in each sentence x (B, T, d); mask (B, T): words there.

    Static vectors have length 1; they are scaled so that each number is about 1.
    """
    p, size, rows = network, network.size, np.arange(len(x))
    at = _order(x.shape[1], targets)  # (S, 2, B)
    there = (at >= 0) & (at < x.shape[1])
    at = at.clip(0, x.shape[1] - 1)
    if mask is not None:
        there &= mask[rows, at]
    words = x[rows, at] * x.dtype.type(np.sqrt(x.shape[2]))
    gates = words @ p.w + p.b[:, None]  # (S, 2, B, 3D)
    shape = (*gates.shape[:3], size)
    reset, kept, inner, new = (np.empty(shape, gates.dtype) for _ in range(4))
    states = np.zeros((len(at) + 1, *shape[1:]), gates.dtype)
    for s in range(len(at)):
        h = states[s]
        from_h = h @ p.u  # (2, B, 3D)
        both = _sigmoid(gates[s, :, :, : 2 * size] + from_h[:, :, : 2 * size])
        reset[s], kept[s] = both[:, :, :size], both[:, :, size:]
        inner[s] = from_h[:, :, 2 * size :] + p.c[:, None]
        new[s] = np.tanh(gates[s, :, :, 2 * size :] + reset[s] * inner[s])
        states[s + 1] = np.where(there[s, :, :, None], kept[s] * (h - new[s]) + new[s], h)
    own = x[rows, targets]
    output = (states[-1] @ p.w_out).sum(axis=0) + x.dtype.type(p.own) * own
    return RecurrentResult(p, own, words, there, reset, kept, inner, new, states, output)


def read_targets(
    network: Recurrent, x: Floats, words: Ints, first: Ints, targets: Ints, last: Ints
) -> Floats:
    """Return (B, d) the output of read_sentences alone, for sentences of any length.

    x: (U, d) the distinct words, so that each is projected once. words: (N,) rows of x, the words
    of all sentences one after another; the others are positions in it, (B,). At each step only the
    sentences that are read on are computed: they are the first ones, by the number of their steps.
    """
    p = network
    output = x.dtype.type(p.own) * x[words[targets]]
    scaled = x * x.dtype.type(np.sqrt(x.shape[1]))
    for r, start, ahead in ((0, first, 1), (1, last, -1)):
        gates = scaled @ p.w[r] + p.b[r]  # (U, 3D)
        steps = 1 + np.abs(targets - start)
        order = np.argsort(-steps, kind="stable")
        at, going = start[order], np.searchsorted(-steps[order], -np.arange(steps.max(initial=0)))
        h = np.zeros((len(first), p.size), gates.dtype)
        for s, n in enumerate(going.tolist()):
            h[:n] = _step(p, r, gates[words[at[:n] + ahead * s]], h[:n])
        output[order] += h @ p.w_out[r]
    return np.asarray(output)


def read_every_word(network: Recurrent, x: Floats) -> Floats:
    """Return (B, T, d) the output for each word of sentences x (B, T, d) as target.

    The state after each step of a reading is the last state of the words up to there, so that
    reading once from each end is enough.
    """
    first, last = np.zeros(len(x), np.intp), np.full(len(x), x.shape[1] - 1)
    forward = read_sentences(network, x, last).states[1:, 0]  # (T, B, D)
    backward = read_sentences(network, x, first).states[:0:-1, 1]
    output = forward @ network.w_out[0] + backward @ network.w_out[1]
    return np.asarray(output.swapaxes(0, 1) + x.dtype.type(network.own) * x)


def read_with_shares(
    network: Recurrent, x: Floats, targets: Ints, mask: Bools | None = None
) -> tuple[Floats, Floats]:
    """Return (B, d) the output for one target in each sentence x (B, T, d), and shares (B, 2, T).

    mask (B, T): words there; the others are at the end.
    A share is what the output loses along its own direction if a word is not read. The words act on
    each other through the state, so the shares need not sum to 1. Up to the word that is left out
    the states are those of the whole reading, so that only the steps after it are read again.
    """
    p, (batch, length, _), rows = network, x.shape, np.arange(len(x))
    last = np.full(batch, length - 1) if mask is None else mask.sum(axis=1) - 1
    words = np.arange(length)
    # (B, T) the words as each reading takes them; those after the target are not read
    orders = (np.broadcast_to(words, x.shape[:2]), (last[:, None] - words).clip(0))
    output = x.dtype.type(p.own) * x[rows, targets]
    scaled, lost = x * x.dtype.type(np.sqrt(x.shape[2])), []
    for r, steps in ((0, targets + 1), (1, last + 1 - targets)):
        order = np.argsort(-steps, kind="stable")
        gates = scaled[order[:, None], orders[r][order]] @ p.w[r] + p.b[r]  # (B, T, 3D)
        going = np.searchsorted(-steps[order], -np.arange(steps.max(initial=0))).tolist()
        # the states of the whole reading, then of those that leave out step 0, 1, ...
        states = np.zeros((len(going) + 1, batch, p.size), gates.dtype)
        for s, n in enumerate(going):
            states[s + 1, :n] = states[0, :n]
            h = states[: s + 1, :n].copy()
            states[: s + 1, :n] = _step(p, r, gates[:n, s], h)
        output[order] += states[0] @ p.w_out[r]
        lost.append((order, states[0] - states[1:]))  # (S, B, D)
    squares = (output * output).sum(axis=1, keepdims=True)
    shares = np.zeros((batch, 2, length))
    for r, (order, less) in enumerate(lost):
        along = (output / np.where(squares > 0, squares, 1)) @ p.w_out[r].T  # (B, D)
        parts = (less * along[order]).sum(axis=2).T  # (B, S)
        read = np.arange(len(less)) < (targets + 1 if r == 0 else last + 1 - targets)[order, None]
        at = orders[r][order][:, : len(less)]
        sentence, step = np.nonzero(read)
        shares[order[sentence], r, at[sentence, step]] = parts[sentence, step]
    return np.asarray(output), shares


def _step(p: Recurrent, r: int, gates: Floats, h: Floats) -> Floats:
    """Return the states (..., n, D) after the next word of reading r, whose gates are (n, 3D)."""
    size = p.size
    from_h = (h.reshape(-1, size) @ p.u[r]).reshape(*h.shape[:-1], -1)
    both = _sigmoid(gates[:, : 2 * size] + from_h[..., : 2 * size])
    reset, kept = both[..., :size], both[..., size:]
    new = np.tanh(gates[:, 2 * size :] + reset * (from_h[..., 2 * size :] + p.c[r]))
    return np.asarray(kept * (h - new) + new)


def _order(length: int, targets: Ints) -> Ints:
    """Return (S, 2, B) the position that each step reads; outside of the sentence before the first.

    >>> _order(4, np.array([1]))[:, :, 0].T.tolist()
    [[-1, 0, 1], [3, 2, 1]]
    """
    steps = 1 + int(np.maximum(targets, length - 1 - targets).max(initial=0))
    back = np.arange(steps)[::-1, None]
    return np.stack([targets - back, targets + back], axis=1)


def _sum_products(a: Floats, b: Floats) -> Floats:
    """Return (2, m, n) the sum over steps and sentences of the outer products of a and b."""
    products = (a[:, i].reshape(-1, a.shape[3]).T @ b[:, i].reshape(-1, b.shape[3]) for i in (0, 1))
    return np.stack(list(products))


def _sigmoid(y: Floats) -> Floats:
    return np.asarray(y.dtype.type(0.5) * (1 + np.tanh(y.dtype.type(0.5) * y)))
