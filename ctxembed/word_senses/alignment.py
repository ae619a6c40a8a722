"""Two models in one space, over the words that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.presets import general
from ctxembed.context.hits import find_each
from ctxembed.context.occurrences import corpus_of, read, sample
from ctxembed.context.representations import Attention, Ours, representations_of, vectors_at
from ctxembed.errors import ModelError, UnknownWordError
from ctxembed.model.attentions import read_description
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.function_words import MANY, is_content
from ctxembed.word_senses.sense_space import SenseSpace, tell_apart

RARE = 50  # occurrences in each corpus below which a word is no context
SOME = 1000  # words that are context however rare they are, the most frequent ones


@dataclass(frozen=True)
class Aligned:
    """Two models in one space: the words they share, and the rotation that fits them best."""

    a: Model
    b: Model
    rows_a: NDArray[np.intp]  # (n,) rows of the shared words in each model
    rows_b: NDArray[np.intp]
    min_count: int = 1

    @cached_property
    def ready(self) -> Ours | None:
        """The attention of both models, where they have the same vectors and the same attention.

        These were learned from neither corpus, so nothing in them can tell the corpora apart.
        """
        said = [model.meta.get("contents") or {} for model in (self.a, self.b)]
        tables = [[files.get(name) for name in ("vocab.txt", "vectors.npy")] for files in said]
        if None in tables[0] or tables[0] != tables[1]:
            return None
        name = representations_of(self.a).default()
        layers = [
            read_description(model, name).get("contents") if name in model.held else None
            for model in (self.a, self.b)
        ]
        return representations_of(self.a).get(name if layers[0] == layers[1] else "general")

    @cached_property
    def turned(self) -> Floats:
        """(n, d) static vectors of the first model, length 1, turned into the second's space."""
        units = self.a.units[self.rows_a].astype(np.float64)
        return units if self.ready else units @ rotation(units, self.b.units[self.rows_b])

    @cached_property
    def distances(self) -> Floats:
        """(n,) 1 - cosine of each word's two static vectors."""
        cosines = np.einsum("nd,nd->n", self.turned, self.b.units[self.rows_b])
        return np.asarray(1 - np.clip(cosines, -1, 1))

    @cached_property
    def attention(self) -> Attention:
        """General attention over one table for both corpora: the mean of the models' vectors.

        Each counts as often as its corpus has the word: a vector learned from few occurrences is
        noise, and noise in the words of one corpus would look like a difference.
        """
        of_a, of_b = self.a.counts[self.rows_a], self.b.counts[self.rows_b]
        share = (of_a / np.maximum(1, of_a + of_b))[:, None]
        inputs = unit(share * self.turned + (1 - share) * self.b.units[self.rows_b])
        frequency = (of_a / self.a.tokens + of_b / self.b.tokens) / 2
        return Attention("general", inputs, general("cosine", self.b.dim, frequency=frequency))

    @cached_property
    def shared(self) -> list[NDArray[np.intp]]:
        """For each model, row to place among the shared words (V,); -1 where it is not shared."""
        places = []
        for model, rows in ((self.a, self.rows_a), (self.b, self.rows_b)):
            place = np.full(len(model.vocabulary), -1)
            place[rows] = np.arange(len(rows))
            places.append(place)
        return places

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """(n,) whether both corpora have a shared word often enough that it counts as context.

        The vector of a rare word was learned from the very documents that are compared: it leans
        to the words it stands with there, and would tell the corpora apart by itself.
        """
        least = np.minimum(self.a.counts[self.rows_a], self.b.counts[self.rows_b])
        return np.asarray(least >= min(RARE, np.sort(least)[-SOME:][0]))

    @cached_property
    def places(self) -> dict[str, int]:
        """Shared word to its place among them."""
        return {self.a.vocabulary.words[row]: place for place, row in enumerate(self.rows_a)}

    def place(self, word: str) -> int:
        """Return the place of a word that must be shared."""
        place = self.places.get(self.a.vocabulary.spelling(word))
        if place is None:
            for model in (self.a, self.b):
                if model.vocabulary.find(word) is None:
                    raise UnknownWordError(f"{model.path}: {model.vocabulary.unknown(word)}")
            raise UnknownWordError(
                f"{word!r} does not occur {self.min_count} times in both corpora; try --min-count 1"
            )
        return place

    def keep_known(self, words: Sequence[str]) -> tuple[list[int], list[str]]:
        """Return the places of the words both share, and what to say of the others."""
        return find_each(words, self.place)

    @cached_property
    def space(self) -> SenseSpace:
        """Where occurrences are told apart: one step is the usual spread of a word in a corpus."""
        rng = np.random.default_rng(1)
        drawn = rng.choice(len(self.rows_a), min(200, len(self.rows_a)), replace=False)
        groups = [self.vectors(side, int(word), 6, rng)[0] for word in drawn for side in (0, 1)]
        return SenseSpace(self.ready or self.attention, *tell_apart(groups))

    def vectors(
        self, side: int, word: int, most: int, rng: np.random.Generator
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Return contextual vectors (n, d), of length 1, of a shared word, and their documents."""
        model, rows = ((self.a, self.rows_a), (self.b, self.rows_b))[side]
        shared, index = self.shared[side], corpus_of(model)
        places = sample(index.positions(int(rows[word])), most, rng)
        if self.ready is not None:
            return unit(vectors_at(model, self.ready, places)), index.document_of(places)
        vectors: Floats = np.empty((len(places), self.b.dim))
        for batch in read(model, places):
            ids = shared[batch.ids]
            looks = (ids >= 0) & (self.known[ids] | (ids == word))
            known = replace(batch, ids=np.maximum(ids, 0), mask=batch.mask & looks)
            vectors[batch.rows] = self.attention.embed(known)
        return unit(vectors), index.document_of(places)

    def is_content(self, word: int) -> bool:
        """Tell whether a shared word carries content."""
        row, large = int(self.rows_a[word]), len(self.a.vocabulary.words) > MANY
        share = float(self.a.counts[row]) / max(1, self.a.tokens)
        return is_content(self.a.vocabulary.words[row], share * large)


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
    """Find the words that both models have seen often enough."""
    for model in (a, b):
        corpus_of(model)
    if a.dim != b.dim:
        raise ModelError(
            f"{a.path} has {a.dim} dimensions and {b.path} {b.dim}; train both with the same --dim"
        )
    pairs = [
        (row, b.vocabulary.rows[word])
        for row, word in enumerate(a.vocabulary.words)
        if word in b.vocabulary.rows
        and min(a.counts[row], b.counts[b.vocabulary.rows[word]]) >= min_count
    ]
    rows_a, rows_b = np.array(pairs, np.intp).reshape(-1, 2).T
    aligned = Aligned(a, b, rows_a, rows_b, min_count)
    if not pairs or (aligned.ready is None and len(pairs) < a.dim):
        raise ModelError(
            f"{a.path} and {b.path} share {len(pairs)} words that occur {min_count} times in both;"
            f" {a.dim} dimensions need at least {a.dim} (a lower --min-count or --dim may do)"
        )
    return aligned
