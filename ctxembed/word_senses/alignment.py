"""Align two models: put their vectors into one space, over the words that they share."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.presets import general
from ctxembed.context.occurrences import corpus_of, read_windows, sample_positions
from ctxembed.context.representation import Attention, ModelRepresentation
from ctxembed.context.representations import Representations
from ctxembed.context.sides import Sides, sides_of
from ctxembed.errors import ModelError, UnknownWordError
from ctxembed.model.attentions import TOGETHER, read_description
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.function_words import stop_words
from ctxembed.text.tokenizer import MANY, is_content
from ctxembed.word_senses.sense_space import SenseSpace, discriminant_directions

JOINT = "train both with the same --dim, or one space for both texts: shift A.txt B.txt --joint"
MIN_CONTEXT_COUNT = 50  # occurrences in each corpus that a word needs to count as context
MIN_CONTEXT_WORDS = 1000  # the most frequent words count as context, however rare they are


@dataclass(frozen=True)
class Aligned:
    """Two models in one space: the n words they share, and the best rotation between them."""

    sides: Sides
    rows_a: NDArray[np.intp]  # (n,) rows of the shared words in each model
    rows_b: NDArray[np.intp]
    min_count: int = 1
    stopwords: str | None = None  # a file of function words

    @property
    def a(self) -> Model:
        """The first model."""
        return self.sides[0].model

    @property
    def b(self) -> Model:
        """The second model, or the first again."""
        return self.sides[1].model

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(2, n) how often each side has the shared words."""
        rows = (self.rows_a, self.rows_b)
        models = (self.a, self.b)
        return np.array([m.counts[some] for m, some in zip(models, rows, strict=True)])

    @property
    def is_one_model(self) -> bool:
        """Whether both sides are documents of one model."""
        return self.a.whole is not None and self.a.whole is self.b.whole

    @cached_property
    def common(self) -> ModelRepresentation | None:
        """The attention that both models share if they have the same vectors; else None."""
        known = Representations.of(self.a)
        name = known.default()
        if self.is_one_model:
            return known.get(name)
        contents = [model.meta.get("contents") or {} for model in (self.a, self.b)]
        tables = [[files.get(name) for name in ("vocab.txt", "vectors.npy")] for files in contents]
        if None in tables[0] or tables[0] != tables[1]:
            return None
        return known.get(name if self._is_shared(name) else "general")

    @cached_property
    def compared(self) -> ModelRepresentation | None:
        """The representation whose means are compared; the same as `common` without an encoder.

        It tells a changed use apart with fewer occurrences; `common` is the one of `senses`.
        """
        known = Representations.of(self.a)
        is_learned = self.common is not None and self.common.name == "learned"
        if is_learned and known.answer() == TOGETHER and self._is_shared("encoder"):
            return known.get(TOGETHER)
        return self.common

    def _is_shared(self, name: str) -> bool:
        """Return whether both models have the same attention of a name, or both have none."""
        one, other = (
            read_description(m, name).get("contents") if name in m.opened_attentions else None
            for m in (self.a, self.b)
        )
        return self.is_one_model or one == other

    @cached_property
    def rotated(self) -> Floats:
        """(n, d) static vectors of the first model, length 1, rotated into the second's space."""
        units = self.a.units[self.rows_a].astype(np.float64)
        return units if self.common else units @ rotation(units, self.b.units[self.rows_b])

    @cached_property
    def distances(self) -> Floats:
        """(n,) 1 - cosine of each word's two static vectors."""
        cosines = np.einsum("nd,nd->n", self.rotated, self.b.units[self.rows_b])
        return np.asarray(1 - np.clip(cosines, -1, 1))

    @cached_property
    def attention(self) -> Attention:
        """General attention over one table for both corpora: the weighted mean of their vectors.

        The weights are the word's counts: a vector learned from few occurrences is noise, and
        noise in the words of one corpus would look like a difference.
        """
        count_a, count_b = self.counts
        weight = (count_a / np.maximum(1, count_a + count_b))[:, None]
        inputs = unit(weight * self.rotated + (1 - weight) * self.b.units[self.rows_b])
        frequency = (count_a / self.a.tokens + count_b / self.b.tokens) / 2
        return Attention("general", inputs, general("cosine", self.b.dim, frequency=frequency))

    @cached_property
    def shared(self) -> list[NDArray[np.intp]]:
        """For each model, row to number among the shared words (V,); -1 where it is not shared."""
        numbers = [np.full(len(model.vocabulary), -1) for model in (self.a, self.b)]
        for number, rows in zip(numbers, (self.rows_a, self.rows_b), strict=True):
            number[rows] = np.arange(len(rows))
        return numbers

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """(n,) whether a shared word is frequent enough in both corpora to count as context.

        The vector of a rare word was learned from the documents that are compared. It lies near
        the words of those documents, and would tell the corpora apart by itself.
        """
        counts = self.counts.min(axis=0)
        return np.asarray(counts >= min(MIN_CONTEXT_COUNT, np.sort(counts)[-MIN_CONTEXT_WORDS:][0]))

    def find(self, word: str) -> int:
        """Return the number of a shared word; raise UnknownWordError if it is not shared."""
        row = self.a.vocabulary.find(word)
        if row is not None and self.shared[0][row] >= 0:
            return int(self.shared[0][row])
        for model in (self.a, self.b):
            if model.vocabulary.find(word) is None:
                raise UnknownWordError(f"{model.path}: {model.vocabulary.unknown(word)}")
        often = f"{self.min_count} times in both corpora"
        raise UnknownWordError(f"{word!r} does not occur {often}; try --min-count 1")

    @cached_property
    def space(self) -> SenseSpace:
        """The space in which occurrences are compared; the unit is the spread of one word."""
        rng = np.random.default_rng(1)
        drawn = rng.choice(len(self.rows_a), min(200, len(self.rows_a)), replace=False)
        groups = [
            self.embed(side, int(word), self.positions(side, int(word), 6, rng), self.common)
            for word in drawn for side in (0, 1)
        ]  # fmt: skip
        return SenseSpace(self.common or self.attention, *discriminant_directions(groups))

    def vectors(
        self, side: int, word: int, most: int, rng: np.random.Generator
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Return contextual vectors (n, d), of length 1, of a shared word; their documents (n,).

        With clusters, their clusters.
        """
        positions = self.positions(side, word, most, rng)
        units = self.sides[side].units_of(positions)
        return self.embed(side, word, positions, self.compared), units

    def embed(
        self, side: int, word: int, positions: NDArray[np.int64],
        representation: ModelRepresentation | None,
    ) -> Floats:  # fmt: skip
        """Return contextual vectors (n, d), of length 1, of a shared word at positions (n,).

        representation: one of both models; None is general attention over their aligned vectors.
        """
        model, shared = self.sides[side].model, self.shared[side]
        vectors = np.empty((len(positions), model.dim), np.float32 if self.common else np.float64)
        for batch in read_windows(model, positions):
            if representation is None:
                ids = shared[batch.ids]
                is_context = (ids >= 0) & (self.known[ids] | (ids == word))
                batch = replace(batch, ids=np.maximum(ids, 0), mask=batch.mask & is_context)
            vectors[batch.rows] = (representation or self.attention).embed(batch)
        return unit(vectors)

    def positions(
        self, side: int, word: int, most: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return at most `most` positions (n,) of a shared word on a side, drawn at random."""
        rows = (self.rows_a, self.rows_b)[side]
        return sample_positions(self.sides[side].index.positions(int(rows[word])), most, rng)

    @cached_property
    def function_words(self) -> frozenset[str]:
        """The function words of its language, or of the file `stopwords`."""
        vocabulary = self.a.vocabulary
        return stop_words(vocabulary.words, vocabulary.tokenizer.language, self.stopwords)

    @cached_property
    def is_large(self) -> bool:
        """Whether so many words occur that a very frequent one is a function word."""
        return int(np.count_nonzero(self.a.counts)) > MANY

    def is_content(self, word: int) -> bool:
        """Return whether a shared word is a content word, and no number."""
        text = self.a.vocabulary.words[self.rows_a[word]]
        frequency = float(self.counts[0, word]) / max(1, self.a.tokens)
        content = is_content(text, frequency * self.is_large, self.function_words)
        return content and not any(map(str.isdigit, text))


def rotation(x: Floats, y: Floats) -> Floats:
    """Return the orthogonal matrix R (d, d) for which x R comes nearest to y (n, d).

    >>> quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> x = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> rotation(x, x @ quarter).round(6) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    u, _, vt = np.linalg.svd(np.asarray(x, np.float64).T @ y)
    return np.asarray(u @ vt)


def align(a: Model, b: Model, min_count: int = 5) -> Aligned:
    """Return two models aligned over the words that occur min_count times in both."""
    return align_sides(sides_of(a, b), min_count)


def align_sides(sides: Sides, min_count: int = 5, stopwords: str | None = None) -> Aligned:
    """Return two sides aligned over the words that occur min_count times in both."""
    a, b = (side.model for side in sides)
    for model in (a, b):
        corpus_of(model)
    if a.dim != b.dim:
        sizes = f"{a.path} has {a.dim} dimensions and {b.path} {b.dim}"
        raise ModelError(f"{sizes}; {JOINT}")
    words, rows = enumerate(a.vocabulary.words), b.vocabulary.rows
    both = ((row, rows[word]) for row, word in words if word in rows)
    pairs = [(x, y) for x, y in both if min(a.counts[x], b.counts[y]) >= min_count]
    rows_a, rows_b = np.array(pairs, np.intp).reshape(-1, 2).T
    aligned = Aligned(sides, rows_a, rows_b, min_count, stopwords)
    if not len(rows_a) or (aligned.common is None and len(rows_a) < a.dim):
        shared = f"share {len(rows_a)} words that occur {min_count} times in both"
        need = f"{a.dim} dimensions need at least {a.dim} (a lower --min-count or --dim may do)"
        raise ModelError(f"{sides[0].name} and {sides[1].name} {shared}; {need}")
    return aligned
