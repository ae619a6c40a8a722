"""Write a Table as text, in any of the formats."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import NamedTuple

from ctxembed.output.cells import Page, Texts, as_text, expand_vectors, json_value, round_shares
from ctxembed.output.safe import safe
from ctxembed.output.terminal import display_width, fit
from ctxembed.table import Column, Row, Table

PREVIEW_ROWS = 200  # rows that are read to find the column widths
MIN_CONTEXT = 8  # characters of context to either side, however narrow the terminal
_SPECIAL = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
})  # fmt: skip


def render(
    table: Table, form: str, *, precision: int | None = None, header: bool = True,
    width: int | None = None, bold: bool = False, terminal: bool = False,
) -> Iterator[str]:  # fmt: skip
    """Yield the text of a table, line by line where the format allows it, safe for a terminal.

    >>> list(render(Table(("word", "cosine"), [("pear", 0.5)]), "tsv"))
    ['word\\tcosine\\n', 'pear\\t0.500000\\n']
    """
    chosen = FORMATS[form]
    digits = chosen.digits if precision is None else precision
    page = Page(digits, header, width, bold)
    rows: Iterable[Row] = table.stream()
    if digits is not None and any(column.role == "share" for column in table.columns):
        rows = round_shares(table, digits, numbers=chosen.values)
    if chosen.values:
        lines = chosen.write(table.columns, rows, page)
        return map(safe, lines) if terminal else lines
    columns, rows = expand_vectors(table.columns, rows)
    chances = [column.role == "chance" for column in columns]
    texts: Texts = (list(map(as_text, row, repeat(digits), chances)) for row in rows)
    if terminal:  # before alignment, and before the header is made bold
        columns = [replace(column, name=safe(column.name)) for column in columns]
        texts = ([safe(cell) for cell in row] for row in texts)
    return chosen.write(columns, texts, page)


def render_lead(table: Table, width: int | None) -> Iterator[str]:
    """Yield the answer in words, if there is one, wrapped to the terminal's width."""
    if table.lead is None:
        return
    import textwrap

    for line in table.lead():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        pieces = textwrap.wrap(
            safe(line), width or len(line) + 1, subsequent_indent=indent, break_on_hyphens=False
        )
        yield from (f"{piece}\n" for piece in pieces)
    yield "\n"


