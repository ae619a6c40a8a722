"""Un-averaging: give two words one vector, and ask attention which of the two each sentence means.

A pseudoword is a pair of words A and B that share the mean of their vectors, as the senses of an
ambiguous word do. Any two occurrences of A must come out nearer to each other than to any of B
(what the pairs of a sense test ask of real senses), also when a clause about the other word is
spliced into one of them, and nearer to A's own static vector than to any other word of the batch.
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

    The first `plain` occurrences are whole, the others spliced. words (G, 2, d) are the static
    vectors of A and B, of length 1; same (2G, 2G) is True where two of them are one word.
    """
    unit, length = normalise(output)
    whole = unit[:, :, :plain]  # (G, 2, P, d)
    other = whole[:, ::-1]
    near = unit @ whole.swapaxes(2, 3)  # (G, 2, R, P) cosines with the same word's whole sentences
    far = unit @ other.swapaxes(2, 3)  # and with the other word's
    # log(1 + exp(sharp (far - near))), the mean over all rivals of all pairs: (G, 2, R, P, P)
    margin = w.sharp * (far[..., None, :] - near[..., :, None])
    share = _shares(len(output), output.shape[2], plain, w)[:, :, None]
    slope = w.sharp * share / (1 + np.exp(-np.clip(margin, -60, 60)))
    loss = float((share * np.logaddexp(0, margin)).sum())
    d_near, d_far = -slope.sum(axis=4).astype(unit.dtype), slope.sum(axis=3).astype(unit.dtype)
    d_unit = d_near @ whole + d_far @ other
    d_unit[:, :, :plain] += d_near.swapaxes(2, 3) @ unit
    d_unit[:, :, :plain] += (d_far.swapaxes(2, 3) @ unit)[:, ::-1]
    right = (margin < 0).mean(axis=(0, 1, 4))  # (R, P)

    # every occurrence against the static vectors of all words of the batch
    loss_static, static, d_static = _among_words(unit, words, same, w.sharp_static)
    d_unit += w.static * d_static
    score = Score(
        loss + w.static * loss_static,
        float(right[:plain][~np.eye(plain, dtype=bool)].mean()),
        float(right[plain:].mean()) if right[plain:].size else float("nan"),
        static,
    )
    return score, normalise_backward(unit, length, d_unit)


def _shares(pairs: int, repeats: int, plain: int, w: Weights) -> Floats:
    """Return (R, P): how much each pair of occurrences counts; none with itself."""
    share = np.zeros((repeats, plain))
    share[:plain] = w.plain / (plain * max(1, plain - 1)) * (1 - np.eye(plain))
    share[plain:] = w.spliced / (max(1, repeats - plain) * plain)
    return share / (2 * pairs * plain)  # over both words, and over all rivals


def _among_words(
    unit: Floats, words: Floats, same: NDArray[np.bool_], sharp: float
) -> tuple[float, float, Floats]:
    """Pick the own word among all words of the batch: loss, share of right pairs, gradient."""
    pairs, _, repeats, dim = unit.shape
    flat, names = unit.reshape(-1, dim), words.reshape(2 * pairs, dim)
    label = np.repeat(np.arange(2 * pairs), repeats)
    row = np.arange(len(label))
    logits = sharp * (flat @ names.T)  # (2GR, 2G)
    logits[same[label] & (label[:, None] != np.arange(2 * pairs))] = -np.inf
    p = softmax(logits)
    hit = p[row, label]
    loss = -float(np.log(np.maximum(hit, 1e-30)).mean())
    right = float((hit > p[row, label ^ 1]).mean())
    p[row, label] -= 1
    return loss, right, (sharp / len(label) * (p @ names)).reshape(unit.shape)
