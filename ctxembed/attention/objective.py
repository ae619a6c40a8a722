"""Un-averaging: give two words one vector, and ask attention which of the two each sentence means.

A pseudoword is a pair of words A and B that share the mean of their vectors, as the senses of an
ambiguous word do. Each occurrence must come out nearer to the mean of A's other occurrences than to
the mean of B's (what a nearest-centroid test asks of real senses), also when a clause about the
other word is spliced in, and nearer to A's own static vector than to any other word of the batch.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.scores import Floats, softmax


@dataclass(frozen=True)
class Weights:
    """How much each part of the loss counts, and how sharp its softmax is."""

    plain: float = 1.0
    spliced: float = 0.5
    static: float = 0.1
    sharp: float = 8.0
    sharp_static: float = 10.0


@dataclass(frozen=True)
class Score:
    """The loss, and the share of occurrences that came out nearer to their own word."""

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
    d_unit = np.zeros_like(unit)
    whole, cut = unit[:, :, :plain], unit[:, :, plain:]  # (G, 2, r, d)
    total = whole.sum(axis=2, keepdims=True)  # (G, 2, 1, d)
    centre, centre_length = normalise(total)
    rest, rest_length = normalise(total - whole)  # the others of the same word (G, 2, r, d)
    swapped = centre[:, ::-1]

    # whole sentences: own word's other occurrences against the other word's
    mine, other = (whole * rest).sum(axis=-1), (whole * swapped).sum(axis=-1)  # (G, 2, r)
    loss, slope = _two_way(mine, other, w.sharp, w.plain)
    s = slope[..., None]
    d_unit[:, :, :plain] += s * (rest - swapped)
    d_rest = normalise_backward(rest, rest_length, s * whole)
    d_total = d_rest.sum(axis=2, keepdims=True)
    d_unit[:, :, :plain] -= d_rest
    d_centre = -(s * whole).sum(axis=2, keepdims=True)[:, ::-1]

    # spliced sentences against the same centres
    mine_cut, other_cut = (cut * centre).sum(axis=-1), (cut * swapped).sum(axis=-1)
    loss_cut, slope = _two_way(mine_cut, other_cut, w.sharp, w.spliced)
    s = slope[..., None]
    d_unit[:, :, plain:] += s * (centre - swapped)
    pull = (s * cut).sum(axis=2, keepdims=True)
    d_centre += pull - pull[:, ::-1]
    d_total += normalise_backward(centre, centre_length, d_centre)
    d_unit[:, :, :plain] += d_total

    # every occurrence against the static vectors of all words of the batch
    loss_static, static, d_static = _among_words(unit, words, same, w.sharp_static)
    d_unit += w.static * d_static
    score = Score(
        loss + loss_cut + w.static * loss_static,
        float((mine > other).mean()),
        float((mine_cut > other_cut).mean()) if cut.size else float("nan"),
        static,
    )
    return score, normalise_backward(unit, length, d_unit)


def _two_way(mine: Floats, other: Floats, sharp: float, weight: float) -> tuple[float, Floats]:
    """Return the mean of log(1 + exp(sharp (other - mine))), and its gradient by `mine`."""
    if mine.size == 0:
        return 0.0, np.zeros_like(mine)
    margin = sharp * (other - mine)
    loss = float(np.logaddexp(0, margin).mean())
    slope = -sharp * weight / mine.size / (1 + np.exp(-np.clip(margin, -60, 60)))
    return weight * loss, slope.astype(mine.dtype)


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
