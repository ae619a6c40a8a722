"""Layers nobody has taught: general attention, random matrices, and where learning starts."""

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.attention.terms import Distance, Term, Walls, WordBias
from ctxembed.attention.terms.distance import REACH, decay
from ctxembed.attention.terms.word_bias import damping
from ctxembed.stats.vectors import Floats

SLOPES = (0.0, 0.05, 0.2, 0.5)  # a head that sees the whole sentence, to one that sees the clause
GENERAL = ("textbook", "scaled", "cosine")
OWN = 0.08  # how much of the word stays while attention is learned
FOUND = 0.7  # how much of what the others ask with is what the first head found
TEMPERATURE, NOISE = 4.0, 0.01
NEAR_SLOPE, FAR_SLOPES, FAR_WALLS = 0.4, (0.02, 0.1, 0.1), (0.0, 0.0, 1.0)


def general(kind: str, dim: int, heads: int = 4, frequency: Floats | None = None) -> Layer:
    """Make a layer without parameters: the textbook's, the scaled one, or the one that works.

    frequency: (V,) each word's share of the text; where given, frequent words are damped.
    """
    if kind == "textbook":
        return Layer()
    if kind == "scaled":
        return Layer(scale=1 / float(np.sqrt(dim)))
    slopes = SLOPES[:heads] if heads <= len(SLOPES) else tuple(np.linspace(0, 0.5, heads))
    terms: list[Term] = [Distance(decay(slopes, REACH))]
    if frequency is not None:
        terms.append(WordBias(np.ones((1, 1), np.float32), damping(frequency)[:, None]))
    return Layer(
        heads=heads, scale=6.0, unit=True, skip_self=True, own=0.3, share=0.7, terms=tuple(terms)
    )


def random_layer(dim: int, heads: int, rng: "np.random.Generator") -> Layer:
    """Start a layer as training would, before it has learned anything: W ~ N(0, 1/d)."""
    size = max(1, dim // heads)
    w_q, w_k, w_v = rng.normal(0, dim**-0.5, (3, heads, dim, size)).astype(np.float32)
    w_o = rng.normal(0, (heads * size) ** -0.5, (heads, size, dim)).astype(np.float32)
    return Layer(heads, w_q, w_k, w_v, w_o, scale=1 / float(np.sqrt(size)))


def start(
    dim: int,
    rng: "np.random.Generator",
    features: Floats,
    heights: Floats,
    *,
    heads: int = 4,
    reach: int = 24,
) -> Layer:
    """Start near general attention, looking twice.

    The first head looks near, inside the clause, for nothing in particular; the others look for
    what is like the word and, more, like what the first one found, in the clause or beyond.
    features: (V, F) of WordBias, its last two the mildest damping and the length. heights: (V,).
    """
    eye = np.eye(dim)[None]
    size = np.sqrt(TEMPERATURE) * dim**0.25  # so that q·k / sqrt(d) = TEMPERATURE · cosine

    def about(matrix: Floats) -> Floats:
        return matrix + NOISE * rng.standard_normal((heads, dim, dim))

    def ready(array: Floats) -> Floats:
        return array.astype(np.float32)

    by_feature = np.zeros((heads, features.shape[1]))
    by_feature[:, -2:] = 1.0
    w_q = about(size * eye)
    slopes, walls = np.array([FAR_SLOPES[0]]), np.array([1.0])
    if heads > 1:
        w_q = np.concatenate([about(size * (1 - FOUND) * eye), about(size * FOUND * eye)], axis=1)
        w_q[0, :dim] -= size * (1 - FOUND) * eye[0]
        w_q[0, dim:] = 0
        slopes = np.array([NEAR_SLOPE, *np.resize(FAR_SLOPES, heads - 1)])
        walls = np.array([1.0, *np.resize(FAR_WALLS, heads - 1)])
    return Layer(
        heads,
        ready(w_q),
        ready(about(size * eye)),
        ready(about(eye)),
        ready(about((1 - OWN) / heads * eye)),
        b_q=np.zeros((heads, dim), np.float32),
        scale=float(1 / np.sqrt(dim)),
        skip_self=True,
        own=OWN,
        looks_twice=heads > 1,
        terms=(
            Distance(ready(decay(tuple(slopes), reach))),
            WordBias(ready(by_feature), features),
            Walls(ready(walls), heights),
        ),
    )
