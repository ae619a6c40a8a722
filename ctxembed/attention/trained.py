"""The layer as it is learned: one word of each sentence, the forward pass beside its backward.

For a target i of a sentence, with heads h and the other words j:

    q      = [x_i ; n_i] W_Q + b_q          k = x_j W_K          v = x_j W_V
    score  = q·k / sqrt(d_k) + f_j·b_f + position[clip(j - i)] - wall · (heights between i and j)
    weight = softmax over j != i
    output = own x_i + sum over h, j of weight v W_O

x is a centred static vector of length 1, n_i the neighbourhood of the target, f a few numbers known
for each word: how frequent it is, how long its vector. Given the weights the output is a plain sum.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Layer
from ctxembed.attention.scores import softmax
from ctxembed.attention.sinusoids import decay
from ctxembed.attention.walls import between, neighbourhood
from ctxembed.static.space import Floats

Parameters = Mapping[str, Floats]
Gradients = dict[str, Floats]
DAMPING = (1e-5, 1e-4, 1e-3)  # a of a/(a+p)


@dataclass(frozen=True)
class Words:
    """What is known about each word of a batch, or of the vocabulary."""

    x: Floats  # (..., d) centred static vectors of length 1
    features: Floats  # (..., F) what the key bias is made of
    salience: Floats  # (...,) how much a word says about the topic, a logarithm
    heights: Floats  # (...,) how high a wall it is

    def take(self, ids: NDArray[Any]) -> "Words":
        """Look words up, (B, T) ids."""
        return Words(self.x[ids], self.features[ids], self.salience[ids], self.heights[ids])


def key_features(vectors: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return (V, F): log a/(a+p) for a few a, and the log length of the centred vector."""
    p = counts / max(1, counts.sum())
    length = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1).astype(np.float64)
    log_length = np.log(np.maximum(length, 1e-3) / max(float(length.mean()), 1e-3))
    columns = [np.log(a / (a + p)) for a in DAMPING]
    return np.stack([*columns, log_length], axis=1).astype(vectors.dtype)


def start(
    dim: int,
    rng: np.random.Generator,
    *,
    heads: int = 4,
    reach: int = 24,
    temperature: float = 4.0,
    own: float = 0.15,
    near: float = 0.3,
    wall: float = 10.0,
    slopes: tuple[float, ...] = (0.02, 0.1, 0.4, 0.8),
    noise: float = 0.01,
) -> dict[str, Floats]:
    """Start near general attention: cosine scores, frequent words damped, one decay a head."""
    eye = np.eye(dim)[None]
    size = np.sqrt(temperature) * dim**0.25  # so that q·k / sqrt(d) = temperature · cosine

    def about(matrix: Floats) -> Floats:
        return matrix + noise * rng.standard_normal((heads, dim, dim))

    b_f = np.zeros((heads, len(DAMPING) + 1))
    b_f[:, -2:] = 1.0  # the mildest damping, and the length
    made = {
        "w_q": np.concatenate([about(size * (1 - near) * eye), about(size * near * eye)], axis=1),
        "w_k": about(size * eye),
        "w_v": about(eye),
        "w_o": about((1 - own) / heads * eye),
        "b_q": np.zeros((heads, dim)),
        "b_f": b_f,
        "position": decay(tuple(np.resize(np.array(slopes), heads)), reach),
        "wall": np.full(heads, wall),
        "own": np.array([own]),
    }
    return {name: array.astype(np.float32) for name, array in made.items()}


def as_layer(parameters: Parameters) -> Layer:
    """Give the parameters the form in which every other command uses them."""
    p = parameters
    return Layer(
        heads=len(p["w_q"]),
        w_q=p["w_q"],
        w_k=p["w_k"],
        w_v=p["w_v"],
        w_o=p["w_o"],
        b_q=p["b_q"],
        scale=float(1 / np.sqrt(p["w_k"].shape[2])),
        skip_self=True,
        own=float(p["own"][0]),
        positions=p["position"],
        walls=p["wall"],
        near=True,
    )


