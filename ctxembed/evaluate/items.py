"""Occurrences from benchmark files, and every representation's vectors of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from ctxembed.context.representations import Context, Occurrence
from ctxembed.errors import CorpusError, read_failure
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model


@dataclass(frozen=True)
class Item:
    """A target in its sentence: as words, and as the model knows them (None: target unknown)."""

    words: Sequence[str]
    target: range
    occurrence: Occurrence | None


@dataclass
class Reader:
    """Turns words between spaces into items; each spelling is looked up once."""

    model: Model
    known: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def rows(self, token: str) -> tuple[int, ...]:
        """Return the rows of the words in a token; those that are unknown are left out."""
        found = self.known.get(token)
        if found is None:
            words = self.model.tokenizer.words(token)
            rows = (self.model.find(word) for word in words)
            found = self.known[token] = tuple(row for row in rows if row is not None)
        return found

    def item(self, words: Sequence[str], target: range, lemma: str | None = None) -> Item:
        """Place a target; where its form is unknown, its lemma stands for it."""
        rows = self.known.get
        before = [row for word in words[: target.start] for row in rows(word) or self.rows(word)]
        inside = self._target(words[target.start : target.stop]) or self._target([lemma or ""])
        after = [row for word in words[target.stop :] for row in rows(word) or self.rows(word)]
        if not inside:
            return Item(words, target, None)
        ids = np.array([*before, *inside, *after], np.int32)
        return Item(words, target, Occurrence(ids, range(len(before), len(before) + len(inside))))

    def _target(self, words: Sequence[str]) -> list[int]:
        """Return the rows of a target, or none if a word of it is unknown."""
        number = sum(len(self.model.tokenizer.words(word)) for word in words)
        found = [row for word in words for row in self.rows(word)]
        return found if len(found) == number else []


class Way(Protocol):
    """A representation: vectors (n, d) of items, NaN where it has none."""

    @property
    def name(self) -> str:
        """What the row is called."""

    def embed_items(self, items: Sequence[Item]) -> Floats:
        """Return the vectors."""


@dataclass(frozen=True)
class Ours:
    """A representation of the model."""

    context: Context
    name: str

    def embed_items(self, items: Sequence[Item]) -> Floats:
        """Return (n, d) vectors."""
        vectors = np.full((len(items), self.context.model.dim), np.nan, np.float32)
        known = [row for row, item in enumerate(items) if item.occurrence is not None]
        if known:
            there = [item.occurrence for item in items if item.occurrence is not None]
            vectors[known] = self.context.get(self.name).vectors(there)
        return vectors


@dataclass(frozen=True)
class Chance:
    """A vector that says nothing: drawn anew for each occurrence."""

    rng: np.random.Generator
    name: str = "random"

    def embed_items(self, items: Sequence[Item]) -> Floats:
        """Return (n, 16) random vectors."""
        return self.rng.normal(size=(len(items), 16)).astype(np.float32)


def ways(model: Model, seed: int, encoders: Sequence[Way] = ()) -> list[Way]:
    """List what is scored: chance, the baselines, what the model has learned, encoders."""
    context = Context(model)
    ours: list[Way] = [Ours(context, name) for name in context.names()]
    return [Chance(np.random.default_rng([seed, 1])), *ours, *encoders]


def units(way: Way, items: Sequence[Item]) -> Floats:
    """Return (n, d) vectors of length 1."""
    return unit(way.embed_items(items))


def cosines(way: Way, one: Sequence[Item], other: Sequence[Item]) -> Floats:
    """Return (n,) the cosine of each two items, NaN where one is unknown."""
    return np.asarray(np.einsum("nd,nd->n", units(way, one), units(way, other)))


def lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines of a file that say anything."""
    from ctxembed.text.corpus import open_bytes

    with open_bytes(str(path)) as file:
        try:
            for number, raw in enumerate(file, 1):
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise CorpusError(f"{path}: line {number}: byte 0x{byte:02x} is not utf-8") from None
        except OSError as error:
            raise CorpusError(read_failure(path, error)) from None
