"""Read the targets of benchmark files as occurrences, and compare their vectors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ctxembed.context.parse import Occurrence, Written
from ctxembed.context.representation import Representation
from ctxembed.errors import CorpusError
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.lines import UTF8, Decoding, numbered_lines

MAX_LINES = 50_000  # of a benchmark file: its items are kept in memory, and resampled


@contextmanager
def expect(columns: str, path: str, line: int) -> Iterator[None]:
    """Report a line that cannot be parsed, with the columns that are expected."""
    try:
        yield
    except (LookupError, ValueError):
        raise CorpusError(f"{path}: line {line}: expected {columns}") from None


class Reader:
    """Turn words between spaces into occurrences; each spelling is looked up once."""

    def __init__(self, model: Model, decoding: Decoding = UTF8) -> None:
        self.model, self.decoding = model, decoding
        self.rows = cache(self._look_up)

    def lines(self, path: str | Path, max_lines: int = MAX_LINES) -> Iterator[tuple[int, str]]:
        """Yield number and text of the non-blank lines of a file."""
        return numbered_lines(path, max_lines, self.decoding)

    def _look_up(self, token: str) -> tuple[int, ...]:
        """Return the vocabulary rows of the words in a token; unknown words are left out."""
        rows = map(self.model.vocabulary.find, self.model.vocabulary.tokenizer.words(token))
        return tuple(row for row in rows if row is not None)

    def item(self, words: Sequence[str], target: range, lemma: str | None = None) -> Occurrence:
        """Return the occurrence of a target; if its form is unknown, its lemma takes its place."""
        before = [row for word in words[: target.start] for row in self.rows(word)]
        inside = self._target(words[target.start : target.stop]) or self._target([lemma or ""])
        after = [row for word in words[target.stop :] for row in self.rows(word)]
        return Occurrence.join(before, inside, after, Written(words, target))

    def _target(self, words: Sequence[str]) -> list[int]:
        """Return the rows of a target, or none if a word of it is unknown."""
        number = sum(len(self.model.vocabulary.tokenizer.words(word)) for word in words)
        rows = [row for word in words for row in self.rows(word)]
        return rows if len(rows) == number else []


@dataclass(frozen=True)
class RandomVectors:
    """The baseline that knows nothing: a random vector for each occurrence."""

    rng: np.random.Generator
    name: str = "random"
    dim: int = 16

    def vectors(self, occurrences: Sequence[object]) -> Floats:
        """Return (n, 16) random vectors."""
        return self.rng.normal(size=(len(occurrences), self.dim)).astype(np.float32)

    alone = vectors


def cosines(
    representation: Representation, one: Sequence[Occurrence], other: Sequence[Occurrence]
) -> Floats:
    """Return (n,) the cosine of each pair of occurrences, NaN where one target is unknown."""
    pairs = (unit(representation.vectors(items)) for items in (one, other))
    return np.asarray(np.einsum("nd,nd->n", *pairs))
