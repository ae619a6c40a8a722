"""Pseudowords from the corpus: pairs of words, occurrences of each: whole, far or spliced."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.association import count_neighbors
from ctxembed.stats.k_means import k_means, nearest
from ctxembed.stats.vectors import Floats

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
CHUNK = 1 << 20  # tokens read at once
FREQUENT = 100  # the most frequent words: those beside a word give its class; filler
MAX_TOKENS = 1 << 23  # read for the classes of words


@dataclass(frozen=True)
class Occurrences:
    """Where each word occurs in one part of a corpus: word w at positions[first[w] : last[w]]."""

    ids: Ints  # (N,) the corpus; ids of words without a vector are not below `vocabulary`
    offsets: Ints  # (S+1,) where sentences begin
    vocabulary: int
    positions: Ints  # of all words, word by word, in the order of the text
    first: Ints  # (V,)
    last: Ints  # (V,)

    def counts(self) -> Ints:
        """(V,) how often each word occurs in this part."""
        return self.last - self.first


def split_corpus(
    ids: Ints, offsets: Ints, positions: Ints, starts: Ints, held_out: float
) -> tuple[Occurrences, Occurrences]:
    """Return the occurrences in the part to learn from, and in the held-out end of a corpus."""
    sentences = len(offsets) - 1
    cut = int(offsets[max(1, int(sentences * (1 - held_out)))]) if sentences > 1 else len(ids)
    vocabulary = len(starts) - 1
    first, last = np.asarray(starts[:-1]), np.asarray(starts[1:])
    middle = first.copy()  # after the last position of each word before the cut
    for begin in range(0, len(positions), CHUNK):
        before = begin + np.flatnonzero(positions[begin : begin + CHUNK] < cut)
        middle += np.bincount(np.searchsorted(last, before, side="right"), minlength=vocabulary)
    whole = Occurrences(ids, offsets, vocabulary, positions, first, last)
    return replace(whole, last=middle), replace(whole, first=middle)


def word_classes(occurrences: Occurrences, rng: np.random.Generator, classes: int) -> Ints:
    """Return each word's class (V,): words with the same frequent words right before and after.

    Two senses of one word have the same part of speech, two random words mostly do not: pairs from
    one class teach attention what a sentence is about, not which part of speech fits.
    """
    counts = occurrences.counts()
    size, offsets = occurrences.vocabulary, np.asarray(occurrences.offsets)
    read = offsets[: np.searchsorted(offsets, MAX_TOKENS, side="right")]  # of whole sentences
    beside = count_neighbors(occurrences.ids, read, size, min(FREQUENT, size))  # (2, V, f+1)
    fractions = beside / np.maximum(beside.sum(axis=2, keepdims=True), 1)
    profile = np.sqrt(np.concatenate(fractions, axis=1).astype(np.float32))  # (V, 2 (f+1))
    weight = np.sqrt(counts)
    seen = np.flatnonzero(counts >= min(50, int(counts.max())))
    k = max(1, min(classes, len(seen) // 50))
    chance = weight[seen] / weight[seen].sum()
    centres = profile[rng.choice(seen, k, replace=False, p=chance)]
    return nearest(profile, k_means(profile[seen], centres, weights=weight[seen], steps=15))


def nearest_words(x: Floats, occurrences: Occurrences, size: int) -> Ints:
    """Return each word with its nearest words (V, 1 + size): together they stand for one sense.

    Only frequent words have relatives or are one; in other rows the word itself is repeated.
    """
    relatives = np.repeat(np.arange(len(x))[:, None], 1 + size, axis=1)
    counts = occurrences.counts()
    often = np.flatnonzero(counts >= 50)
    often = often[np.argsort(-counts[often], kind="stable")[:20_000]]
    if not size or len(often) <= 10 * size:
        return relatives
    for rows in np.array_split(often, len(often) // 500 + 1):
        cosine = x[rows] @ x[often].T
        best = np.argpartition(-cosine, size + 1, axis=1)[:, : size + 1]  # the word itself is one
        relatives[rows] = often[best]
    return relatives


@dataclass(frozen=True)
class Batch:
    """G pseudowords; row r of the sentences belongs to pair r // 2R, word r // R % 2."""

    pairs: Ints  # (G, 2)
    sentences: Ints  # (N, T) ids, 0 after the end
    target: Ints  # (N,)
    length: Ints  # (N,)


