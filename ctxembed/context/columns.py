"""Columns of the tables of several queries."""

from dataclasses import replace

from ctxembed.table import Chart, Column

WORD = Column("word", "the word", "label")
SENTENCE = Column("sentence", "number of the sentence, from 1", "label")
TARGET = Column("target", "the word; apple:2 is the second apple of the sentence", "label")
TOKEN = Column("token", "a word of the sentence; one without numbers is unknown", "label")
WEIGHT_MEANING = "softmax of the sums of one head, which sum to 1; or the mean over the heads"
WEIGHT = Column("weight", WEIGHT_MEANING, "share", ("sentence", "target", "head"))
COUNTS = (
    Column("count_a", "how often the first corpus has it", "aside"),
    Column("count_b", "how often the second has it", "aside"),
)
POSITION = Column("position", "its place among the words as written, from 1")
NUMBERS = Column("d1, d2, ...", "its vector, in tsv, csv and tables")
VECTOR = Column("vector", "its vector as a list, in json and jsonl", "vector")
DRAWN = ("contribution", "weight")  # what a picture of attention can show
APART = (
    "contribution: how much of the vector comes from a word; weight: how much attention looks at"
    " it, though it may add little"
)
SHADED = Chart("tokens", ["contribution"], "position", ["token"], start="target", note=APART)


def vector_of(dim: int, column: Column = VECTOR) -> Column:
    """Return a column of vectors of length dim."""
    return replace(column, parts=[f"d{i}" for i in range(1, dim + 1)])
