"""A distance that knows words: some stand between two clauses like a wall, others hardly count.

The height of a word says how much the topic changes across it in the corpus: `while`, `because`
and `he` stand where one clause ends and another begins, `of` and `with` in the middle of one.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms.term import Seen, Term
from ctxembed.static.space import Floats

SIDE = 6  # words to either side whose topics are compared
LEAST = 3  # fewer words on one side say nothing
PRIOR = 30  # occurrences of an average word that each is given, so that rare ones stay average
STEP = 2_000  # sentences at once: some 40 MB


class Walls(Term):
    """by_head: (H,) how much a wall counts. words: (V,) how high a wall each word is."""

    name: ClassVar[str] = "wall"

    def bias(self, seen: Seen, dtype: Any) -> Floats | None:
        """Lower the scores of what stands behind walls."""
        walls = walls_between(self.words, seen, dtype)
        if walls is None:
            return None
        return -self.by_head.astype(dtype, copy=False)[:, None] * walls[:, :, None]

    def backward(self, d_scores: Floats, seen: Seen) -> Floats:
        """Return (H,)."""
        walls = walls_between(self.words, seen, d_scores.dtype)
        assert walls is not None
        return np.asarray(-np.einsum("bqht,bqt->h", d_scores, walls))


def walls_between(heights: Floats | None, seen: Seen, dtype: Any) -> Floats | None:
    """Return (B, Tq, T): the heights between each two words; summed once a batch."""
    if heights is None or seen.ids is None or seen.distance is None:
        return None
    if id(heights) not in seen.between:
        mine = heights[seen.ids].astype(dtype, copy=False)
        seen.between[id(heights)] = between(mine, seen.queries)
    return seen.between[id(heights)]


def heights(
    x: Floats, salience: Floats, ids: NDArray[np.int32], offsets: NDArray[np.int64]
) -> Floats:
    """Measure the height of each word (V,): how far topics across it lie below the average.

    x: (V, d) vectors of length 1. salience: (V,) log of how much a word says about the topic.
    ids, offsets: sentences of the corpus; ids past V are words without a vector.
    """
    size = len(x)
    weight = np.exp(salience).astype(x.dtype)
    total, number = np.zeros(size), np.zeros(size)
    for first in range(0, len(offsets) - 1, STEP):
        bounds = np.asarray(offsets[first : first + STEP + 1])
        words = np.asarray(ids[bounds[0] : bounds[-1]])
        known = words < size
        sentence = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))[known]
        words = words[known]
        ends = np.cumsum(np.bincount(sentence, minlength=len(bounds) - 1))
        begin, end = np.concatenate([[0], ends])[sentence], ends[sentence]
        place = np.arange(len(words))
        asked = np.flatnonzero((place - begin >= LEAST) & (end - place > LEAST))
        sums = np.cumsum(x[words] * weight[words, None], axis=0, dtype=np.float64)
        sums = np.concatenate([np.zeros((1, x.shape[1])), sums])  # (n+1, d)
        left = sums[asked] - sums[np.maximum(begin[asked], asked - SIDE)]
        right = sums[np.minimum(end[asked], asked + 1 + SIDE)] - sums[asked + 1]
        lengths = np.sqrt((left * left).sum(1) * (right * right).sum(1))
        cosine = (left * right).sum(1) / np.maximum(lengths, 1e-12)
        total += np.bincount(words[asked], cosine, minlength=size)
        number += np.bincount(words[asked], minlength=size)
    average = total.sum() / max(1.0, number.sum())
    coherence = (total + PRIOR * average) / (number + PRIOR)
    return np.asarray(np.maximum(0, average - coherence), x.dtype)


def between(heights: Floats, queries: NDArray[np.intp] | None = None) -> Floats:
    """Add up the heights of the words strictly between each two, (B, T) -> (B, Tq, T).

    queries: (B,) one place a sentence, where only its row is wanted.

    >>> between(np.array([[1.0, 5.0, 2.0, 1.0]]), np.array([0]))
    array([[[0., 0., 5., 7.]]])
    """
    upto = np.cumsum(heights, axis=1)  # (B, T) with the word itself
    before = upto - heights  # (B, T) without it
    places = np.arange(heights.shape[1])
    if queries is None:
        i = places[None, :]
        mine_upto, mine_before = upto[:, :, None], before[:, :, None]  # (B, Tq, 1)
    else:
        i, rows = queries[:, None], np.arange(len(heights))
        mine_upto = upto[rows, queries][:, None, None]
        mine_before = before[rows, queries][:, None, None]
    j, i = places[None, None, :], i[:, :, None]
    to_right = before[:, None, :] - mine_upto  # j > i
    to_left = mine_before - upto[:, None, :]  # j < i
    zero = np.zeros((), heights.dtype)
    return np.where(j > i, to_right, np.where(j < i, to_left, zero))
