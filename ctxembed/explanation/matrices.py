"""Every matrix of one attention: E, Q, K, V, scores, what is added, sum, weights, output."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.context.parse import Parsed
from ctxembed.context.representations import Attention
from ctxembed.errors import UsageError
from ctxembed.explanation.explained_target import STEPS, encode_places
from ctxembed.static.space import Space
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Table

MOST = 200  # words; a larger square is for a script, not for a page
ROWS = 14  # rows of a matrix on a page; of more, the first and the last


@dataclass(frozen=True)
class Step:
    """One matrix with the names of its rows and columns, and how it is made."""

    name: str
    formula: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats  # (rows, columns)
    head: int | None = None

    @property
    def title(self) -> str:
        """Its name, with the head where there are several."""
        return self.name if self.head is None else f"{self.name}_{self.head}"

    @property
    def cells(self) -> list[list[float | None]]:
        """Its numbers; None where a word may not look."""
        return [[None if x == -np.inf else x for x in row] for row in self.values.tolist()]


class StepTable(Table):
    """The matrices as rows of one table, a number each; and as they are, to be laid out."""

    def __init__(self, steps: Iterable[Step], notes: Sequence[str]) -> None:
        super().__init__(STEPS, self._numbers, notes)
        self.steps = list(steps)

    def _numbers(self) -> Iterator[tuple[Cell, ...]]:
        for m in self.steps:
            for i, (row, cells) in enumerate(zip(m.rows, m.cells, strict=True), 1):
                for j, (column, value) in enumerate(zip(m.columns, cells, strict=True), 1):
                    yield m.name, m.head, i, row, j, column, value


def make_steps(
    attention: Attention, parsed: Parsed, over: Parsed | None, encoding: str, head: str
) -> Iterator[Step]:
    """Yield the matrices of a sentence's attention to itself, or to another sentence.

    head: the number of one head, where only its matrices are wanted.
    """
    if max(len(one.words) for one in (parsed, over or parsed)) > MOST:
        raise UsageError(
            f"--steps prints squares of at most {MOST} words; without it, a target is explained"
        )
    layer, tokens = attention.layer, parsed.words
    keys = tokens if over is None else over.words
    ids, key_ids = (one.occurrences[0].ids for one in (parsed, over or parsed))
    e = attention.inputs[ids].astype(np.float64)
    x, y = encode_places(e, encoding), encode_places(attention.inputs[key_ids], encoding)
    dims = _dimensions(x)
    yield Step("E", _inputs(attention), tokens, dims, e)
    mine = theirs = "E"
    if encoding == "sinusoidal":
        waves = sinusoidal(*x.shape)
        yield Step("P", "sine waves for the places", tokens, dims, waves)
        yield Step("X", "E + P", tokens, dims, x)
        mine = theirs = "X"
    if over is not None:
        theirs = "E_other"
        yield Step(theirs, "the words of the other sentence", keys, dims, y)
    looked = None if over is None else (y[None], key_ids[None])
    attended = attend(layer, x[None], ids[None], over=looked)
    trace = attended.trace()
    asking = mine
    queries = [(look, h) for look in attended.looks for h in range(look.layer.heads)]
    for at, (look, h) in enumerate(queries):
        if look is not attended.looks[0] and h == 0:
            found = look.asking[:, x.shape[1] :]
            yield Step("N", f"weights_1 {theirs}, each row at length 1", tokens, dims, found)
            asking = f"[{mine} ; N]"
        if head not in ("mean", "each", str(at + 1)):
            continue
        number, mark = (at + 1, f"_{at + 1}") if layer.heads > 1 else (None, "")
        left, right = mine, theirs
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
        told = f"{left} {right}ᵀ" + (", rows at length 1: cosines" if layer.unit else "")
        yield Step("scores", told, tokens, keys, trace.scores[0, at], number)
        for name, part in trace.added.items():
            yield Step(name, f"what {name} adds", tokens, keys, part[0, at], number)
        scale = float(np.broadcast_to(layer.scale, layer.heads)[at])
        told = " + ".join([f"{scale:.4g} scores{mark}", *(f"{name}{mark}" for name in trace.added)])
        yield Step("sum", told, tokens, keys, trace.scaled[0, at], number)
        told = f"softmax of each row of sum{mark}"
        yield Step("weights", told, tokens, keys, attended.weights[0, at], number)
    yield Step("output", _mixture(layer, mine, theirs), tokens, dims, attended.output[0])


def _dimensions(matrix: Floats) -> list[str]:
    return [f"d{i}" for i in range(1, matrix.shape[1] + 1)]


def _inputs(attention: Attention) -> str:
    """Say what a layer is given of each word."""
    space = attention.inputs
    if not isinstance(space, Space):
        return "the vectors of the words"
    centred = "" if space.mean is None else ", less the mean of all"
    return f"the vectors of the words{centred}, at length 1"


def _mixture(layer: Layer, mine: str, theirs: str) -> str:
    """Say how the output is made."""
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
    """Lay the matrices out, each under its formula; what is too wide or long is cut in the middle.

    The whole matrices are in the other formats, and in FILE.npz.
    """
    notes = table.notes
    for step in table.steps:
        number, dim = step.values.shape
        cells = step.cells
        label = max(map(len, [step.title, *step.rows]))
        wide = max(
            [*map(len, step.columns), *(len(f"{c:.{digits}f}") for r in cells for c in r if c)],
            default=0,
        )
        columns = _middle_out(dim, max(3, (width - label) // (wide + 2)))
        named = [
            Column("…", role="text") if j is None else Column(step.columns[j]) for j in columns
        ]
        rows = [
            ["…"] * (1 + len(columns))
            if i is None
            else [step.rows[i], *("…" if j is None else cells[i][j] for j in columns)]
            for i in _middle_out(number, ROWS)
        ]
        made = Table([Column(step.title, role="label"), *named], rows, notes)
        made.title = f"{step.title} = {step.formula} ({number} × {dim})"
        yield made
        notes = []


def _middle_out(number: int, most: int) -> list[int | None]:
    """List the places that are shown, None for those in the middle that are not.

    >>> _middle_out(3, 4), _middle_out(9, 4)
    ([0, 1, 2], [0, 1, None, 8])
    """
    if number <= most:
        return list(range(number))
    return [*range(most - 2), None, number - 1]
