"""Pictures in block characters, for a terminal of any width, with colours and without."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ctxembed.output.heat import lay_out
from ctxembed.output.letters import clean
from ctxembed.output.rows import part
from ctxembed.output.scale import Scale, scale
from ctxembed.output.shaded import shade_sentences
from ctxembed.output.terminal import cells, fit, paint
from ctxembed.output.view import Panel, Point, View, look_at_all
from ctxembed.table import Table

MARKS = "●■▲◆▼✚▬"  # as on a sheet
EIGHTHS = " ▏▎▍▌▋▊▉█"
SHADES = (" ░▒▓█", " .:*#")  # of what is over 0, and of what is under it
HIGH = 16  # lines of a plot


def draw_blocks(
    table: Table, width: int = 80, digits: int | None = None, *, colours: bool = False
) -> Iterator[str]:
    """Yield the lines of a table's pictures; none is longer than the terminal is wide."""
    for number, view in enumerate(look_at_all(table, digits)):
        chart = view.chart
        yield from ["\n"] * (number > 0)
        yield fit(clean(chart.title), width).rstrip() + "\n"
        for panel in view.panels:
            if panel.name and chart.kind != "tokens":
                yield "\n" + fit(clean(panel.name), width).rstrip() + "\n"
            for line in DRAW[chart.kind](view, panel, width, colours):
                yield line.rstrip(" ") + "\n"


