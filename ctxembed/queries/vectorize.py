"""A text as numbers: one row a sentence, by counts or by vectors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ctxembed.context.columns import SENTENCE, vector_of
from ctxembed.context.representations import Representation, representations_of
from ctxembed.errors import UsageError
from ctxembed.model.bundled import as_model
from ctxembed.model.model import Model
from ctxembed.queries.contextualize import contextual_vectors
from ctxembed.queries.tokenize import read_blocks, sentences
from ctxembed.static.counts import METHODS, count
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Table, answers
from ctxembed.text.tokenizer import Tokenizer

WIDE = 2000  # columns that a table may have
ROW = Column(
    "word", "the word: one-hot has a row a word; with --sparse, the column of the number", "label"
)
WORDS = Column("WORD...", "one-hot, bow and tfidf: a column a word, under its name")
NUMBERS = Column("d1, d2, ...", "the other methods: the vector, in tsv, csv and tables")
VECTOR = Column("vector", "the same as a list, in json and jsonl", "vector")
VALUE = Column("value", "the number, with --sparse")
COLUMN = Column("column", "with --sparse and one-hot, the column of the number", "label")


@dataclass(frozen=True)
class Counts:
    """Named rows and columns, most of the numbers zero."""

    first: Column  # what a row is: SENTENCE or ROW
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
        names = [f"{name}_" if name == self.first.name else name for name in self.columns]
        return Table((self.first, *WORDS.each(names)), self._dense)

    def triples(self) -> Table:
        """Give every number that is not zero a row."""
        last = ROW if self.first is SENTENCE else COLUMN
        return Table((self.first, last, VALUE), self._sparse)

    def _dense(self) -> Iterator[tuple[Cell, ...]]:
        for row, name in enumerate(self.rows):
            yield self._name(name), *self.matrix[row].toarray()[0].tolist()

    def _sparse(self) -> Iterator[tuple[Cell, ...]]:
        matrix = self.matrix.tocsr().sorted_indices()
        for name, (first, last) in zip(self.rows, pairwise(matrix.indptr.tolist()), strict=True):
            found = zip(matrix.indices[first:last], matrix.data[first:last].tolist(), strict=True)
            for column, value in found:
                yield self._name(name), self.columns[column], value

    def _name(self, name: str) -> Cell:
        return int(name) if self.first is SENTENCE else name


@answers(SENTENCE, ROW, WORDS, NUMBERS, VECTOR, VALUE, COLUMN)
def vectorize(
    text: str,
    method: str = "bow",
    *,
    columns: Sequence[str] = (),
    sparse: bool = False,
    model: Model | str | None = None,
    tokenizer: Tokenizer | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> Table:
    """Turn the lines of a file or a text into counts of words, or the mean of their vectors.

    method: one-hot, bow, tfidf; or static, bag, general, learned, which ask a model.
    """
    if method in METHODS:
        texts = each_sentence(text, encoding, errors)
        made = count_words(texts, method, tokenizer, columns)
        return made.triples() if sparse else made.table()
    opened = as_model(model)
    way = representations_of(opened).get(method)

    def rows() -> Iterator[tuple[Cell, ...]]:
        chunks = sentence_vectors(opened, way, each_sentence(text, encoding, errors))
        return (row for chunk in chunks for row in zip(*chunk, strict=True))

    return Table((SENTENCE, vector_of(opened.dim, VECTOR)), rows)


def each_sentence(text: str, encoding: str = "utf-8", errors: str = "strict") -> Iterator[str]:
    """Yield sentences, each line one."""
    blocks = read_blocks(text, encoding, errors, True)
    return (sentence for sentence, _ in sentences(blocks, True))


def count_words(
    sentences: Iterable[str],
    method: str,
    tokenizer: Tokenizer | None = None,
    columns: Sequence[str] = (),
) -> Counts:
    """Count words: one-hot, bow or tfidf."""
    rows, names, matrix = count(method, sentences, tokenizer or Tokenizer(), columns)
    return Counts(ROW if method == "one-hot" else SENTENCE, rows, names, matrix)


def sentence_vectors(
    model: Model, way: Representation, sentences: Iterable[str]
) -> Iterator[tuple[list[int], Floats]]:
    """Yield numbers of sentences and (n, d) the mean of each one's words, a chunk at a time.

    A sentence without a known word is left out.
    """
    chunks = contextual_vectors(model, way, sentences, every_word=True)
    for targets, vectors in chunks:
        numbers = np.array([target.sentence for target in targets])
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        sizes = np.diff(starts, append=len(numbers))[:, None]
        means = np.add.reduceat(vectors, starts, axis=0) / sizes
        yield numbers[starts].tolist(), means.astype(np.float32)
