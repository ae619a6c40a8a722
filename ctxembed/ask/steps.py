"""Every matrix of one attention, in full: E, Q, K, V, scores, scaled, weights, output."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.attention.layer import attend
from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.context.representations import Attention, Parsed
from ctxembed.errors import UsageError
from ctxembed.static.space import Floats
from ctxembed.table import Cell, Table

MOST = 200  # words; a larger square is for a script, not for a page


@dataclass(frozen=True)
class Step:
    """One matrix with the names of its rows and columns."""

    name: str
    head: int | None
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats  # (rows, columns)

    def table(self) -> Table:
        """Lay the matrix out as it is."""
        rows: list[tuple[Cell, ...]] = [
            (row, *(None if np.isneginf(v) else float(v) for v in values))
            for row, values in zip(self.rows, self.values, strict=True)
        ]
        return Table((self.title, *self.columns), rows)

    @property
    def title(self) -> str:
        """Name the matrix, and the head it belongs to."""
        return self.name if self.head is None else f"{self.name}_{self.head}"


def steps(
    attention: Attention, parsed: Parsed, *, over: Parsed | None = None, encoding: str = "none"
) -> Iterator[Step]:
    """Yield the matrices of a sentence's attention to itself, or to another sentence."""
    ids = parsed.occurrences[0].ids
    key_ids = ids if over is None else over.occurrences[0].ids
    if max(len(ids), len(key_ids)) > MOST:
        raise UsageError(
            f"--steps prints squares of at most {MOST} words; without it, a target is explained"
        )
    return _steps(attention, parsed, over, encoding)


def _steps(
    attention: Attention, parsed: Parsed, over: Parsed | None, encoding: str
) -> Iterator[Step]:
    ids = parsed.occurrences[0].ids
    key_ids = ids if over is None else over.occurrences[0].ids
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
    if layer.near is not None:
        yield Step("N", None, tokens, dims, attended.asking[:, len(dims) :])
    queries = attended.q.swapaxes(0, 1) if layer.w_q is not None else None  # (H, T, dk)
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


def tidy(matrices: Iterator[Step]) -> Table:
    """Lay all matrices out as one table, a row a number, for scripts."""
    return Table(
        ("step", "head", "row", "row_token", "column", "column_name", "value"),
        (
            (
                m.name,
                m.head,
                i + 1,
                row,
                j + 1,
                column,
                None if np.isneginf(m.values[i, j]) else float(m.values[i, j]),
            )
            for m in matrices
            for i, row in enumerate(m.rows)
            for j, column in enumerate(m.columns)
        ),
    )