def _tsv(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    for row in _with_names(columns, rows, page):
        line = "\t".join(row)
        if line.count("\t") >= len(row) or "\n" in line or "\r" in line:  # in a cell
            line = "\t".join(map(_on_one_line, row))
        if '"' in line:  # pandas and R would take it for the start of a quoted cell
            line = "\t".join(_quote(_on_one_line(cell)) for cell in row)
        yield f"{line}\n"


def _on_one_line(cell: str) -> str:
    return " ".join(cell.split()) if "\t" in cell or "\n" in cell or "\r" in cell else cell


def _quote(cell: str) -> str:
    return '"{}"'.format(cell.replace('"', '""')) if '"' in cell else cell


def _csv(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    import csv
    import io

    for row in _with_names(columns, rows, page):
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerow(row)
        yield buffer.getvalue()


def escape_latex(text: str) -> str:
    """Return text with the characters escaped that LaTeX reads as commands."""
    return text.translate(_SPECIAL)


def _latex(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    """Yield a tabular with booktabs rules: numbers to the right, aside columns left out."""
    kept = [i for i, column in enumerate(columns) if column.role != "aside"]
    numeric = ("number", "share", "chance", "vector")
    hit = next((i for i in kept if columns[i].role == "keyword"), -2)
    long = [i for i in kept if columns[i].role == "long" or abs(i - hit) == 1]
    wide = f"p{{{0.6 / max(1, len(long)):.2f}\\linewidth}}"  # paragraphs share what is free
    sides = "".join("r" if columns[i].role in numeric else wide if i in long else "l" for i in kept)

    def line(cells: Sequence[str]) -> str:
        texts = (" ".join(cells[i].split()).translate(_SPECIAL) for i in kept)
        return " & ".join(texts) + " \\\\\n"

    yield f"\\begin{{tabular}}{{{sides}}}\n\\toprule\n"
    if page.header:
        yield line([column.name for column in columns]) + "\\midrule\n"
    yield from map(line, rows)
    yield "\\bottomrule\n\\end{tabular}\n"


def _with_names(columns: Sequence[Column], rows: Texts, page: Page) -> Texts:
    return chain([[column.name for column in columns]] if page.header else [], rows)


def _json(columns: Sequence[Column], rows: Iterable[Row], page: Page) -> Iterator[str]:
    mark = "["
    for line in _jsonl(columns, rows, page):
        yield f"{mark}\n  {line[:-1]}"
        mark = ","
    yield "[]\n" if mark == "[" else "\n]\n"


def _jsonl(columns: Sequence[Column], rows: Iterable[Row], page: Page) -> Iterator[str]:
    names = [column.name for column in columns]
    for row in rows:
        values = (json_value(cell, page.digits) for cell in row)
        yield json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False) + "\n"


def _table(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    kept = [i for i, column in enumerate(columns) if column.role != "aside"]
    columns, rows = [columns[i] for i in kept], ([row[i] for i in kept] for row in rows)
    if any(column.role == "keyword" for column in columns):
        yield from line_up(columns, rows, page)
        return
    body = [list(map(_on_one_line, row)) for row in rows]
    # leave out empty columns
    kept = [i for i in range(len(columns)) if not body or any(row[i] for row in body)]
    columns, body = [columns[i] for i in kept], [[row[i] for i in kept] for row in body]
    names: Sequence[str] = [column.name for column in columns]
    wrap = [i for i, column in enumerate(columns) if column.role == "long"]
    if page.width and wrap:
        _break(names, body, page.width, wrap)
    elif page.width:
        names = _fit(names, body, page.width, page.header)
    lines = _tabulate(names, body, "simple" if page.header else "plain", page.header)
    if page.width and max(map(display_width, lines), default=0) > page.width:
        lines = _narrow(lines)
    if page.bold and page.header and lines:
        for i in range(1 + max(name.count("\n") for name in names)):
            lines[i] = f"\x1b[1m{lines[i]}\x1b[0m"
    yield from (line + "\n" for line in lines)


def line_up(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    """Yield lines one by one; the contexts left and right of the keyword share the free width."""
    stream = iter(rows)
    first = list(islice(stream, PREVIEW_ROWS))
    if 0 < len(first) < PREVIEW_ROWS:  # these are all rows: drop empty columns
        every = enumerate(columns)
        kept = [i for i, c in every if c.role != "number" or any(row[i] for row in first)]
        columns, first = [columns[i] for i in kept], [[row[i] for i in kept] for row in first]
    names = [column.name for column in columns]
    middle = next(i for i, column in enumerate(columns) if column.role == "keyword")
    left, right = middle - 1, middle + 1
    texts = zip(names, *first, strict=True)
    sizes = [max([len(name) * page.header, *map(display_width, cells)]) for name, *cells in texts]
    if page.width is not None:
        sizes[0] = min(sizes[0], max(12, page.width // 6))  # a long path shows its end
        sizes[middle] = min(sizes[middle], max(12, page.width // 5))
        others = sum(size for i, size in enumerate(sizes) if i not in (left, right))
        free = max(2 * MIN_CONTEXT, page.width - others - 2 * (len(sizes) - 1))
        sizes[left], sizes[right] = free // 2, free - free // 2

    def fit_line(row: Sequence[str]) -> str:
        fitted = (
            fit(cell, size, right=i == left or columns[i].role == "number", end=i in (0, left))
            for i, (cell, size) in enumerate(zip(row, sizes, strict=True))
        )
        return "  ".join(fitted).rstrip() + "\n"

    if page.header:
        head = fit_line(names)
        yield f"\x1b[1m{head[:-1]}\x1b[0m\n" if page.bold else head
        yield "  ".join("-" * size for size in sizes) + "\n"
    for row in chain(first, stream):
        yield fit_line(row)


def _markdown(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    body = [[_on_one_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = _tabulate([column.name for column in columns], body, "github", page.header)
    first = 0 if page.header else 1  # skip the rule below the names
    yield from (line + "\n" for line in lines[first:])


def _tabulate(names: Sequence[str], body: list[list[str]], form: str, header: bool) -> list[str]:
    """Return the lines of a table: numbers to the right, text to the left."""
    import tabulate

    tabulate.MIN_PADDING = 0  # no extra padding for headers
    numeric = [all(_is_number(row[i]) for row in body) for i in range(len(names))]
    sides = ["right" if number else "left" for number in numeric] if body else None
    heads = list(names) if header else ()
    text = tabulate.tabulate(body, heads, form, disable_numparse=True, colalign=sides)
    return [line.rstrip() for line in text.splitlines()]


def _narrow(lines: list[str]) -> list[str]:
    """Return the lines of a table with one space between columns in place of two.

    >>> _narrow(["word      n", "-----  ----", "apple  1237"])
    ['word     n', '----- ----', 'apple 1237']
    """
    rule = next((line for line in lines if line and not line.strip("- ")), "")
    gaps = {at for at in range(len(rule)) if rule[at : at + 2] == "  "}
    if any(display_width(line) != len(line) for line in lines):  # letters of two columns
        return lines
    return ["".join(c for i, c in enumerate(line) if i not in gaps) for line in lines]


def _is_number(cell: str) -> bool:
    try:
        float(cell or 0)
    except ValueError:
        return False
    return True


def _fit(columns: Sequence[str], body: list[list[str]], width: int, header: bool) -> Sequence[str]:
    """Shorten cells in place until a table fits the terminal; return names, broken where long."""
    cells = [max((len(row[i]) for row in body), default=0) for i in range(len(columns))]
    free = width - 2 * (len(columns) - 1)
    if header and sum(max(len(n), c) for n, c in zip(columns, cells, strict=True)) > free:
        columns = [_break_name(name, size) for name, size in zip(columns, cells, strict=True)]
    names = [max(map(len, name.split("\n"))) * header for name in columns]
    sizes = list(map(max, cells, names))
    texts = [i for i in range(len(cells)) if not all(_is_number(row[i]) for row in body)]
    while sum(sizes) > free and texts:
        widest = max(texts, key=sizes.__getitem__)
        size = max(names[widest], 8, sizes[widest] - (sum(sizes) - free))
        if size == sizes[widest]:
            break
        for row in body:
            if len(row[widest]) > size:
                row[widest] = row[widest][: size - 1] + "…"
        sizes[widest] = size
    return columns


def _break(columns: Sequence[str], body: list[list[str]], width: int, wrap: Sequence[int]) -> None:
    """Break long cells into lines, in place, so that the table fits; " | " always breaks."""
    import textwrap

    def need(i: int) -> int:
        pieces = [piece for row in body for piece in row[i].split(" | ")]
        return max([len(columns[i]), *map(len, pieces)])

    sizes = [max([len(name), *(len(row[i]) for row in body)]) for i, name in enumerate(columns)]
    fixed = sum(size for i, size in enumerate(sizes) if i not in wrap)
    left = width - fixed - 2 * (len(columns) - 1)
    needs = {i: need(i) for i in wrap}
    for i in sorted(wrap, key=need):  # short columns first, each by its share of what is needed
        words = [word for row in body for word in row[i].split()]
        share = left * needs[i] // sum(needs.values())
        whole = max(map(len, words), default=0) if len(needs) > 1 else 0  # the last takes the rest
        size = min(needs.pop(i), max(10, share, whole))
        left -= size
        for row in body:
            pieces = [textwrap.wrap(piece, size) for piece in row[i].split(" | ")]
            row[i] = "\n".join(line for piece in pieces for line in piece)


def _break_name(name: str, size: int) -> str:
    """Return a column's name, in two lines where it is wider than its cells.

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


class Format(NamedTuple):
    """A format: how it is written, and with how many digits."""

    suffix: str  # of a file
    digits: int | None  # by default
    write: Callable[..., Iterator[str]]  # of columns, rows of texts and the Page
    values: bool = False  # write takes rows of cells as they are


FORMATS = {
    "table": Format("", 4, _table),
    "tsv": Format(".tsv", 6, _tsv),
    "csv": Format(".csv", None, _csv),
    "json": Format(".json", None, _json, values=True),
    "jsonl": Format(".jsonl", None, _jsonl, values=True),
    "markdown": Format(".md", 4, _markdown),
    "latex": Format(".tex", 4, _latex),
}
SUFFIXES = {format.suffix: name for name, format in FORMATS.items() if format.suffix}
