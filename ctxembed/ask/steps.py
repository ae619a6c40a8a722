"""Every matrix of one attention, in full: E, Q, K, V, scores, scaled, weights, output."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ctxembed.attention.layer import attend
from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.context.representations import Attention, Parsed
from ctxembed.errors import UsageError
from ctxembed.static.space import Floats
from ctxembed.table import Cell, Column, Table
from ctxembed.text.index import Ids

MOST = 200  # words; a larger square is for a script, not for a page
HEAD = Column(
    "head", "a number, mean over all heads, or own for what the word itself brings", "label"
)
STEPS = (
    Column("step", "with --steps: the matrix, E Q K V scores scaled weights output", "label"),
    HEAD,
    Column("row", "with --steps: number of the row, from 1"),
    Column("row_token", "with --steps: the word of the row", "label"),
    Column("column", "with --steps: number of the column, from 1"),
    Column("column_name", "with --steps: the word or dimension of the column", "label"),
    Column("value", "with --steps: the number; on a terminal each matrix is laid out"),
)


@dataclass(frozen=True)
class Step:
    """One matrix with the names of its rows and columns."""

    name: str
    head: int | None
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats  # (rows, columns)


def make_steps(
    attention: Attention, parsed: Parsed, *, over: Parsed | None = None, encoding: str = "none"
) -> Iterator[Step]:
    """Yield the matrices of a sentence's attention to itself, or to another sentence."""
    ids = parsed.occurrences[0].ids
    key_ids = ids if over is None else over.occurrences[0].ids
    if max(len(ids), len(key_ids)) > MOST:
        raise UsageError(
            f"--steps prints squares of at most {MOST} words; without it, a target is explained"
        )
    return _steps(attention, parsed, ids, over, key_ids, encoding)


def _steps(
    attention: Attention, parsed: Parsed, ids: Ids, over: Parsed | None, key_ids: Ids, encoding: str
) -> Iterator[Step]:
    tokens = parsed.words
    keys = tokens if over is None else over.words
    x = attention.inputs[ids].astype(np.float64)
    y = attention.inputs[key_ids].astype(np.float64)
    dims = [f"d{i}" for i in range(1, x.shape[1] + 1)]
    yield Step("E", None, tokens, dims, x)
    if encoding == "sinusoidal":
        yield Step("P", None, tokens, dims, sinusoidal(*x.shape))
        x, y = x + sinusoidal(*x.shape), y + sinusoidal(*y.shape)
        yield Step("X", None, tokens, dims, x)
    if over is not None:
        yield Step("E_other", None, keys, dims, y)
    layer = attention.layer
    attended = attend(
        layer, x[None], ids[None], over=None if over is None else (y[None], key_ids[None])
    )
    if layer.looks_twice:
        yield Step("N", None, tokens, dims, attended.looks[1].asking[:, len(dims) :])
    queries = np.concatenate([look.q for look in attended.looks], axis=1).swapaxes(0, 1)
    queries = queries if layer.w_q is not None else None  # (H, T, dk)
    for name, made, words in (
        ("Q", queries, tokens),
        ("K", None if layer.w_k is None else y @ layer.w_k, keys),
        ("V", None if layer.w_v is None else y @ layer.w_v, keys),
    ):
        for head, matrix in enumerate(() if made is None else made, 1):
            small = [f"d{i}" for i in range(1, matrix.shape[1] + 1)]
            yield Step(name, head, words, small, matrix)
    trace = attended.trace()
    for head in range(layer.heads):
        number = head + 1 if layer.heads > 1 else None
        yield Step("scores", number, tokens, keys, trace.scores[0, head])
        yield Step("scaled", number, tokens, keys, trace.scaled[0, head])
        yield Step("weights", number, tokens, keys, attended.weights[0, head])
    yield Step("output", None, tokens, dims, attended.output[0])


def tidy(matrices: Iterable[Step]) -> Iterator[tuple[Cell, ...]]:
    """Yield all matrices as rows of one table, a number each, for scripts."""
    for m in matrices:
        for i, row in enumerate(m.rows):
            for j, column in enumerate(m.columns):
                value = None if np.isneginf(m.values[i, j]) else float(m.values[i, j])
                yield m.name, m.head, i + 1, row, j + 1, column, value


def lay_out(table: Table) -> Iterator[Table]:
    """Lay the matrices of a tidy table out as they are, a table each, under their names."""
    notes = table.notes
    for (name, head), cells in groupby(table.rows, key=lambda row: (row[0], row[1])):
        matrix = [list(line) for _, line in groupby(cells, key=lambda row: row[2])]
        title = Column(str(name) if head is None else f"{name}_{head}", role="label")
        columns = [title, *(Column(str(cell[5])) for cell in matrix[0])]
        yield Table(columns, [(line[0][3], *(cell[6] for cell in line)) for line in matrix], notes)
        notes = []
