"""Occurrences from benchmark files, and every representation's vectors of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ctxembed.context.parse import Occurrence, Written
from ctxembed.context.representations import Representation, representations_of
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit

MOST = 50_000  # lines of a benchmark: its items are kept in memory, and resampled


class Reader:
    """Turns words between spaces into items; each spelling is looked up once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.rows = cache(self._look_up)

    def _look_up(self, token: str) -> tuple[int, ...]:
        """Return the rows of the words in a token; those that are unknown are left out."""
        found = map(self.model.vocabulary.find, self.model.vocabulary.tokenizer.words(token))
        return tuple(row for row in found if row is not None)

    def item(self, words: Sequence[str], target: range, lemma: str | None = None) -> Occurrence:
        """Place a target; where its form is unknown, its lemma stands for it."""
        before = [row for word in words[: target.start] for row in self.rows(word)]
        inside = self._target(words[target.start : target.stop]) or self._target([lemma or ""])
        after = [row for word in words[target.stop :] for row in self.rows(word)]
        ids = np.array([*before, *inside, *after], np.int32)
        there = range(len(before), len(before) + len(inside))
        return Occurrence(ids, there, Written(words, target))

    def _target(self, words: Sequence[str]) -> list[int]:
        """Return the rows of a target, or none if a word of it is unknown."""
        number = sum(len(self.model.vocabulary.tokenizer.words(word)) for word in words)
        found = [row for word in words for row in self.rows(word)]
        return found if len(found) == number else []


@dataclass(frozen=True)
class Chance:
    """A vector that says nothing: drawn anew for each occurrence."""

    rng: np.random.Generator
    name: str = "random"
    dim: int = 16

    def vectors(self, asked: Sequence[object]) -> Floats:
        """Return (n, 16) random vectors."""
        return self.rng.normal(size=(len(asked), self.dim)).astype(np.float32)

    alone = vectors


def list_scored(
    model: Model, seed: int, encoders: Sequence[Representation] = ()
) -> list[Representation]:
    """List what is scored: chance, the baselines, what the model has learned, encoders."""
    representations = representations_of(model)
    ours = [representations.get(name) for name in representations.names()]
    return [Chance(np.random.default_rng([seed, 1])), *ours, *encoders]


def units(way: Representation, items: Sequence[Occurrence]) -> Floats:
    """Return (n, d) vectors of length 1."""
    return unit(way.vectors(items))


def cosines(way: Representation, one: Sequence[Occurrence], other: Sequence[Occurrence]) -> Floats:
    """Return (n,) the cosine of each two items, NaN where one is unknown."""
    return np.asarray(np.einsum("nd,nd->n", units(way, one), units(way, other)))