def _sentence(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw the shaded sentence, and under it a bar for each word."""
    yield from shade_sentences(replace(view, panels=[panel]), width, colours)
    yield ""
    yield from _bars(view, panel, width, colours)


def _columns(view: View, width: int) -> tuple[int, int, int]:
    """Return how wide labels, plot and numbers are."""
    names = max((cells(clean(_label(view, point))) for point in view.points), default=0)
    numbers = max((len(text) for p in view.points for text in p.texts), default=0)
    label = max(1, min(names, width * 2 // 5))
    return label, max(1, width - label - numbers - 2), numbers


def _label(view: View, point: Point) -> str:
    """Name a line; dots that start somewhere are representations of what the label says."""
    starts = view.chart.kind == "dots" and view.chart.start
    return f"{point.label} {point.series}" if starts else point.label


def _bars(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    if view.chart.stacked:
        yield from _stacked(view, panel, width, colours)
        return
    label, plot, numbers = _columns(view, width)
    at = replace(scale(view.numbers, view.chart.domain, close=True), start=0, end=plot)
    for point in panel.points:
        name = clean(point.label)
        for i, (value, text) in enumerate(zip(point.y, point.texts, strict=True)):
            bar = bar_of(at, value, plot)
            if len(view.names) > 1 and not colours and i:
                bar = bar.replace("█", "▒")
            yield f"{fit(name, label)} {paint(bar, i, colours)} {text:>{numbers}}"
            name = ""
    if len(view.names) > 1 and panel is view.panels[-1]:
        yield from _legend(view.names, width, colours, ("█", "█" if colours else "▒"))


def bar_of(at: Scale, value: float | None, size: int) -> str:
    """Draw a bar from 0 in so many columns.

    >>> bar_of(Scale(0, 1, 0, 4), 0.6, 4), bar_of(Scale(-1, 1, 0, 4), -0.5, 4)
    ('██▍ ', ' █  ')
    """
    if value is None:
        return " " * size
    low, high = sorted((at(0), at(value)))
    first, whole = round(low), int(high) if value >= 0 else round(high)
    bar = " " * first + "█" * (whole - first)
    part = round((high - whole) * 8) if value >= 0 else 0
    return f"{bar}{EIGHTHS[part] if part else ''}".ljust(size)[:size]


def _stacked(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    label, plot, _ = _columns(view, width)
    names, fills = view.series, "█▒░▓■□▪"
    for name, points in panel.by_label():
        total, done, bar = sum(map(part, points)) or 1.0, 0.0, ""
        for point in points:
            which = view.which(point)
            begun, done = done, done + part(point) / total
            size = round(done * plot) - round(begun * plot)
            fill = "█" if colours else fills[which % len(fills)]
            bar += paint(fill * size, which, colours)
        yield f"{fit(clean(name), label)} {bar}"
    if panel is view.panels[-1]:
        yield from _legend(names, width, colours, "█" * len(names) if colours else fills)


def _dots(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw a line for each row: its interval, its marks, its number."""
    label, plot, numbers = _columns(view, width)
    at = replace(scale(view.numbers, view.chart.domain, close=True), start=0, end=plot - 1)
    for point in panel.points:
        line = [" "] * plot
        if at.low <= 0 <= at.high:
            line[round(at(0))] = "│"
        if point.low is not None and point.high is not None:
            for place in range(round(at(point.low)), round(at(point.high)) + 1):
                line[place] = "─"
        for i, value in enumerate(point.y):
            if value is not None:
                which = view.which(point, i)
                line[round(at(value))] = paint(MARKS[which % len(MARKS)], which, colours)
        text = point.texts[0] if len(view.names) == 1 else ""
        yield f"{fit(clean(_label(view, point)), label)} {''.join(line)} {text:>{numbers}}"
    if len(view.series) > 1 and not view.chart.start and panel is view.panels[-1]:
        yield from _legend(view.series, width, colours, MARKS)


def _heat(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw squares: numbers on a shade where they fit, else shades alone."""
    _, names, labels, rows = lay_out(view, panel)
    if not rows:
        return
    most = max(map(abs, view.chart.domain or view.numbers), default=0.0) or 1.0
    size = max((cells(clean(label)) for label in labels), default=0)
    size = max(1, min(size, width // 3))
    numbers = max((len(text) for row in rows for _, text in row), default=0) + 2
    room = (width - size - 1) // max(1, len(names))
    wide = min(room, max(numbers, min(8, max(map(cells, names)) + 1)))
    if room < 1:
        names, wide = names[: max(1, width - size - 1)], 1
    heads = "".join(fit(clean(name), wide - 1, right=True) + " " for name in names)
    yield f"{' ' * size} {heads}" if wide > 3 else f"{' ' * size} {names[0]} … {names[-1]}"[:width]
    for label, row in zip(labels, rows, strict=True):
        line = ""
        for value, text in row[: len(names)]:
            line += _square(value, text if wide >= numbers else "", most, wide, colours)
        yield f"{fit(clean(label), size)} {line}"


def _square(value: float | None, text: str, most: float, wide: int, colours: bool) -> str:
    if value is None:
        return fit("·", wide, right=True)
    share = min(1.0, abs(value) / most)
    if colours:
        return paint(fit(f"{text} ", wide, right=True), int(value < 0), True, share)
    shade = SHADES[value < 0][round(share * 4)]
    return fit(f"{shade}{text}", wide - 1, right=True) + " " if text else shade * wide


def _grid(
    points: Sequence[tuple[float, float, int]], along: Scale, up: Scale, colours: bool
) -> list[str]:
    """Put marks on a grid; where several meet, the series that has most of them shows."""
    plot = round(along.end) + 1
    found: dict[tuple[int, int], list[int]] = {}
    for x, y, which in points:
        found.setdefault((round(along(x)), round(up(y))), []).append(which)

    def mark(column: int, row: int) -> str:
        here = found.get((column, row))
        if not here:
            return " "
        most = max(sorted(set(here)), key=here.count)
        return paint(MARKS[most % len(MARKS)], most, colours)

    return ["".join(mark(column, row) for column in range(plot)) for row in range(HIGH)]


def _plot(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw lines or points on a grid, with the scale of y on the left."""
    given = [
        (point.x, value, view.which(point, i))
        for point in panel.points
        for i, value in enumerate(point.y)
        if point.x is not None and value is not None
    ]
    if not given:
        return
    xs, ys = [x for x, _, _ in given], [y for _, y, _ in given]
    along, up = Scale(min(xs), max(xs), 0, 1), scale(view.numbers, view.chart.domain)
    mapped = view.chart.kind == "scatter" and not view.chart.start
    if mapped:
        up = Scale(min(ys), max(ys), 0, 1)
    elif view.chart.start:  # both axes are of one kind, and every panel has their scale
        along = up = scale([*view.xs, *view.numbers], view.chart.domain)
    up = replace(up, start=HIGH - 1, end=0)
    ticks = {} if mapped else {round(up(value)): text for value, text in up.ticks}
    left = max(map(len, ticks.values()), default=-1) + 1
    plot = max(2, width - left - 1)
    along = replace(along, start=0, end=plot - 1)
    for row, line in enumerate(_grid(given, along, up, colours)):
        yield f"{ticks.get(row, ''):>{max(0, left - 1)}}{' ' * (left > 0)}│{line}"
    ends = f"{along.low:g}", f"{along.high:g}"
    middle = fit(f" {view.x_name}", max(0, plot - len("".join(ends))))
    if not mapped:
        yield " " * (left + 1) + f"{ends[0]}{middle}{ends[1]}"[:plot]
    if panel is view.panels[-1]:
        yield from _legend(view.series, width, colours, MARKS)


def _legend(names: Sequence[str], width: int, colours: bool, marks: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(names):
        mark = paint(marks[number % len(marks)], number, colours)
        yield f"{mark} {fit(clean(name), width - 2).rstrip()}"


DRAW: dict[str, Callable[[View, Panel, int, bool], Iterator[str]]] = {
    "tokens": _sentence,
    "heat": _heat,
    "scatter": _plot,
    "lines": _plot,
    "bars": _bars,
    "dots": _dots,
}
