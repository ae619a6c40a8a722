"""Layers that are not learned: general attention, random matrices, and where learning starts."""

from contextlib import suppress

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.attention.terms import REACH, Distance, Term, Walls, WordBias, damping, decay
from ctxembed.errors import UsageError
from ctxembed.stats.vectors import Floats

SLOPES = (0.0, 0.05, 0.2, 0.5)  # a head that sees the whole sentence, to one that sees the clause
GENERAL = ("textbook", "scaled", "cosine")
OWN = 0.08  # how much of the word stays while attention is learned
FIRST_HEAD = 0.7  # part of the other heads' query that comes from the first head's result
TEMPERATURE, NOISE = 4.0, 0.01
NEAR_SLOPE, FAR_SLOPES, FAR_WALLS = 0.4, (0.02, 0.1, 0.1), (0.0, 0.0, 1.0)


def general(kind: str, dim: int, heads: int = 4, frequency: Floats | None = None) -> Layer:
    """Return a layer without parameters: "textbook", "scaled", or "cosine", which works best.

    frequency: (V,) each word's share of the text; with it, frequent words count less.
    """
    if kind == "textbook":
        return Layer()
    if kind == "scaled":
        return Layer(scale=1 / float(np.sqrt(dim)))
    slopes = SLOPES[:heads] if heads <= len(SLOPES) else tuple(np.linspace(0, 0.5, heads))
    terms: tuple[Term, ...] = (Distance(decay(slopes, REACH)),)
    if frequency is not None:
        terms += (WordBias(np.ones((1, 1), np.float32), damping(frequency)[:, None]),)
    return Layer(heads, scale=6.0, unit=True, skip_self=True, own=0.3, share=0.7, terms=terms)


def random_layer(dim: int, heads: int, rng: "np.random.Generator") -> Layer:
    """Return a layer as it is before training: W ~ N(0, 1/d)."""
    size = max(1, dim // heads)
    w_q, w_k, w_v = rng.normal(0, dim**-0.5, (3, heads, dim, size)).astype(np.float32)
    w_o = rng.normal(0, (heads * size) ** -0.5, (heads, size, dim)).astype(np.float32)
    return Layer(heads, w_q, w_k, w_v, w_o, scale=1 / float(np.sqrt(size)))


def starting_layer(
    dim: int, rng: "np.random.Generator", features: Floats, heights: Floats, *, heads: int = 4,
    reach: int = 24,
) -> Layer:  # fmt: skip
    """Return the layer that learning starts from: near general attention, looking twice.

    The first head averages the near words of the clause. The other heads look for words similar to
    the target and, more, to what the first head found, in the clause or beyond.
    features: (V, F) of WordBias, its last two the mildest damping and the length. heights: (V,).
    """
    eye = np.eye(dim)[None]
    size = np.sqrt(TEMPERATURE) * dim**0.25  # so that q·k / sqrt(d) = TEMPERATURE · cosine

    def noisy(matrix: Floats) -> Floats:
        return matrix + NOISE * rng.standard_normal((heads, dim, dim))

    by_feature = np.zeros((heads, features.shape[1]), np.float32)
    by_feature[:, -2:] = 1.0
    w_q, slopes, walls = noisy(size * eye), [FAR_SLOPES[0]], [1.0]
    if heads > 1:
        by_word, by_first = noisy(size * (1 - FIRST_HEAD) * eye), noisy(size * FIRST_HEAD * eye)
        by_word[0] -= size * (1 - FIRST_HEAD) * eye[0]
        by_first[0] = 0
        w_q = np.concatenate([by_word, by_first], axis=1)
        slopes = [NEAR_SLOPE, *np.resize(FAR_SLOPES, heads - 1)]
        walls = [1.0, *np.resize(FAR_WALLS, heads - 1)]
    w_k, w_v, w_o = noisy(size * eye), noisy(eye), noisy((1 - OWN) / heads * eye)
    w_q, w_k, w_v, w_o = (matrix.astype(np.float32) for matrix in (w_q, w_k, w_v, w_o))
    distance = Distance(decay(tuple(slopes), reach).astype(np.float32))
    terms = (distance, WordBias(by_feature, features), Walls(np.array(walls, np.float32), heights))
    return Layer(
        heads, w_q, w_k, w_v, w_o, b_q=np.zeros((heads, dim), np.float32),
        scale=float(1 / np.sqrt(dim)), skip_self=True, own=OWN, looks_twice=heads > 1, terms=terms,
    )  # fmt: skip


def read_temperature(text: str) -> float:
    """Return the number that general attention multiplies its scores by."""
    with suppress(ValueError):
        if 0 <= (temperature := float(text)) <= 1000:
            return temperature
    raise UsageError(f"--general: a temperature of {text!r}; give a number from 0 to 1000")
