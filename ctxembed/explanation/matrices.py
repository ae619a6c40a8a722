"""The matrices of one attention (E, Q, K, V, scores, terms, sum, weights, output) as tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.terms import TERMS, sinusoidal
from ctxembed.context.parse import Parsed
from ctxembed.context.representation import Attention
from ctxembed.errors import UsageError
from ctxembed.explanation.explanation import encode_positions
from ctxembed.static.space import Space
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Row, Table

MAX_WORDS = 200  # in a sentence
MAX_ROWS = 14  # rows of a matrix on a page; of more, the first and the last
PARAMETERS = {  # of a layer, and what each does
    "W_Q": "the matrix that turns a vector into its query",
    "b_Q": "what is added to every query",
    "W_K": "the matrix that turns a vector into its key",
    "W_V": "the matrix that turns a vector into its value",
    "W_O": "the matrix that turns a sum of values into the output",
}
MASKED = "-inf"  # a page has no empty cells: a column of them would be left out
STEPS = (
    Column("step", "with --steps: E Q K V ... weights output; with --matrices: W_Q ...", "label"),
    Column("head", "a number, mean over all heads, or own: what the word itself brings", "label"),
    Column("row", "with --steps or --matrices: number of the row, from 1"),
    Column("row_token", "the word of the row, or of --matrices its dimension", "label"),
    Column("column", "with --steps or --matrices: number of the column, from 1"),
    Column("column_name", "the word or dimension of the column", "label"),
    Column("value", "the number; on a terminal each matrix is laid out"),
)


@dataclass(frozen=True)
class Step:
    """One matrix with the names of its rows and columns, and its formula."""

    name: str
    formula: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats  # (rows, columns)
    head: int | None = None

    @property
    def title(self) -> str:
        """Its name, with the head if there are several."""
        return self.name if self.head is None else f"{self.name}_{self.head}"

    @property
    def cells(self) -> list[list[float | None]]:
        """Its numbers; None where a word is masked."""
        return [[None if x == -np.inf else x for x in row] for row in self.values.tolist()]


class StepTable(Table):
    """The matrices as rows of one table, a number each; `steps` are the matrices themselves."""

    def __init__(self, steps: Iterable[Step], notes: Sequence[str]) -> None:
        super().__init__(STEPS, self._number_rows, notes)
        self.steps = list(steps)

    def _number_rows(self) -> Iterator[tuple[Cell, ...]]:
        for m in self.steps:
            for i, (row, cells) in enumerate(zip(m.rows, m.cells, strict=True), 1):
                for j, (column, value) in enumerate(zip(m.columns, cells, strict=True), 1):
                    yield m.name, m.head, i, row, j, column, value


def list_parameters(layer: Layer, head: str = "mean") -> Iterator[Step]:
    """Yield the matrices of a layer by head: W_Q, b_Q, W_K, W_V, W_O, as far as it has them.

    head: the number of one head, for its matrices only.
    """
    for at in range(layer.heads):
        if head in ("mean", "each", str(at + 1)):
            number = at + 1 if layer.heads > 1 else None
            for name, formula in PARAMETERS.items():
                matrix = getattr(layer, name.lower())
                if matrix is not None:
                    values = np.atleast_2d(matrix[at]).astype(np.float64)
                    rows = _dimensions(values.T)
                    if layer.looks_twice and name == "W_Q":  # of the word, then of what head 1 saw
                        half = len(rows) // 2
                        rows = [*rows[:half], *(f"n{i}" for i in range(1, half + 1))]
                    rows = rows if name != "b_Q" else ["b"]
                    yield Step(name, formula, rows, _dimensions(values), values, number)


def make_steps(
    attention: Attention,
    parsed: Parsed,
    over: Parsed | None,
    encoding: str,
    head: str,
    *,
    causal: bool = False,
    parameters: bool = False,
) -> Iterator[Step]:
    """Yield the matrices of a sentence's attention to itself, or to another sentence.

    head: the number of one head, for its matrices only. causal: later words are masked.
    parameters: yield the matrices of the layer too.
    """
    if max(len(one.words) for one in (parsed, over or parsed)) > MAX_WORDS:
        raise UsageError(f"--steps prints at most {MAX_WORDS} words; leave it out")
    layer, tokens = attention.layer, parsed.words
    keys = tokens if over is None else over.words
    ids, key_ids = (one.occurrences[0].ids for one in (parsed, over or parsed))
    e = attention.inputs[ids].astype(np.float64)
    x, y = encode_positions(e, encoding), encode_positions(attention.inputs[key_ids], encoding)
    dims = _dimensions(x)
    space, formula = attention.inputs, "the vectors of the words"
    if isinstance(space, Space):
        formula += f"{'' if space.mean is None else ', less the mean of all'}, at length 1"
    yield Step("E", formula, tokens, dims, e)
    mine = theirs = "E"
    if encoding == "sinusoidal":
        waves = sinusoidal(*x.shape)
        yield Step("P", "sine waves for the places", tokens, dims, waves)
        yield Step("X", "E + P", tokens, dims, x)
        mine = theirs = "X"
    if over is not None:
        theirs = "E_other"
        yield Step(theirs, "the words of the other sentence", keys, dims, y)
    other = None if over is None else (y[None], key_ids[None])
    attended = attend(layer, x[None], ids[None], over=other, causal=causal)
    trace = attended.trace()
    asking = mine
    queries = [(look, h) for look in attended.looks for h in range(look.layer.heads)]
    for at, (look, h) in enumerate(queries):
        if look is not attended.looks[0] and h == 0:
            mean = look.query_input[:, x.shape[1] :]
            yield Step("N", f"weights_1 {theirs}, each row at length 1", tokens, dims, mean)
            asking = f"[{mine} ; N]"
        if head not in ("mean", "each", str(at + 1)):
            continue
        number, mark = (at + 1, f"_{at + 1}") if layer.heads > 1 else (None, "")
        left, right = mine, theirs
        if parameters:
            yield from list_parameters(layer, str(at + 1))
        if layer.w_q is not None:
            left, q = f"Q{mark}", look.q[:, min(h, look.q.shape[1] - 1)]
            bias = "" if layer.b_q is None else f" + b_Q{mark}"
            yield Step("Q", f"{asking} W_Q{mark}{bias}", tokens, _dimensions(q), q, number)
        if layer.w_k is not None:
            right, k = f"K{mark}", y @ layer.w_k[at]
            yield Step("K", f"{theirs} W_K{mark}", keys, _dimensions(k), k, number)
        if layer.w_v is not None:
            v = y @ layer.w_v[at]
            yield Step("V", f"{theirs} W_V{mark}", keys, _dimensions(v), v, number)
        formula = f"{left} {right}ᵀ" + (", rows at length 1: cosines" if layer.unit else "")
        yield Step("scores", formula, tokens, keys, trace.scores[0, at], number)
        for name, part in trace.added.items():
            yield Step(name, TERMS[name].meaning, tokens, keys, part[0, at], number)
        added = (f"{name}{mark}" for name in trace.added)
        formula = " + ".join([f"{layer.scale:.4g} scores{mark}", *added])
        formula += ", without later words" if causal else ""
        yield Step("sum", formula, tokens, keys, trace.scaled[0, at], number)
        formula = f"softmax of each row of sum{mark}"
        yield Step("weights", formula, tokens, keys, attended.weights[0, at], number)
    yield Step("output", _mixture(layer, mine, theirs), tokens, dims, attended.output[0])


def _dimensions(matrix: Floats) -> list[str]:
    return [f"d{i}" for i in range(1, matrix.shape[1] + 1)]


def _mixture(layer: Layer, mine: str, theirs: str) -> str:
    """Return the formula of the output."""
    mark = "_h" if layer.heads > 1 else ""
    value = f"weights{mark} {theirs if layer.w_v is None else f'V{mark}'}"
    if layer.w_o is not None:
        value += f" W_O{mark}"
    if mark:
        value = f"{'the sum' if layer.w_o is not None else 'the mean'} over h of {value}"
    if layer.share != 1:
        value = f"{layer.share:.4g} of {value}" if mark else f"{layer.share:.4g} {value}"
    return f"{layer.own:.4g} {mine} + {value}" if layer.own else value


def lay_out(table: StepTable, width: int, digits: int) -> Iterator[Table]:
    """Yield a table for each matrix, with its formula as title; the middle of a large one is cut.

    The other formats and FILE.npz have the whole matrices.
    """
    notes = table.notes
    for step in table.steps:
        number, dim = step.values.shape
        cells = step.cells
        label = max(map(len, [step.title, *step.rows]))
        printed = (f"{cell:.{digits}f}" for row in cells for cell in row if cell)
        wide = max(map(len, [*step.columns, *printed]), default=0)
        columns = _cut_middle(dim, max(3, (width - label) // (wide + 2)))
        named = [Column("…", role="text") if j < 0 else Column(step.columns[j]) for j in columns]
        rows: list[Row] = [
            [
                "…" if i < 0 else step.rows[i],
                *(
                    "…" if i < 0 or j < 0 else MASKED if cells[i][j] is None else cells[i][j]
                    for j in columns
                ),
            ]
            for i in _cut_middle(number, MAX_ROWS)
        ]
        title = f"{step.title} = {step.formula} ({number} × {dim})"
        yield Table([Column(step.title, role="label"), *named], rows, notes, title=title)
        notes = []


def _cut_middle(number: int, most: int) -> list[int]:
    """Return the indices that are shown, -1 for those in the middle that are not.

    >>> _cut_middle(3, 4), _cut_middle(9, 4)
    ([0, 1, 2], [0, 1, -1, 8])
    """
    return list(range(number)) if number <= most else [*range(most - 2), -1, number - 1]
