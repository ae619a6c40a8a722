"""Un-averaging: give two words one vector, and let attention decide which one a sentence means.

A pseudoword is a pair of words A and B that share the mean of their vectors, as the senses of an
ambiguous word do. Any two occurrences of A must come out nearer to each other than to any of B,
also when a clause about the other word is spliced into one of them, and nearer to A's own static
vector than to any other word of the batch.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.scores import softmax
from ctxembed.stats.vectors import Floats


@dataclass(frozen=True)
class Weights:
    """How much each part of the loss counts, and how sharp its softmax is."""

    plain: float = 2.0
    spliced: float = 2.0
    static: float = 1.0
    sharp: float = 5.0
    sharp_static: float = 10.0


@dataclass(frozen=True)
class Score:
    """The loss, and the share of pairs of one word that came out nearer than pairs of two."""

    loss: float
    plain: float
    spliced: float
    static: float


def normalise(v: Floats) -> tuple[Floats, Floats]:
    """Return rows of length 1, and the lengths."""
    length = np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-6).astype(v.dtype)
    return v / length, length


def normalise_backward(unit: Floats, length: Floats, d_unit: Floats) -> Floats:
    """Return the gradient by the rows, from the gradient by the rows of length 1."""
    return np.asarray((d_unit - unit * (unit * d_unit).sum(axis=-1, keepdims=True)) / length)


def unaverage(
    output: Floats, words: Floats, same: NDArray[np.bool_], plain: int, w: Weights
) -> tuple[Score, Floats]:
    """Return loss and gradient for output (G, 2, R, d): G pseudowords, 2 words, R occurrences each.

    The first `plain` (P) occurrences are whole, the others spliced. words (G, 2, d) are the static
    vectors of A and B, of length 1; same (2G, 2G) is True where two of them are one word.
    """
    pairs, _, repeats, _ = output.shape
    unit, length = normalise(output)
    whole = unit[:, :, :plain]  # (G, 2, P, d)
    other = whole[:, ::-1]
    near = unit @ whole.swapaxes(2, 3)  # (G, 2, R, P) cosines with the same word's whole sentences
    far = unit @ other.swapaxes(2, 3)  # and with the other word's
    # log(1 + exp(sharp (far - near))), the mean over all rivals of all pairs: (G, 2, R, P, P)
    margin = w.sharp * (far[..., None, :] - near[..., :, None])
    weight = np.zeros((repeats, plain))  # of each pair of occurrences; none with itself
    weight[:plain] = w.plain / (plain * max(1, plain - 1)) * (1 - np.eye(plain))
    weight[plain:] = w.spliced / (max(1, repeats - plain) * plain)
    weight = (weight / (2 * pairs * plain))[:, :, None]  # over both words, and over all rivals
    slope = w.sharp * weight / (1 + np.exp(-np.clip(margin, -60, 60)))
    loss = float((weight * np.logaddexp(0, margin)).sum())
    d_near, d_far = -slope.sum(axis=4).astype(unit.dtype), slope.sum(axis=3).astype(unit.dtype)
    d_unit = d_near @ whole + d_far @ other
    d_unit[:, :, :plain] += d_near.swapaxes(2, 3) @ unit
    d_unit[:, :, :plain] += (d_far.swapaxes(2, 3) @ unit)[:, ::-1]
    right = (margin < 0).mean(axis=(0, 1, 4))  # (R, P)

    # every occurrence against the static vectors of all words of the batch
    loss_static, static, d_static = _static_loss(unit, words, same, w.sharp_static)
    loss += w.static * loss_static
    d_unit += w.static * d_static
    right_plain = float(right[:plain][~np.eye(plain, dtype=bool)].mean())
    right_spliced = float(right[plain:].mean()) if repeats > plain else float("nan")
    score = Score(loss, right_plain, right_spliced, static)
    return score, normalise_backward(unit, length, d_unit)


def _static_loss(
    unit: Floats, words: Floats, same: NDArray[np.bool_], sharp: float
) -> tuple[float, float, Floats]:
    """Return the cross-entropy of the own word among all words, the share right, the gradient."""
    pairs, _, repeats, dim = unit.shape
    flat, vectors = unit.reshape(-1, dim), words.reshape(2 * pairs, dim)
    label = np.repeat(np.arange(2 * pairs), repeats)
    row = np.arange(len(label))
    logits = sharp * (flat @ vectors.T)  # (2GR, 2G)
    logits[same[label] & (label[:, None] != np.arange(2 * pairs))] = -np.inf
    p = softmax(logits)
    hit = p[row, label]
    loss = -float(np.log(np.maximum(hit, 1e-30)).mean())
    right = float((hit > p[row, label ^ 1]).mean())
    p[row, label] -= 1
    return loss, right, (sharp / len(label) * (p @ vectors)).reshape(unit.shape)