@dataclass(frozen=True)
class Sampler:
    """Draws words by a flattened frequency, so that neither `the` nor rare words fill the batch."""

    occurrences: Occurrences
    classes: Ints  # (V,) words are paired within a class
    relatives: Ints  # (V, 1 + n) words that may be drawn for each word
    plain: int = 6  # whole occurrences of each word
    spliced: int = 2
    window: int = 24  # words each side of a whole occurrence
    far: float = 0.0  # share of the whole ones whose context is moved away behind filler
    filler: int = 16  # at most so many frequent words on each side of the target
    clause: tuple[int, int] = (3, 8)  # range of words each side of a spliced one
    begun: float = 0.5  # share of the spliced ones whose second clause begins as its sentence did
    beginning: int = 14  # words before the target among which a sentence may begin
    flatten: float = 1e-4
    min_count: int = 20  # occurrences that a word must have

    @cached_property
    def frequent(self) -> Ints:
        """The most frequent words."""
        return np.argsort(-self.occurrences.counts(), kind="stable")[:FREQUENT]

    def cumulative_weights(self) -> Floats:
        """Return (V,) the running sum of the words' sampling weights; 0 is added for rare words."""
        n = self.occurrences.counts().astype(np.float64)
        p = n / max(1.0, n.sum())
        thin = np.minimum(1, np.sqrt(self.flatten / (p + 1e-30)))
        return np.cumsum(np.where(n >= self.min_count, n * thin, 0))

    def draw(self, cumulative: Floats, pairs: int, rng: np.random.Generator) -> Batch:
        """Return pairs of words, drawn by cumulative weights (V,), and sentences of both."""
        words = np.searchsorted(cumulative, rng.random(2 * pairs) * cumulative[-1], side="right")
        words = words[np.argsort(self.classes[words], kind="stable")].reshape(pairs, 2)
        words = words[words[:, 0] != words[:, 1]]  # (G, 2)
        repeats = self.plain + self.spliced
        a = np.repeat(words.ravel(), repeats)  # (N,)
        b = np.repeat(words[:, ::-1].ravel(), repeats)
        cut = np.tile(np.arange(repeats) >= self.plain, words.size)
        return Batch(words, *self.assemble(self._pick(a, rng), self._pick(b, rng), cut, rng))

    def _pick(self, words: Ints, rng: np.random.Generator) -> Ints:
        """Return the position of an occurrence of each word, or of one of its relatives."""
        o = self.occurrences
        words = self.relatives[words, rng.integers(0, self.relatives.shape[1], len(words))]
        n = o.last[words] - o.first[words]
        chosen = o.first[words] + (rng.random(len(words)) * n).astype(np.int64)
        return np.asarray(o.positions[chosen])

    def assemble(
        self, a: Ints, b: Ints, cut: Bools, rng: np.random.Generator
    ) -> tuple[Ints, Ints, Ints]:
        """Return sentences around positions a (N,); where cut, short, with a clause around b."""
        number, (low, high) = len(a), self.clause
        own_to, other_to = rng.integers(low, high + 1, (2, number))
        before = rng.random(number) < 0.5  # whether the other clause comes first
        begun = cut & (rng.random(number) < self.begun)  # the second clause begins its sentence
        second = np.where(begun, self.beginning, 0)
        own_from = np.where(begun, np.where(before, second, high), own_to)
        other_from = np.where(begun, np.where(before, high, second), other_to)
        back, ahead = (np.where(cut, reach, self.window) for reach in (own_from, own_to))
        own, is_own = self._around(a, self.window, back, ahead)
        clause, is_clause = self._around(b, self.beginning, other_from, other_to)
        is_clause &= cut[:, None]
        is_clause[:, self.beginning] = False  # the other target itself is left out
        filler, is_filler = self._draw_filler(~cut, rng)
        before, ends = before[:, None], [self.window, self.window + 1]
        (left, target, right), inside = (np.split(x, ends, axis=1) for x in (own, is_own))
        ids = np.concatenate([clause, left, filler[0], target, filler[1], right, clause], axis=1)
        clauses = is_clause & before, is_clause & ~before
        parts = clauses[0], inside[0], is_filler[0], inside[1], is_filler[1], inside[2], clauses[1]
        there = np.concatenate(parts, axis=1)
        column = np.cumsum(there, axis=1) - 1
        length = there.sum(axis=1)
        sentences = np.zeros((number, int(length.max())), np.intp)
        row, col = np.nonzero(there)
        sentences[row, column[row, col]] = ids[row, col]
        target_column = 2 * self.beginning + 1 + self.window + self.filler
        return sentences, column[:, target_column], length

    def _draw_filler(self, whole: Bools, rng: np.random.Generator) -> tuple[Ints, Bools]:
        """Return frequent words (2, N, filler) for both sides, and which of them are used.

        Of a context behind filler attention learns to look past words that say nothing.
        """
        if not self.far:
            shape = 2, len(whole), self.filler
            return np.zeros(shape, np.intp), np.zeros(shape, np.bool_)
        far = whole & (rng.random(len(whole)) < self.far)
        used = rng.integers(0, self.filler + 1, (2, len(far))) * far
        words = rng.choice(self.frequent, (2, len(far), self.filler))
        return words, np.arange(self.filler) < used[:, :, None]

    def _around(self, positions: Ints, width: int, back: Ints, ahead: Ints) -> tuple[Ints, Bools]:
        """Return the words up to `width` each side, and which are in reach and in the sentence."""
        ids, offsets = self.occurrences.ids, self.occurrences.offsets
        step = np.arange(-width, width + 1)
        at = positions[:, None] + step
        sentence = np.searchsorted(offsets, positions, side="right") - 1
        inside = (at >= offsets[sentence][:, None]) & (at < offsets[sentence + 1][:, None])
        words = ids[np.clip(at, 0, len(ids) - 1)]
        near = (step >= -back[:, None]) & (step <= ahead[:, None])
        return words, inside & near & (words < self.occurrences.vocabulary)
