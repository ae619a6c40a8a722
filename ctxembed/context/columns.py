"""Columns that several questions answer with."""

from dataclasses import replace

from ctxembed.table import Column

WORD = Column("word", "the word", "label")
SENTENCE = Column("sentence", "number of the sentence, from 1", "label")
TARGET = Column("target", "the word; apple:2 is the second apple of the sentence", "label")
COUNTS = (
    Column("count_a", "how often the first corpus has it", "aside"),
    Column("count_b", "how often the second has it", "aside"),
)
POSITION = Column("position", "its place among the words as written, from 1")
NUMBERS = Column("d1, d2, ...", "its vector, in tsv, csv and tables")
VECTOR = Column("vector", "its vector as a list, in json and jsonl", "vector")


def vector_of(dim: int, column: Column = VECTOR) -> Column:
    """Return a column of vectors of so many numbers."""
    return replace(column, parts=[f"d{i}" for i in range(1, dim + 1)])
