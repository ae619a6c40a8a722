"""Every matrix of one attention: E, Q, K, V, scores, what is added, sum, weights, output."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.ask.explained import STEPS, encode_places
from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.context.parse import Parsed
from ctxembed.context.representations import Attention
from ctxembed.errors import UsageError
from ctxembed.static.space import Floats, Space
from ctxembed.table import Cell, Column, Table

MOST = 200  # words; a larger square is for a script, not for a page
ROWS = 14  # rows of a matrix on a page; of more, the first and the last


@dataclass(frozen=True)
class Step:
    """One matrix with the names of its rows and columns, and how it is made."""

    name: str
    head: int | None
    formula: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats  # (rows, columns)

    @property
    def title(self) -> str:
        """Its name, with the head where there are several."""
        return self.name if self.head is None else f"{self.name}_{self.head}"


class StepTable(Table):
    """The matrices as rows of one table, a number each; and as they are, to be laid out."""

    def __init__(self, steps: Sequence[Step], notes: Sequence[str]) -> None:
        super().__init__(STEPS, self._numbers, notes)
        self.steps = steps

    def _numbers(self) -> Iterator[tuple[Cell, ...]]:
        for m in self.steps:
            for i, row in enumerate(m.rows):
                for j, column in enumerate(m.columns):
                    value = None if np.isneginf(m.values[i, j]) else float(m.values[i, j])
                    yield m.name, m.head, i + 1, row, j + 1, column, value


def make_steps(
    attention: Attention,
    parsed: Parsed,
    *,
    over: Parsed | None = None,
    encoding: str = "none",
    head: str = "each",
) -> list[Step]:
    """List the matrices of a sentence's attention to itself, or to another sentence.

    head: the number of one head, where only its matrices are wanted.
    """
    sizes = [len(one.words) for one in (parsed, over) if one is not None]
    if max(sizes) > MOST:
        raise UsageError(
            f"--steps prints squares of at most {MOST} words; without it, a target is explained"
        )
    return list(_steps(attention, parsed, over, encoding, head))


def _steps(
    attention: Attention, parsed: Parsed, over: Parsed | None, encoding: str, head: str
) -> Iterator[Step]:
    layer, tokens = attention.layer, parsed.words
    keys = tokens if over is None else over.words
    ids, key_ids = (one.occurrences[0].ids for one in (parsed, over or parsed))
    e = attention.inputs[ids].astype(np.float64)
    x, y = encode_places(e, encoding), encode_places(attention.inputs[key_ids], encoding)
    dims = _dimensions(x)
    yield Step("E", None, _inputs(attention), tokens, dims, e)
    mine = theirs = "E"
    if encoding == "sinusoidal":
        waves = sinusoidal(*x.shape)
        yield Step("P", None, "sine waves for the places", tokens, dims, waves)
        yield Step("X", None, "E + P", tokens, dims, x)
        mine = theirs = "X"
    if over is not None:
        theirs = "E_other"
        yield Step(theirs, None, "the words of the other sentence", keys, dims, y)
    looked = None if over is None else (y[None], key_ids[None])
    attended = attend(layer, x[None], ids[None], over=looked)
    trace = attended.trace()
    asking = mine
    queries = [(look, h) for look in attended.looks for h in range(look.layer.heads)]
    for at, (look, h) in enumerate(queries):
        if look is not attended.looks[0] and h == 0:
            found = look.asking[:, x.shape[1] :]
            yield Step("N", None, f"weights_1 {theirs}, each row at length 1", tokens, dims, found)
            asking = f"[{mine} ; N]"
        if head not in ("mean", "each", str(at + 1)):
            continue
        number, mark = (at + 1, f"_{at + 1}") if layer.heads > 1 else (None, "")

        def step(
            name: str, formula: str, rows: Sequence[str], columns: Sequence[str], values: Floats,
            number: int | None = number,
        ) -> Step:  # fmt: skip
            return Step(name, number, formula, rows, columns, values)

        left, right = mine, theirs
        if layer.w_q is not None:
            left, q = f"Q{mark}", look.q[:, min(h, look.q.shape[1] - 1)]
            bias = "" if layer.b_q is None else f" + b_Q{mark}"
            yield step("Q", f"{asking} W_Q{mark}{bias}", tokens, _dimensions(q), q)
        if layer.w_k is not None:
            right, k = f"K{mark}", y @ layer.w_k[at]
            yield step("K", f"{theirs} W_K{mark}", keys, _dimensions(k), k)
        if layer.w_v is not None:
            v = y @ layer.w_v[at]
            yield step("V", f"{theirs} W_V{mark}", keys, _dimensions(v), v)
        told = f"{left} {right}ᵀ" + (", rows at length 1: cosines" if layer.unit else "")
        yield step("scores", told, tokens, keys, trace.scores[0, at])
        added = {name: part[0, at] for name, part in trace.added.items()}
        for name, part in added.items():
            yield step(name, f"what {name} adds", tokens, keys, np.asarray(part))
        scale = float(np.broadcast_to(layer.scale, layer.heads)[at])
        told = " + ".join([f"{scale:.4g} scores{mark}", *(f"{name}{mark}" for name in added)])
        yield step("sum", told, tokens, keys, trace.scaled[0, at])
        told = f"softmax of each row of sum{mark}"
        yield step("weights", told, tokens, keys, attended.weights[0, at])
    told = _mixture(layer, mine, theirs)
    yield Step("output", None, told, tokens, dims, attended.output[0])


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
        cells = [[_cell(value) for value in row] for row in step.values.tolist()]
        rows = _middle_out(number, ROWS)
        label = max(map(len, [step.title, *step.rows]))
        wide = max(
            [*map(len, step.columns), *(len(f"{c:.{digits}f}") for r in cells for c in r if c)],
            default=0,
        )
        columns = _middle_out(dim, max(3, (width - label) // (wide + 2)))
        made = Table(
            [Column(step.title, role="label"), *(_name(step.columns, j) for j in columns)],
            [
                ("…", *("…" for _ in columns))
                if i is None
                else (step.rows[i], *("…" if j is None else cells[i][j] for j in columns))
                for i in rows
            ],
            notes,
        )
        made.title = f"{step.title} = {step.formula} ({number} × {dim})"
        yield made
        notes = []
    if notes:
        yield Table((), (), notes)


def _cell(value: float) -> float | None:
    return None if value == -np.inf else value


def _name(names: Sequence[str], place: int | None) -> Column:
    return Column("…", role="text") if place is None else Column(names[place])


def _middle_out(number: int, most: int) -> list[int | None]:
    """List the places that are shown, None for those in the middle that are not.

    >>> _middle_out(3, 4), _middle_out(9, 4)
    ([0, 1, 2], [0, 1, None, 8])
    """
    if number <= most:
        return list(range(number))
    return [*range(most - 2), None, number - 1]
