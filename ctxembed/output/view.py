"""What a chart reads from its table: points in panels, their numbers also as they are printed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, islice

from ctxembed.output.cells import as_text, round_shares
from ctxembed.table import Cell, Chart, Row, Table

DIGITS = 2  # on a picture
MOST_ROWS = 20_000
MOST_PANELS = 24
MOST_LINES = 60  # bars or lines of dots in a panel


@dataclass(frozen=True)
class Point:
    """One row of a table."""

    label: str
    series: str
    x: float | None
    x_text: str
    y: tuple[float | None, ...]
    texts: tuple[str, ...]  # y as it is printed
    low: float | None
    high: float | None
    start: str  # what the column has that the chart's start names


@dataclass
class Panel:
    """Points that are drawn together."""

    name: str
    points: list[Point] = field(default_factory=list)

    def by_label(self) -> list[tuple[str, list[Point]]]:
        """Return the points that follow each other under one label, with the label."""
        return [(label, list(some)) for label, some in groupby(self.points, lambda p: p.label)]


@dataclass(frozen=True)
class View:
    """A chart with all that is drawn."""

    chart: Chart
    names: Sequence[str]  # of the columns y
    x_name: str  # of the column x
    label_name: str  # of the columns that name a row
    panels: Sequence[Panel]
    notes: Sequence[str]  # what is not drawn, and what the table says

    @property
    def points(self) -> Iterator[Point]:
        """The points of all panels."""
        return (point for panel in self.panels for point in panel.points)

    @cached_property
    def series(self) -> list[str]:
        """The different series in the order in which they come, or the columns y."""
        if self.chart.series:
            return list(dict.fromkeys(point.series for point in self.points))
        return list(self.names)

    def which(self, point: Point, i: int = 0) -> int:
        """Return the number of a point's series; of its column y where there is none."""
        return self.series.index(point.series) if self.chart.series else i

    @property
    def xs(self) -> list[float]:
        """All numbers x."""
        return [p.x for p in self.points if p.x is not None]

    @property
    def numbers(self) -> list[float]:
        """All numbers that its scale must hold."""
        found = (n for p in self.points for n in (*p.y, p.low, p.high))
        return [n for n in found if n is not None]


def look_at_all(table: Table, digits: int | None = None) -> Iterator[View]:
    """Yield what each of a table's charts shows, where it shows anything; rows are read once."""
    if sum(chart.of is None for chart in table.charts) > 1:
        table = Table(table.columns, [*table.rows], table.notes, chart=table.charts)
    for chart in table.charts:
        view = look_at(table, chart, digits)
        if view.panels:
            yield view


def look_at(table: Table, chart: Chart, digits: int | None = None) -> View:
    """Read the points of a chart; the numbers have as many digits as a table's would."""
    drawn = chart.of() if chart.of is not None else table
    rows = _rows(drawn, DIGITS if digits is None else digits)
    cut = len(rows) > MOST_ROWS
    del rows[MOST_ROWS:]
    panel, label, series = (
        _telling([drawn.place(column) for column in part], rows)
        for part in (chart.panel, chart.label, chart.series)
    )
    y = [drawn.place(column) for column in chart.y]
    parts = (chart.x, chart.low, chart.high)
    x, low, high = (None if part is None else drawn.place(part) for part in parts)
    begins = drawn.names.index(chart.start) if chart.start in drawn.names else None
    panels: dict[str, Panel] = {}
    for row, told in rows:
        values = tuple(_number(row[place]) for place in y)
        if chart.kind in ("tokens", "heat"):
            if x is not None and row[x] is None:
                continue
        elif all(value is None for value in values):
            continue
        point = Point(
            _join(told, label) if chart.kind == "heat" else _join(told, label, row, drawn),
            _join(told, series, row, drawn),
            None if x is None else _number(row[x]),
            "" if x is None else told[x],
            values,
            tuple("" if v is None else told[i] for i, v in zip(y, values, strict=True)),
            None if low is None else _number(row[low]),
            None if high is None else _number(row[high]),
            chart.start if begins is None else told[begins],
        )
        name = _join(told, panel, row, drawn)
        panels.setdefault(name, Panel(name)).points.append(point)
    if chart.kind == "tokens":  # a sentence goes its way, however its rows are sorted
        for one in panels.values():
            one.points.sort(key=lambda point: point.x or 0.0)
    notes = [*_cut(panels, chart), *(drawn.notes if drawn is not table else ())]
    if cut:
        notes.append(f"only the first {MOST_ROWS} rows are drawn")
    names = [drawn.columns[place].name for place in y]
    x_name = "" if x is None else drawn.columns[x].name
    label_name = " ".join(drawn.columns[place].name for place in label)
    return View(chart, names, x_name, label_name, list(panels.values())[:MOST_PANELS], notes)


def _telling(places: list[int], rows: Sequence[tuple[Row, list[str]]]) -> list[int]:
    """Of several columns that name something, leave out those that always say the same."""
    if len(places) < 2 or len(rows) < 2:
        return places
    first = rows[0][1]
    kept = [i for i in places if any(told[i] != first[i] for _, told in rows)]
    return kept or places[-1:]


def _rows(table: Table, digits: int) -> list[tuple[Row, list[str]]]:
    """Read one row more than is drawn, each also as it is printed: shares add up in both."""
    rows = list(islice(table.rows, MOST_ROWS + 1))
    told = round_shares(Table(table.columns, rows), digits, numbers=False)
    return [
        (row, [as_text(cell, digits) for cell in texts])
        for row, texts in zip(rows, told, strict=True)
    ]


def _cut(panels: dict[str, Panel], chart: Chart) -> Iterator[str]:
    """Take away what would make a picture endless, and say so."""
    if len(panels) > MOST_PANELS:
        yield f"only the first {MOST_PANELS} of {len(panels)} are drawn"
    if chart.kind in ("bars", "dots"):
        longest = max((len(panel.points) for panel in panels.values()), default=0)
        if longest > MOST_LINES:
            yield f"only the first {MOST_LINES} of {longest} rows are drawn"
            for panel in panels.values():
                del panel.points[MOST_LINES:]


def _number(cell: Cell) -> float | None:
    if isinstance(cell, int | float) and math.isfinite(cell):
        return float(cell)
    return None


def _join(
    told: Sequence[str], places: Sequence[int], row: Row = (), table: Table | None = None
) -> str:
    """Write what columns say, one after the other; before a bare number stands what it counts."""
    texts = (
        f"{table.columns[i].name} {told[i]}" if table and isinstance(row[i], int) else told[i]
        for i in places
    )
    return " ".join(filter(None, texts))
