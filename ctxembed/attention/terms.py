"""Score terms, added to q·k (a new one is a Term and an entry in TERMS); sinusoidal positions."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

REACH = 32  # words to either side that attention looks at; farther ones count as this far
DAMPING = (1e-5, 1e-4, 1e-3)  # a of a/(a+p), the features of WordBias
PRIOR = 50  # occurrences of an average word added to each, so that rare words stay average
STEEP = 2.0  # a word that starts sentences e² times as often as others has a height of ln 2
CHUNK = 1 << 20  # words counted at once


@dataclass(frozen=True)
class TokenPairs:
    """All pairs (i, j) of a batch: in B sentences, Tq words i look at T words j."""

    ids: NDArray[Any] | None  # (B, T) rows of the vocabulary
    queries: NDArray[np.intp] | None  # (B,) the position of the one word i; None for all words
    length: int  # T of the sentence of i
    cross: bool = False  # cross-attention: j is a word of another sentence
    cache: dict[str, Floats] = field(default_factory=dict)  # what a term needs forward and backward

    @property
    def t_q(self) -> int:
        """Tq, the words of each sentence that look."""
        return self.length if self.queries is None else 1

    @cached_property
    def distance(self) -> NDArray[np.intp] | None:
        """(B or 1, Tq, T) j - i; None in cross-attention."""
        if self.cross:
            return None
        j = np.arange(self.length)
        i = j[None] if self.queries is None else self.queries[:, None]
        return np.asarray(j - i[:, :, None])


@dataclass(frozen=True)
class Term:
    """A number added to each score: learned weights of each head times known facts."""

    name: ClassVar[str]
    meaning: ClassVar[str]  # what it adds, in a few words
    by_head: Floats  # (H or 1, ...) learned weights, a row for each head
    words: Floats | None = None  # (V, ...) known facts about each word

    def bias(self, pairs: TokenPairs, dtype: Any) -> Floats | None:
        """Return what is added, (B or 1, Tq or 1, H or 1, T); None for nothing."""
        raise NotImplementedError

    def backward(self, d_scores: Floats, pairs: TokenPairs) -> Floats:
        """Return the gradient by `by_head`, from the gradient by the scores (B, Tq, H, T)."""
        raise NotImplementedError

    def look_up(self, pairs: TokenPairs, dtype: Any) -> Floats | None:
        """Return the facts about the words of the batch, (B, T, ...)."""
        if self.words is None or pairs.ids is None:
            return None
        return np.asarray(self.words[pairs.ids], dtype)


class Distance(Term):
    """A bias by distance. by_head: (H, 2R+1), the middle is 0, the ends are all that is farther."""

    name: ClassVar[str] = "distance"
    meaning: ClassVar[str] = "a bias for the distance between the two words"

    def bias(self, pairs: TokenPairs, dtype: Any) -> Floats | None:
        """Return the bias of each distance."""
        if pairs.distance is None:
            return None
        table = self.by_head.astype(dtype, copy=False)[:, self._column(pairs.distance)]
        return np.moveaxis(table, 0, -2)  # (H, B, Tq, T) -> (B, Tq, H, T)

    def backward(self, d_scores: Floats, pairs: TokenPairs) -> Floats:
        """Return (H, 2R+1), the sum of the gradients of all scores at each distance."""
        gradient = np.zeros_like(self.by_head)
        if pairs.distance is not None:
            shape = d_scores.shape[:2] + d_scores.shape[3:]
            column = np.broadcast_to(self._column(pairs.distance), shape).ravel()
            for head in range(len(gradient)):
                d_head = d_scores[:, :, head].ravel()
                gradient[head] = np.bincount(column, d_head, gradient.shape[1])
        return gradient

    def _column(self, distance: NDArray[np.intp]) -> NDArray[np.intp]:
        reach = self.by_head.shape[1] // 2
        return np.asarray(np.clip(distance, -reach, reach) + reach)


def decay(slopes: tuple[float, ...], reach: int) -> Floats:
    """Return a bias (H, 2R+1) that falls by the head's slope with each word of distance.

    >>> decay((0.5,), 2)
    array([[-1. , -0.5, -0. , -0.5, -1. ]])
    """
    return -np.array(slopes)[:, None] * np.abs(np.arange(-reach, reach + 1))


class WordBias(Term):
    """A bias by word. by_head: (H or 1, F) weights of features. words: (V, F) the features."""

    name: ClassVar[str] = "word"
    meaning: ClassVar[str] = "a bias for how frequent the attended word is and how long its vector"

    def bias(self, pairs: TokenPairs, dtype: Any) -> Floats | None:
        """Return the weighted sum of each word's features."""
        features = self.look_up(pairs, dtype)  # (B, T, F)
        if features is None:
            return None
        weighted = self.by_head.astype(dtype, copy=False) @ features.swapaxes(1, 2)  # (B, H, T)
        return np.asarray(weighted)[:, None]

    def backward(self, d_scores: Floats, pairs: TokenPairs) -> Floats:
        """Return (H, F), the gradient by the weights of the features."""
        features = self.look_up(pairs, d_scores.dtype)
        assert features is not None
        return np.asarray((d_scores.sum(axis=1) @ features).sum(axis=0))


