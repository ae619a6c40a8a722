"""Cells as texts: how a number is printed, in a table and on a picture."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from math import isfinite, isnan
from typing import Any, cast

from ctxembed.table import Cell, Column, Row, Table, round_to_total

Texts = Iterable[Sequence[str]]  # rows, each cell as text


@dataclass(frozen=True)
class Page:
    """Layout options for the writer of a format."""

    digits: int | None = None  # after the decimal point; None for full precision
    header: bool = True
    width: int | None = None  # of a terminal
    bold: bool = False


def expand_vectors(
    columns: Sequence[Column], rows: Iterable[Row]
) -> tuple[Sequence[Column], Iterable[Row]]:
    """Return columns and rows, a vector as one column per number, a list of words as one text."""

    def parts(cell: Cell, column: Column) -> Sequence[Cell]:
        if column.role == "vector":
            return numbers(cell)
        return [column.between.join(map(str, cell)) if isinstance(cell, list) else cell]

    flat = [part for c in columns for part in (c.each(c.parts) if c.role == "vector" else [c])]
    return flat, (list(chain.from_iterable(map(parts, row, columns))) for row in rows)


def numbers(cell: Cell) -> list[float]:
    """Return a vector as a list of floats."""
    vector = cast(Any, cell)
    return list(vector.tolist() if hasattr(vector, "tolist") else vector)


def json_value(cell: Cell, digits: int | None) -> Any:
    """Return a cell for JSON: floats rounded, NaN and infinity as None, arrays as lists."""
    if isinstance(cell, float):
        rounded = cell if digits is None else round(cell, digits)
        return rounded if isfinite(cell) else None
    if cell is None or isinstance(cell, str | int):
        return cell
    if isinstance(cell, dict):
        return {name: json_value(part, digits) for name, part in cell.items()}
    return [json_value(part, digits) for part in numbers(cell)]


def as_text(cell: Cell, digits: int | None, chance: bool = False) -> str:
    """Return a cell as text: "" for None and NaN, never -0.00; a small chance is not rounded to 0.

    >>> as_text(-0.001, 2), as_text(0.25, 4, chance=True), as_text(0.00004, 4, chance=True)
    ('0.00', '0.2500', '4e-05')
    """
    if not isinstance(cell, float):
        return "" if cell is None else str(cell)
    if isnan(cell):
        return ""
    if digits is None:
        return repr(cell)
    if chance and 0 < cell < 0.5 * 10**-digits:
        return f"{cell:.0e}"
    text = f"{cell:.{digits}f}"
    return text[1:] if text[0] == "-" and not text.strip("-0.") else text


def round_shares(table: Table, digits: int, numbers: bool) -> Iterator[Row]:
    """Yield rows with rounded shares that still add up to their total."""
    rows: list[list[Any]] = [list(row) for row in table.rows]
    shares = [(i, column.group) for i, column in enumerate(table.columns) if column.role == "share"]
    for i, by in shares:
        keys = [table.names.index(name) for name in by if name in table.names]
        for _, group in groupby(rows, key=lambda row: [row[key] for key in keys]):
            members = [row for row in group if isinstance(row[i], float) and isfinite(row[i])]
            texts = round_to_total([row[i] for row in members], digits)
            for row, text in zip(members, texts, strict=True):
                row[i] = float(text) if numbers else text
    yield from rows