def forward(
    parameters: Parameters,
    words: Words,
    own: Floats,
    target: NDArray[np.intp],
    known: NDArray[np.bool_],
) -> tuple[Floats, Callable[[Floats], Gradients]]:
    """Return the output (B, d) and the way back from its gradient to the parameters'.

    words: (B, T). own: (B, d) the target's vector, which may be a mixture of two words'.
    target: (B,) its place. known: (B, T) False for padding.

    Nothing is projected but the query: q·k = (q W_Kᵀ)·x, and the mixed x are projected once,
    (Σ w x) W_V W_O, so a key costs 2 d products instead of 2 d d_k.
    """
    p = parameters
    x, features = words.x, words.features  # (B, T, d), (B, T, F)
    batch, dim = own.shape
    heads, asking, _ = p["w_q"].shape
    root = own.dtype.type(np.sqrt(p["w_k"].shape[2]))
    walls = between(words.heights, target)  # (B, 1, T)
    around = neighbourhood(x, words.salience, walls, target, known)[:, 0]
    asked = np.concatenate([own, around], axis=1)  # (B, 2d)
    wide_k = p["w_k"].swapaxes(1, 2)  # (H, d_k, d)
    query_key = p["w_q"] @ wide_k / root  # (H, 2d, d)
    shift = (p["b_q"][:, None] @ wide_k)[:, 0] / root  # (H, d)
    side = query_key.transpose(1, 0, 2).reshape(asking, heads * dim)
    sought = (asked @ side).reshape(batch, heads, dim) + shift  # what each query looks for
    reach = p["position"].shape[1] // 2
    places = np.arange(x.shape[1])
    row = np.clip(places - target[:, None], -reach, reach) + reach  # (B, T)
    scores = sought @ x.swapaxes(1, 2)  # (B, H, T)
    scores += p["b_f"] @ features.swapaxes(1, 2)
    scores += p["position"].T[row].swapaxes(1, 2)
    scores -= p["wall"][:, None] * walls
    look = known & (places != target[:, None])  # (B, T)
    weights = softmax(np.where(look[:, None], scores, -np.inf))
    mixed = (weights @ x).reshape(batch, heads * dim)
    value_out = (p["w_v"] @ p["w_o"]).reshape(heads * dim, dim)
    output = p["own"] * own + mixed @ value_out  # (B, d)

    def backward(d_output: Floats) -> Gradients:
        d_value_out = (mixed.T @ d_output).reshape(heads, dim, dim)
        d_mixed = (d_output @ value_out.T).reshape(batch, heads, dim)
        d_weights = d_mixed @ x.swapaxes(1, 2)  # (B, H, T)
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
        d_sought = (d_scores @ x).reshape(batch, heads * dim)
        d_query_key = (asked.T @ d_sought).reshape(asking, heads, dim).transpose(1, 0, 2) / root
        d_shift = d_sought.sum(axis=0).reshape(heads, 1, dim) / root
        d_w_k = d_query_key.swapaxes(1, 2) @ p["w_q"] + d_shift.swapaxes(1, 2) @ p["b_q"][:, None]
        return {
            "w_q": d_query_key @ p["w_k"],
            "w_k": d_w_k,
            "w_v": d_value_out @ p["w_o"].swapaxes(1, 2),
            "w_o": p["w_v"].swapaxes(1, 2) @ d_value_out,
            "b_q": (d_shift @ p["w_k"])[:, 0],
            "b_f": (d_scores @ features).sum(axis=0),
            "position": _by_place(d_scores, row, 2 * reach + 1),
            "wall": -(d_scores * walls).sum(axis=(0, 2)),
            "own": np.array([(d_output * own).sum()], own.dtype),
        }

    return output, backward


def _by_place(d_scores: Floats, row: NDArray[np.intp], size: int) -> Floats:
    """Sum the gradients of all scores that used the same place, (B, H, T) -> (H, 2R+1)."""
    flat = row.ravel()
    sums = [np.bincount(flat, d_scores[:, h].ravel(), size) for h in range(d_scores.shape[1])]
    return np.stack(sums).astype(d_scores.dtype)
