"""Cells as texts: how a number is printed, in a table and on a picture."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, cast

from ctxembed.table import Cell, Column, Row, Table, round_to_total

Texts = Iterable[Sequence[str]]  # rows, each cell as text


@dataclass(frozen=True)
class Page:
    """How a table is to be written, for whoever writes a format."""

    digits: int | None = None  # behind the point; None for all there are
    header: bool = True
    width: int | None = None  # of a terminal
    bold: bool = False


def spread(
    columns: Sequence[Column], rows: Iterable[Row]
) -> tuple[Sequence[Column], Iterable[Row]]:
    """Give each number of a vector a column of its own; write lists of words as one text."""

    def parts(cell: Cell, column: Column) -> Sequence[Cell]:
        if column.role == "vector":
            return numbers(cell)
        return [column.between.join(map(str, cell)) if isinstance(cell, list) else cell]

    flat = [part for c in columns for part in (c.each(c.parts) if c.role == "vector" else [c])]
    return flat, (list(chain.from_iterable(map(parts, row, columns))) for row in rows)


def show_small(columns: Sequence[Column], rows: Iterable[Row], digits: int) -> Iterator[Row]:
    """Write a probability that would be rounded to 0 by its first digit.

    >>> list(show_small([Column("p_value", "", "chance")], [(0.25,), (0.00004,), (0.0,)], 4))
    [[0.25], ['4e-05'], [0.0]]
    """
    chances = [place for place, column in enumerate(columns) if column.role == "chance"]
    for row in rows:
        cells = list(row)
        for place in chances:
            if _is_number(cell := cells[place]) and 0 < cast(float, cell) < 0.5 * 10**-digits:
                cells[place] = f"{cell:.0e}"
        yield cells


def numbers(cell: Cell) -> list[float]:
    """Return the numbers of a vector."""
    given = cast(Any, cell)
    return list(given.tolist() if hasattr(given, "tolist") else given)


def as_text(cell: Cell, digits: int | None) -> str:
    """Write a cell; nothing where there is none, and no -0.00."""
    if not isinstance(cell, float):
        return "" if cell is None else str(cell)
    if math.isnan(cell):
        return ""
    text = repr(cell) if digits is None else f"{cell:.{digits}f}"
    if text[0] == "-" and digits is not None and not text.strip("-0."):
        return text[1:]
    return text


def round_shares(table: Table, digits: int, numbers: bool) -> Iterator[Row]:
    """Round so that what is printed still adds up."""
    rows = [list(row) for row in table.rows]
    shares = [(i, column.group) for i, column in enumerate(table.columns) if column.role == "share"]
    for place, by in shares:
        keys = [table.names.index(name) for name in by if name in table.names]
        for _, group in groupby(rows, key=lambda row: [row[key] for key in keys]):
            members = [row for row in group if _is_number(row[place])]
            texts = round_to_total([cast(float, row[place]) for row in members], digits)
            for row, text in zip(members, texts, strict=True):
                row[place] = float(text) if numbers else text
    yield from rows


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, float) and math.isfinite(cell)
