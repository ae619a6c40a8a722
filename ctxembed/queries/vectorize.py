"""Turn sentences into numbers: counts of words, or the mean of their vectors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctxembed.context.columns import SENTENCE, vector_of
from ctxembed.context.representation import Representation
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_representation
from ctxembed.errors import UsageError
from ctxembed.model.bundled import ModelLike, open_model
from ctxembed.model.model import Model
from ctxembed.model.ranges import check_text
from ctxembed.queries.contextualize import contextual_vectors
from ctxembed.queries.tokenize import read_blocks, sentences
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Table, answers
from ctxembed.text.lines import PAUSE
from ctxembed.text.tokenizer import Tokenizer

COUNTED = ("one-hot", "bow", "tfidf")
MAX_COLUMNS = 2000  # of a table
ROW = Column("word", "one-hot: the word of the row; with --sparse, of the column", "label")
WORDS = Column("WORD...", "one-hot, bow and tfidf: a column a word, under its name")
NUMBERS = Column("d1, d2, ...", "the other methods: the vector, in tsv, csv and tables")
VECTOR = Column("vector", "the same as a list, in json and jsonl", "vector")
VALUE = Column("value", "the number, with --sparse")
COLUMN = Column("column", "with --sparse and one-hot, the column of the number", "label")


@dataclass(frozen=True)
class Counts:
    """A sparse matrix of counts with named rows and columns."""

    first: Column  # what a row is: SENTENCE or ROW
    rows: list[str]
    columns: list[str]
    matrix: Any  # (rows, columns) scipy.sparse, CSR

    def table(self, sparse: bool = False) -> Table:
        """Return a table with a column for each word; sparse: a row for each number but 0."""
        if not sparse and len(self.columns) > MAX_COLUMNS:
            many = f"{len(self.columns)} columns are too many for a table"
            raise UsageError(f"{many}; give --sparse for triples, or -o FILE.npz")

        def rows() -> Iterator[tuple[Cell, ...]]:
            for row, name in enumerate(self.rows):
                label, line = int(name) if self.first is SENTENCE else name, self.matrix[row]
                if sparse:
                    line = line.sorted_indices()
                    pairs = zip(line.indices, line.data.tolist(), strict=True)
                    yield from ((label, self.columns[column], value) for column, value in pairs)
                else:
                    yield label, *line.toarray()[0].tolist()

        if sparse:
            return Table((self.first, ROW if self.first is SENTENCE else COLUMN, VALUE), rows)
        names = [f"{name}_" if name == self.first.name else name for name in self.columns]
        return Table((self.first, *WORDS.each(names)), rows)


@answers(SENTENCE, ROW, WORDS, NUMBERS, VECTOR, VALUE, COLUMN)
def vectorize(
    text: str, method: str = "bow", *, columns: Sequence[str] = (), sparse: bool = False,
    model: ModelLike = None, tokenizer: Tokenizer | None = None, encoding: str = "utf-8",
    errors: str = "strict",
) -> Table:  # fmt: skip
    """Return counts (one-hot, bow, tfidf) or mean vectors (static, bag, ...) of each line."""
    if method in COUNTED:
        lines = each_sentence(text, encoding, errors)
        return count_words(lines, method, tokenizer, columns).table(sparse)
    opened = open_model(model)
    representation = Representations.of(opened).get(method)

    def rows() -> Iterator[tuple[Cell, ...]]:
        yield from mean_vectors(opened, representation, each_sentence(text, encoding, errors))

    return Table((SENTENCE, vector_of(opened.dim, VECTOR)), rows)


def encode(
    model: ModelLike, sentences: str | Sequence[str], attention: str | None = None
) -> Floats:
    """Return (n, d) a vector for each sentence, or (d,) for one: of its marked target, `[apple]`,
    or the mean of the contextual vectors of its words. A sentence without known words is NaN.
    """
    check_text("sentences", sentences)
    opened = open_model(model)
    lines = [sentences] if isinstance(sentences, str) else list(sentences)
    representation = choose_representation(Representations.of(opened), attention, None)
    encoded = np.full((len(lines), representation.dim), np.nan, np.float32)
    for marked in (False, True):
        own = [i for i, line in enumerate(lines) if ("[" in line) is marked]
        some = (lines[i] for i in own)
        for number, mean in mean_vectors(opened, representation, some, every_word=not marked):
            encoded[own[number - 1]] = mean
    return encoded[0] if isinstance(sentences, str) else encoded


def mean_vectors(
    model: Model, representation: Representation, lines: Iterable[str], *, every_word: bool = True
) -> Iterator[tuple[int, Floats]]:
    """Yield the number of each line and (d,) the mean vector of its words, or of its targets."""
    for targets, vectors in contextual_vectors(model, representation, lines, every_word=every_word):
        numbers = np.array([target.sentence for target in targets])
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        sizes = np.diff(starts, append=len(numbers))[:, None]
        means = (np.add.reduceat(vectors, starts, axis=0) / sizes).astype(np.float32)
        yield from zip(numbers[starts].tolist(), means, strict=True)


def each_sentence(text: str, encoding: str = "utf-8", errors: str = "strict") -> Iterator[str]:
    """Yield sentences, one for each line; of a pipe, PAUSE where the next has not come yet."""
    for block in read_blocks(text, encoding, errors, True):
        yield from (line for line, _ in sentences([block], True))
        if text == "-":
            yield PAUSE


def count_words(
    sentences: Iterable[str],
    method: str,
    tokenizer: Tokenizer | None = None,
    columns: Sequence[str] = (),
) -> Counts:
    """Return the counts of words in sentences, or of `columns` only: one-hot, bow or tfidf.

    Bag of words and TF-IDF have a row a sentence, named by its number, and their columns in
    alphabetical order; one-hot has a row a word, in order of appearance.
    """
    sentences = (text for text in sentences if text is not PAUSE)
    tokenizer = tokenizer or Tokenizer()
    wanted = [tokenizer.normalise(word) for word in columns]
    for word in wanted:
        if wanted.count(word) > 1:
            raise UsageError(f"--columns: {word!r} is there twice")
    empty = UsageError("nothing to do: there are no words in it")
    if method == "one-hot":
        from scipy.sparse import identity

        words = dict.fromkeys(word for text in sentences for word in tokenizer.words(text))
        if not words:
            raise empty
        for word in wanted:
            if word not in words:
                raise UsageError(f"--columns: {word!r} is not in the text")
        names = wanted or list(words)
        return Counts(ROW, names, names, identity(len(names), dtype=int, format="csr"))
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    kind = CountVectorizer if method == "bow" else TfidfVectorizer
    counter = kind(analyzer=tokenizer.words, vocabulary=wanted or None)
    try:
        matrix = counter.fit_transform(sentences)
    except ValueError as error:
        raise (empty if "empty vocabulary" in str(error) else error) from None
    names = [str(name) for name in counter.get_feature_names_out()]
    numbers = [str(row) for row in range(1, matrix.shape[0] + 1)]
    return Counts(SENTENCE, numbers, names, matrix.tocsr())