def damping(frequency: Floats, half: float = 1e-3) -> Floats:
    """Return a feature that makes frequent words count less: log(a / (a + p)).

    >>> damping(np.array([0.0, 1e-3])).round(3)  # a word with p = a counts half
    array([ 0.   , -0.693])
    """
    return np.asarray(np.log(half / (half + frequency)))


def word_features(vectors: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return (V, F): log a/(a+p) for a few a, and the log length of the centred vector."""
    p = counts / max(1, counts.sum())
    length = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1).astype(np.float64)
    log_length = np.log(np.maximum(length, 1e-3) / max(float(length.mean()), 1e-3))
    return np.stack([*(damping(p, a) for a in DAMPING), log_length], axis=1).astype(vectors.dtype)


class Walls(Term):
    """Walls between clauses: a clause begins where a sentence could begin.

    by_head: (H,) how much a wall counts. words: (V,) the height of each word: how much more often
    it starts a sentence than others do. `however`, `she` and `while` are high, `of` is not.
    """

    name: ClassVar[str] = "wall"
    meaning: ClassVar[str] = "a penalty for clause borders between the words"

    def bias(self, pairs: TokenPairs, dtype: Any) -> Floats | None:
        """Return minus the heights between the two words, weighted by head."""
        walls = self._between(pairs, dtype)
        if walls is None:
            return None
        return -self.by_head.astype(dtype, copy=False)[:, None] * walls[:, :, None]

    def backward(self, d_scores: Floats, pairs: TokenPairs) -> Floats:
        """Return (H,), the gradient by each head's weight of walls."""
        walls = self._between(pairs, d_scores.dtype)
        assert walls is not None
        return np.asarray(-np.einsum("bqht,bqt->h", d_scores, walls))

    def _between(self, pairs: TokenPairs, dtype: Any) -> Floats | None:
        """Return `between` (B, Tq, T) of the batch; computed once for all heads."""
        heights = self.look_up(pairs, dtype)
        if heights is None or pairs.cross:
            return None
        if self.name not in pairs.cache:
            pairs.cache[self.name] = sum_between(heights, pairs.queries)
        return pairs.cache[self.name]


def sum_between(heights: Floats, queries: NDArray[np.intp] | None = None) -> Floats:
    """Return the sum of the heights after one word up to another, (B, T) -> (B, Tq, T).

    A wall is before the word that begins a clause.
    queries: (B,) one position a sentence, where only its row is wanted.

    >>> sum_between(np.array([[1.0, 5.0, 2.0, 1.0]]), np.array([1]))
    array([[[5., 0., 2., 3.]]])
    """
    upto = np.cumsum(heights, axis=1)  # (B, T)
    own = upto if queries is None else upto[np.arange(len(upto)), queries][:, None]
    return np.asarray(np.abs(upto[:, None, :] - own[:, :, None]))


def count_heights(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], vocabulary: int, words: int | None = None
) -> Floats:
    """Return heights (V,): softplus(log(P(word starts a sentence) / P(any word does)) - 2).

    ids, offsets: sentences of a corpus; only its first `words` words are counted. Ids past the
    vocabulary are words without a vector.
    """
    end = len(ids) if words is None else min(words, len(ids))
    counts = np.zeros(vocabulary + 1)
    for first in range(0, end, CHUNK):
        chunk = np.minimum(ids[first : min(end, first + CHUNK)], vocabulary)
        counts += np.bincount(chunk, minlength=vocabulary + 1)
    beginnings = offsets[:-1][np.diff(offsets) > 0]
    first_words = np.minimum(ids[beginnings[beginnings < end]], vocabulary)
    starts = np.bincount(first_words, minlength=vocabulary + 1)
    average = max(1, len(first_words)) / max(1, end)
    ratio = (starts + PRIOR * average) / ((counts + PRIOR) * average)
    return np.logaddexp(0, np.log(ratio[:-1]) - STEEP).astype(np.float32)


def sinusoidal(length: int, dim: int, base: float = 10000.0) -> NDArray[np.float64]:
    """Return positions 0 .. length-1 as sine waves of falling frequency (Vaswani et al. 2017).

    Even columns are sin(p / base^(2i/d)), odd ones the cosine of the same angle.

    >>> sinusoidal(2, 2).round(3)
    array([[0.   , 1.   ],
           [0.841, 0.54 ]])
    """
    position = np.arange(length)[:, None]  # (T, 1)
    column = np.arange(dim)[None, :]  # (1, d)
    angle = position / base ** (2 * (column // 2) / dim)  # (T, d)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


TERMS: dict[str, type[Term]] = {term.name: term for term in (Distance, WordBias, Walls)}
