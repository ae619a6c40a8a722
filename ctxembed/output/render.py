"""A Table as text, in any of the formats."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, cast

from ctxembed.table import Cell, Column, Row, Table, round_to_total

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
    rows = table.rows
    if digits is not None and any(column.role == "share" for column in table.columns):
        rows = _round_shares(table, digits, numbers=form in ("json", "jsonl"))
    if form in ("json", "jsonl"):
        return _json(table.names, rows, digits, lines=form == "jsonl")
    columns, rows = _spread(table.columns, rows)
    names, roles = [column.name for column in columns], [column.role for column in columns]
    cells = ([_text(cell, digits) for cell in row] for row in rows)
    if form in ("tsv", "csv"):
        return _separated(names, cells, _tsv_line if form == "tsv" else _csv_line, header)
    if form == "markdown":
        return _aligned(names, cells, form, header, width, bold)
    if "keyword" in roles:
        from ctxembed.output.concordance import align

        return align(names, cells, names[roles.index("keyword")], width, header, bold)
    kept = [i for i, role in enumerate(roles) if role != "aside"]
    wrap = [place for place, i in enumerate(kept) if roles[i] == "long"]
    shown = ([row[i] for i in kept] for row in cells)
    return _aligned([names[i] for i in kept], shown, form, header, width, bold, wrap)


def _spread(
    columns: Sequence[Column], rows: Iterable[Row]
) -> tuple[Sequence[Column], Iterable[Row]]:
    """Give each number of a vector a column of its own."""
    if all(column.role != "vector" for column in columns):
        return columns, rows
    lists = [column.role == "vector" for column in columns]
    names = [c.each(c.parts) if many else [c] for c, many in zip(columns, lists, strict=True)]

    def flat(row: Row) -> Row:
        parts = (_numbers(c) if many else [c] for c, many in zip(row, lists, strict=True))
        return list(chain.from_iterable(parts))

    return list(chain.from_iterable(names)), map(flat, rows)


def _numbers(cell: Cell) -> list[float]:
    """Return the numbers of a vector."""
    given = cast(Any, cell)
    return list(given.tolist() if hasattr(given, "tolist") else given)


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
    columns: Sequence[str], rows: Iterable[Row], digits: int | None, lines: bool
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
    if isinstance(cell, list) or hasattr(cell, "tolist"):
        return [n if digits is None else round(n, digits) for n in _numbers(cell)]
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
    wrap: Sequence[int] = (),
) -> Iterator[str]:
    import tabulate

    tabulate.MIN_PADDING = 0  # a header needs no room of its own
    body = [[" ".join(cell.split()) if _breaks(cell) else cell for cell in row] for row in rows]
    if form == "markdown":
        body = [[cell.replace("|", "\\|") for cell in row] for row in body]
    elif width and wrap:
        _break(columns, body, width, wrap)
    elif width:
        columns = _fit(columns, body, width, header)
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
        for i in range(1 + max(name.count("\n") for name in columns)):
            lines[i] = f"\x1b[1m{lines[i]}\x1b[0m"
    yield from (line + "\n" for line in lines)


def _is_number(cell: str) -> bool:
    try:
        float(cell or 0)
    except ValueError:
        return False
    return True


def _fit(columns: Sequence[str], body: list[list[str]], width: int, header: bool) -> Sequence[str]:
    """Make a table fit the terminal: break long names, then shorten the widest text column."""
    cells = [max((len(row[i]) for row in body), default=0) for i in range(len(columns))]
    room = width - 2 * (len(columns) - 1)
    if header and sum(max(len(n), c) for n, c in zip(columns, cells, strict=True)) > room:
        columns = [_break_name(name, size) for name, size in zip(columns, cells, strict=True)]
    names = [max(map(len, name.split("\n"))) * header for name in columns]
    sizes = list(map(max, cells, names))
    texts = [i for i in range(len(cells)) if not all(_is_number(row[i]) for row in body)]
    while sum(sizes) > room and texts:
        widest = max(texts, key=sizes.__getitem__)
        size = max(names[widest], 8, sizes[widest] - (sum(sizes) - room))
        if size == sizes[widest]:
            break
        for row in body:
            if len(row[widest]) > size:
                row[widest] = row[widest][: size - 1] + "…"
        sizes[widest] = size
    return columns


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
    needs = {i: need(i) for i in wrap}
    for i in sorted(wrap, key=need):  # short columns first, each by its share of what is needed
        words = [word for row in body for word in row[i].split()]
        share = left * needs[i] // sum(needs.values())
        size = min(needs.pop(i), max(10, share, *map(len, words)))
        left -= size
        for row in body:
            pieces = [textwrap.wrap(piece, size) for piece in row[i].split(" | ")]
            row[i] = "\n".join(line for piece in pieces for line in piece)


def _break_name(name: str, size: int) -> str:
    """Break a column's name in two where it is wider than its cells.

    >>> _break_name("cos_static", 6), _break_name("representation", 7), _break_name("score", 1)
    ('cos_\\nstatic', 'represen-\\ntation', 'score')
    """
    if len(name) <= max(size, 8):
        return name
    head, mark, tail = name.partition("_")
    if mark:
        return f"{head}_\n{tail}"
    half = len(name) // 2 + 1
    return f"{name[:half]}-\n{name[half:]}" if len(name) > 10 else name


def _round_shares(table: Table, digits: int, numbers: bool) -> Iterator[Row]:
    """Round so that what is printed still adds up."""
    rows = [list(row) for row in table.rows]
    shares = [(i, column.group) for i, column in enumerate(table.columns) if column.role == "share"]
    for place, by in shares:
        keys = [table.names.index(name) for name in by]
        for _, group in groupby(rows, key=lambda row: [row[key] for key in keys]):
            members = [row for row in group if isinstance(row[place], float)]
            texts = round_to_total([cast(float, row[place]) for row in members], digits)
            for row, text in zip(members, texts, strict=True):
                row[place] = float(text) if numbers else text
    yield from rows
