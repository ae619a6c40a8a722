"""A text as numbers: one row a sentence, by counts or by vectors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctxembed.ask.contextualize import contextualize
from ctxembed.context.representations import Representation
from ctxembed.errors import UsageError
from ctxembed.static.counts import METHODS, count
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.table import Cell, Table
from ctxembed.text.tokenizer import Tokenizer

WIDE = 2000  # columns that a table may have


@dataclass(frozen=True)
class Counts:
    """Named rows and columns, most of the numbers zero."""

    first: str  # what a row is: "sentence" or "word"
    rows: list[str]
    columns: list[str]
    matrix: Any  # (rows, columns) scipy.sparse, CSR

    def table(self) -> Table:
        """Give every number a column."""
        if len(self.columns) > WIDE:
            raise UsageError(
                f"{len(self.columns)} columns are too many for a table; give --sparse for triples,"
                " or -o FILE.npz"
            )
        names = [f"{name}_" if name == self.first else name for name in self.columns]
        return Table((self.first, *names), self._dense())

    def triples(self) -> Table:
        """Give every number that is not zero a row."""
        last = "word" if self.first == "sentence" else "column"
        return Table((self.first, last, "value"), self._sparse())

    def _dense(self) -> Iterator[tuple[Cell, ...]]:
        for row, name in enumerate(self.rows):
            yield self._name(name), *self.matrix[row].toarray()[0].tolist()

    def _sparse(self) -> Iterator[tuple[Cell, ...]]:
        for row, name in enumerate(self.rows):
            one = self.matrix[row]
            order = np.argsort(one.indices)
            for place in order:
                yield self._name(name), self.columns[one.indices[place]], one.data[place].item()

    def _name(self, name: str) -> Cell:
        return int(name) if self.first == "sentence" else name


def vectorize(
    sentences: Iterable[str],
    method: str,
    tokenizer: Tokenizer | None = None,
    columns: Sequence[str] = (),
) -> Counts:
    """Count words: one-hot, bow or tfidf."""
    if method not in METHODS:
        raise UsageError(f"method {method!r}: one of {', '.join(METHODS)}")
    rows, names, matrix = count(method, sentences, tokenizer or Tokenizer(), columns)
    return Counts("word" if method == "one-hot" else "sentence", rows, names, matrix)


def sentence_vectors(
    model: Model, way: Representation, sentences: Iterable[str]
) -> Iterator[tuple[list[int], Floats]]:
    """Yield numbers of sentences and (n, d) the mean of each one's words, a chunk at a time.

    A sentence without a known word is left out.
    """
    chunks = contextualize(model, way, sentences, every_word=True)
    for targets, vectors in chunks:
        numbers = np.array([target.sentence for target in targets])
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        sizes = np.diff(starts, append=len(numbers))[:, None]
        means = np.add.reduceat(vectors, starts, axis=0) / sizes
        yield numbers[starts].tolist(), means.astype(np.float32)


def vector_table(chunks: Iterable[tuple[list[int], Floats]], dim: int) -> Table:
    """Tabulate the vectors of sentences."""
    return Table(
        ("sentence", *(f"d{i}" for i in range(1, dim + 1))),
        (
            (number, *vector.tolist())
            for numbers, vectors in chunks
            for number, vector in zip(numbers, vectors, strict=True)
        ),
    )
