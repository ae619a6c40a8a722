"""A distance that knows words: a clause begins where a sentence could begin.

The height of a word says how much more often it starts a sentence than any word does: `however`,
`although`, `she`, `after` and `while` are high, `of`, `which` and `that` are not. It is counted, in
any language, without a list of words.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms.term import Seen, Term
from ctxembed.stats.vectors import Floats

PRIOR = 50  # occurrences of an average word that each is given, so that rare ones stay average
STEEP = 2.0  # a word that starts sentences e² times as often as others has a height of ln 2
CHUNK = 1 << 20  # words counted at once


class Walls(Term):
    """by_head: (H,) how much a wall counts. words: (V,) how high a wall each word is."""

    name: ClassVar[str] = "wall"

    def bias(self, seen: Seen, dtype: Any) -> Floats | None:
        """Lower the scores of what stands behind walls."""
        walls = self._between(seen, dtype)
        if walls is None:
            return None
        return -self.by_head.astype(dtype, copy=False)[:, None] * walls[:, :, None]

    def backward(self, d_scores: Floats, seen: Seen) -> Floats:
        """Return (H,)."""
        walls = self._between(seen, d_scores.dtype)
        assert walls is not None
        return np.asarray(-np.einsum("bqht,bqt->h", d_scores, walls))

    def _between(self, seen: Seen, dtype: Any) -> Floats | None:
        """Return (B, Tq, T): the heights between each two words; summed once a batch."""
        heights = self.known(seen, dtype)
        if heights is None or seen.crossed:
            return None
        if self.name not in seen.kept:
            seen.kept[self.name] = between(heights, seen.queries)
        return seen.kept[self.name]


def between(heights: Floats, queries: NDArray[np.intp] | None = None) -> Floats:
    """Add up the heights from behind one word up to another, (B, T) -> (B, Tq, T).

    A word that begins a clause stands in it: the wall is before it.
    queries: (B,) one place a sentence, where only its row is wanted.

    >>> between(np.array([[1.0, 5.0, 2.0, 1.0]]), np.array([1]))
    array([[[5., 0., 2., 3.]]])
    """
    upto = np.cumsum(heights, axis=1)  # (B, T)
    mine = upto if queries is None else upto[np.arange(len(upto)), queries][:, None]
    return np.asarray(np.abs(upto[:, None, :] - mine[:, :, None]))


def count_heights(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], vocabulary: int, most: int | None = None
) -> Floats:
    """Return (V,) heights: softplus(log(P(starts a sentence) / P(any word does)) - 2).

    ids, offsets: sentences of a corpus, of which the first `most` words are enough; ids past the
    vocabulary are words without a vector.
    """
    end = len(ids) if most is None else min(most, len(ids))
    number = np.zeros(vocabulary + 1)
    for first in range(0, end, CHUNK):
        some = np.minimum(ids[first : min(end, first + CHUNK)], vocabulary)
        number += np.bincount(some, minlength=vocabulary + 1)
    first_places = offsets[:-1][np.diff(offsets) > 0]
    first_words = np.minimum(ids[first_places[first_places < end]], vocabulary)
    starts = np.bincount(first_words, minlength=vocabulary + 1)
    average = max(1, len(first_words)) / max(1, end)
    ratio = (starts + PRIOR * average) / ((number + PRIOR) * average)
    return np.logaddexp(0, np.log(ratio[:-1]) - STEEP).astype(np.float32)
