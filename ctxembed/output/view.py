"""Read the points of a chart from its table, grouped in panels, with their printed numbers."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, islice

from ctxembed.output.cells import as_text, round_shares
from ctxembed.table import Cell, Chart, Row, Table

DIGITS = 2  # on a picture
MAX_ROWS = 20_000
MAX_PANELS = 24
MAX_LINES = 60  # bars or lines of dots in a panel


@dataclass(frozen=True)
class Point:
    """One row of a table."""

    label: str
    series: str
    x: float | None
    x_text: str
    y: tuple[float | None, ...]
    texts: tuple[str, ...]  # y as printed
    low: float | None
    high: float | None
    start: str  # the cell of the column that chart.start names
    beside: str = ""  # the cells of the columns chart.beside


@dataclass
class Panel:
    """Points that are drawn together."""

    name: str
    points: list[Point] = field(default_factory=list)

    def by_label(self) -> list[tuple[str, list[Point]]]:
        """Return (label, consecutive points with this label)."""
        return [(label, list(some)) for label, some in groupby(self.points, lambda p: p.label)]


@dataclass(frozen=True)
class View:
    """A chart with everything that is drawn."""

    chart: Chart
    names: Sequence[str]  # of the columns y
    x_name: str  # of the column x
    label_name: str  # of the columns that name a row
    panels: Sequence[Panel]
    notes: Sequence[str]  # what was left out, and the table's notes

    @property
    def title(self) -> str:
        """The title; where a note explains the number, with its name."""
        named = self.chart.title and self.chart.note and len(self.names) == 1
        return f"{self.chart.title}: {self.names[0]}" if named else self.chart.title

    @property
    def points(self) -> Iterator[Point]:
        """The points of all panels."""
        return (point for panel in self.panels for point in panel.points)

    @cached_property
    def series(self) -> list[str]:
        """The distinct series in order of appearance, or the columns y."""
        if self.chart.series:
            return list(dict.fromkeys(point.series for point in self.points))
        return list(self.names)

    def series_number(self, point: Point, i: int = 0) -> int:
        """Return the number of a point's series; without series, of its column y."""
        return self.series.index(point.series) if self.chart.series else i

    @property
    def xs(self) -> list[float]:
        """All numbers x."""
        return [p.x for p in self.points if p.x is not None]

    @property
    def numbers(self) -> list[float]:
        """All numbers that the scale must include."""
        return [n for p in self.points for n in (*p.y, p.low, p.high) if n is not None]


def read_views(table: Table, digits: int | None = None, *, whole: bool = True) -> Iterator[View]:
    """Yield the view of each chart that has points; rows are read once. whole: see read_view."""
    if sum(chart.of is None for chart in table.charts) > 1:
        table = Table(table.columns, [*table.rows], table.notes, chart=table.charts)
    views = (read_view(table, chart, digits, whole=whole) for chart in table.charts)
    return (view for view in views if view.panels)


def read_view(table: Table, chart: Chart, digits: int | None = None, *, whole: bool = True) -> View:
    """Read the points of a chart; `digits` rounds the printed numbers.

    whole: shares are rounded so that they still add up, as in a printed table; else one by one.
    """
    drawn = chart.of() if chart.of is not None else table
    digits = DIGITS if digits is None else digits
    read = list(islice(drawn.rows, MAX_ROWS + 1))
    rounded: Iterable[Row] = read
    if whole:
        rounded = round_shares(Table(drawn.columns, read), digits, numbers=False)
    texts = [[as_text(cell, digits) for cell in cells] for cells in rounded]
    notes = [*filter(None, [chart.note]), *(drawn.notes if drawn is not table else ())]
    if len(read) > MAX_ROWS:
        notes.append(f"only the first {MAX_ROWS} rows are drawn")

    def columns(part: Sequence[str | int]) -> list[int]:
        """Return indices; of several, without those that have the same text in all rows."""
        indices = [drawn.column_index(column) for column in part]
        if len(indices) < 2 or len(texts) < 2:
            return indices
        return [i for i in indices if len({row[i] for row in texts}) > 1] or indices[-1:]

    def number(row: Row, column: str | int | None) -> float | None:
        cell = None if column is None else row[drawn.column_index(column)]
        return float(cell) if isinstance(cell, int | float) and math.isfinite(cell) else None

    def join(i: int, columns: Sequence[int], named: bool = True) -> str:
        """Join cells with spaces; a column's name precedes an integer."""
        names = {c: f"{drawn.columns[c].name} " for c in columns if isinstance(read[i][c], int)}
        parts = (names.get(c, "") * named + texts[i][c] for c in columns)
        return " ".join(filter(None, parts))

    panel, label, series = map(columns, (chart.panel, chart.label, chart.series))
    beside = [drawn.column_index(column) for column in chart.beside]
    y = [drawn.column_index(column) for column in chart.y]
    x = None if chart.x is None else drawn.column_index(chart.x)
    start = drawn.names.index(chart.start) if chart.start in drawn.names else None
    panels: dict[str, Panel] = {}
    squares = chart.kind in ("tokens", "heat")
    for i, row in enumerate(read[:MAX_ROWS]):
        values = tuple(number(row, column) for column in y)
        if x is not None and row[x] is None if squares else all(v is None for v in values):
            continue
        point = Point(
            label=join(i, label, named=chart.kind != "heat"), series=join(i, series),
            x=number(row, x), x_text="" if x is None else texts[i][x], y=values,
            texts=tuple("" if v is None else texts[i][c] for c, v in zip(y, values, strict=True)),
            low=number(row, chart.low), high=number(row, chart.high),
            start=chart.start if start is None else texts[i][start],
            beside=" ".join(_list_words(row[column]) for column in beside),
        )  # fmt: skip
        name = join(i, panel)
        panels.setdefault(name, Panel(name)).points.append(point)
    longest = max((len(one.points) for one in panels.values()), default=0)
    if chart.kind == "tokens":  # in sentence order, however the rows are sorted
        for one in panels.values():
            one.points.sort(key=lambda point: point.x or 0.0)
    elif chart.kind in ("bars", "dots") and longest > MAX_LINES:
        notes.insert(0, f"only the first {MAX_LINES} of {longest} rows are drawn")
        for one in panels.values():
            del one.points[MAX_LINES:]
    if len(panels) > MAX_PANELS:
        notes.insert(0, f"only the first {MAX_PANELS} of {len(panels)} are drawn")
    x_name = "" if x is None else drawn.columns[x].name
    label_name = " ".join(drawn.columns[i].name for i in label)
    shown = list(panels.values())[:MAX_PANELS]
    return View(chart, [drawn.columns[i].name for i in y], x_name, label_name, shown, notes)


def _list_words(cell: Cell) -> str:
    """Return a cell as words: a list with commas, nothing for None."""
    if isinstance(cell, list):
        return ", ".join(map(str, cell))
    return "" if cell is None else str(cell)
