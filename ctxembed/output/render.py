"""A Table as text, in any of the formats."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import cast

from ctxembed.table import Cell, Table

FORMATS = ("table", "tsv", "csv", "json", "jsonl", "markdown")
_DIGITS = {"table": 4, "markdown": 4, "tsv": 6, "csv": 6, "json": None, "jsonl": None}


def render(
    table: Table,
    form: str,
    *,
    precision: int | None = None,
    header: bool = True,
    width: int | None = None,
    bold: bool = False,
) -> Iterator[str]:
    """Yield the text of a table, line by line where the format allows it.

    >>> list(render(Table(("word", "cosine"), [("pear", 0.5)]), "tsv"))
    ['word\\tcosine\\n', 'pear\\t0.500000\\n']
    """
    digits = _DIGITS[form] if precision is None else precision
    rows = _round_shares(table, digits) if table.shares and digits is not None else table.rows
    if form in ("json", "jsonl"):
        return _json(table.columns, rows, digits, lines=form == "jsonl")
    cells = ([_text(cell, digits) for cell in row] for row in rows)
    if form in ("tsv", "csv"):
        return _separated(table.columns, cells, _tsv_line if form == "tsv" else _csv_line, header)
    if form == "table" and table.keyword is not None:
        from ctxembed.output.concordance import align

        return align(table.columns, cells, table.keyword, width, header, bold)
    columns, wrap = list(table.columns), table.wrap if form == "table" else ()
    if form == "table" and table.noted:
        kept = [i for i, name in enumerate(columns) if name not in table.noted]
        columns = [columns[i] for i in kept]
        cells = ([row[i] for i in kept] for row in cells)
    return _aligned(columns, cells, form, header, width, bold, wrap)


def _text(cell: Cell, digits: int | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        if math.isnan(cell):
            return ""
        if digits is None:
            return repr(cell)
        text = f"{cell:.{digits}f}"
        return text[1:] if text.startswith("-") and not text.strip("-0.") else text  # no -0.00
    return str(cell)


def _tsv_line(cells: Sequence[str]) -> str:
    return "\t".join(" ".join(c.split()) if _breaks(c) else c for c in cells) + "\n"


def _breaks(cell: str) -> bool:
    return "\t" in cell or "\n" in cell or "\r" in cell


def _csv_line(cells: Sequence[str]) -> str:
    import csv
    import io

    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _separated(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    line: Callable[[Sequence[str]], str],
    header: bool,
) -> Iterator[str]:
    if header:
        yield line(columns)
    for row in rows:
        yield line(row)


def _json(
    columns: Sequence[str], rows: Iterable[Sequence[Cell]], digits: int | None, lines: bool
) -> Iterator[str]:
    first = True
    for row in rows:
        record = {name: _json_value(cell, digits) for name, cell in zip(columns, row, strict=True)}
        text = json.dumps(record, ensure_ascii=False)
        yield f"{text}\n" if lines else f"{'[' if first else ','}\n  {text}"
        first = False
    if not lines:
        yield "[]\n" if first else "\n]\n"


def _json_value(cell: Cell, digits: int | None) -> Cell:
    if isinstance(cell, list):
        return cell if digits is None else [round(number, digits) for number in cell]
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return None
        return cell if digits is None else round(cell, digits)
    return cell


def _aligned(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    form: str,
    header: bool,
    width: int | None,
    bold: bool,
    wrap: Sequence[str] = (),
) -> Iterator[str]:
    import tabulate

    tabulate.MIN_PADDING = 0  # a header needs no room of its own
    body = [[" ".join(cell.split()) if _breaks(cell) else cell for cell in row] for row in rows]
    if form == "markdown":
        body = [[cell.replace("|", "\\|") for cell in row] for row in body]
    elif width and wrap:
        _break(columns, body, width, [columns.index(name) for name in wrap])
    elif width:
        _fit(columns, body, width, header)
    numeric = [all(_is_number(row[i]) for row in body) for i in range(len(columns))]
    text = tabulate.tabulate(
        body,
        headers=list(columns) if header else (),
        tablefmt="github" if form == "markdown" else ("simple" if header else "plain"),
        disable_numparse=True,
        colalign=["right" if number else "left" for number in numeric] if body else None,
    )
    lines = [line.rstrip() for line in text.splitlines()]
    if form == "markdown" and not header:
        lines = lines[1:]  # the rule under the names
    if bold and header and form == "table" and lines:
        lines[0] = f"\x1b[1m{lines[0]}\x1b[0m"
    yield from (line + "\n" for line in lines)


def _is_number(cell: str) -> bool:
    try:
        float(cell or 0)
    except ValueError:
        return False
    return True


def _fit(columns: Sequence[str], body: list[list[str]], width: int, header: bool) -> None:
    """Shorten the widest text column until the table fits the terminal."""
    sizes = [
        max([len(name) * header, *(len(row[i]) for row in body)]) for i, name in enumerate(columns)
    ]
    excess = sum(sizes) + 2 * (len(sizes) - 1) - width
    texts = [i for i in range(len(sizes)) if not all(_is_number(row[i]) for row in body)]
    while excess > 0 and texts:
        widest = max(texts, key=sizes.__getitem__)
        least = max(len(columns[widest]) * header, 8)
        if sizes[widest] <= least:
            return
        size = max(least, sizes[widest] - excess)
        for row in body:
            if len(row[widest]) > size:
                row[widest] = row[widest][: size - 1] + "…"
        excess -= sizes[widest] - size
        sizes[widest] = size


def _break(columns: Sequence[str], body: list[list[str]], width: int, wrap: Sequence[int]) -> None:
    """Break long text into lines, so that the table fits the terminal; " | " always breaks."""
    import textwrap

    def need(i: int) -> int:
        pieces = [piece for row in body for piece in row[i].split(" | ")]
        return max([len(columns[i]), *map(len, pieces)])

    fixed = sum(
        max([len(name), *(len(row[i]) for row in body)])
        for i, name in enumerate(columns)
        if i not in wrap
    )
    left = width - fixed - 2 * (len(columns) - 1)
    for i in sorted(wrap, key=need):  # short columns get what they need, long ones the rest
        share = left // (len(wrap) - sorted(wrap, key=need).index(i))
        size = max(10, min(need(i), share))
        left -= size
        for row in body:
            pieces = [textwrap.wrap(piece, size) for piece in row[i].split(" | ")]
            row[i] = "\n".join(line for piece in pieces for line in piece)


def _round_shares(table: Table, digits: int) -> Iterator[Sequence[Cell]]:
    """Round so that what is printed still adds up: the largest remainders are rounded up."""
    rows = [list(row) for row in table.rows]
    for name, by in table.shares.items():
        column = table.columns.index(name)
        keys = [table.columns.index(key) for key in by]
        for _, group in groupby(rows, key=lambda row: [row[key] for key in keys]):
            members = [row for row in group if isinstance(row[column], float)]
            for row, value in zip(
                members,
                round_to_total([cast(float, r[column]) for r in members], digits),
                strict=True,
            ):
                row[column] = value
    yield from rows


def round_to_total(values: Sequence[float], digits: int) -> list[float]:
    """Round values so that their sum is the rounded sum.

    >>> round_to_total([1 / 3, 1 / 3, 1 / 3], 2)
    [0.34, 0.33, 0.33]
    """
    unit = 10**digits
    floors = [math.floor(value * unit) for value in values]
    missing = round(sum(values) * unit) - sum(floors)
    order = sorted(range(len(values)), key=lambda i: (floors[i] - values[i] * unit, i))
    for i in order[:missing]:
        floors[i] += 1
    return [number / unit for number in floors]
