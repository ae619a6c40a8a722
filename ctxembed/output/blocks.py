"""Draw charts with block characters, for a terminal of any width, with or without colours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from ctxembed.output.frame import Scale, scale
from ctxembed.output.letters import clean
from ctxembed.output.rows import arrange_squares, part_length
from ctxembed.output.sentence import find_target
from ctxembed.output.terminal import display_width, fit, paint
from ctxembed.output.view import Panel, Point, View, read_views
from ctxembed.table import Table

MARKS = "●■▲◆▼✚▬"  # as on a sheet
EIGHTHS = " ▏▎▍▌▋▊▉█"
BARS = " ▁▂▃▄▅▆▇█"
FILLS = "█▒░▓■□▪"  # of the parts of a bar without colours
SHADES = (" ░▒▓█", " .:*#")  # of positive and of negative numbers
PLOT_LINES = 16  # lines of a plot


def draw_blocks(
    table: Table, width: int = 80, digits: int | None = None, *, colours: bool = False
) -> Iterator[str]:
    """Yield the lines of a table's pictures; no line is wider than the terminal."""
    for number, view in enumerate(read_views(table, digits)):
        yield from ["\n"] * (number > 0)
        yield fit(clean(view.title), width).rstrip() + "\n"
        for panel in view.panels:
            if panel.name and view.chart.kind != "tokens":
                yield "\n" + fit(clean(panel.name), width).rstrip() + "\n"
            for line in DRAW[view.chart.kind](view, panel, width, colours):
                yield line.rstrip(" ") + "\n"
        if view.chart.note:
            yield "\n" + "".join(f"{line}\n" for line in wrap(view.chart.note, width))


def shade_sentences(view: View, width: int, colours: bool) -> Iterator[str]:
    """Yield each sentence, folded to the width, its target in brackets."""
    most = max(view.numbers, default=0.0) or 1.0
    for panel in view.panels:
        target = find_target(panel.points)
        if target is None:
            yield f"[{clean(panel.points[0].start)}]"
        lines, used = [("", "")], 0  # the words, and bars that stand for colours
        for i, point in enumerate(panel.points):
            word = f"[{clean(point.label)}]" if i == target else clean(point.label)
            size = min(width, display_width(word))
            if used and used + 1 + size > width:
                lines.append(("", ""))
                used = 0
            fraction = max(0.0, point.y[0] or 0.0) / most
            gap, (line, under) = " " * (used > 0), lines[-1]
            painted = paint(fit(word, size), 0, colours, fraction)
            bars = BARS[min(8, round(fraction * 8))] * size
            lines[-1] = (line + gap + painted, under + gap + bars)
            used += len(gap) + size
        for line, under in lines:
            yield line
            if not colours and under.strip():
                yield under.rstrip()


def _sentence(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw the shaded sentence, and under it a bar for each word."""
    yield from shade_sentences(replace(view, panels=[panel]), width, colours)
    yield ""
    yield from _bars(view, panel, width, colours)


def _columns(view: View, width: int) -> tuple[int, int, int]:
    """Return the widths of labels, plot and numbers in columns."""
    names = max((display_width(clean(_label(view, point))) for point in view.points), default=0)
    numbers = max((len(text) for p in view.points for text in p.texts), default=0)
    label = max(1, min(names, width * 2 // 5))
    return label, max(1, width - label - numbers - 2), numbers


def _label(view: View, point: Point) -> str:
    """Return the label of a line; with arrows, the label and the representation."""
    starts = view.chart.kind == "dots" and view.chart.start
    return f"{point.label} {point.series}" if starts else point.label


def _bars(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw bars from 0; several for a label one below the other, or stacked."""
    label, plot, numbers = _columns(view, width)
    names, fills = (view.series, FILLS) if view.chart.stacked else (view.names, "█▒▒▒▒▒▒")
    fills = "█" * len(names) if colours else fills
    if view.chart.stacked:
        for name, points in panel.by_label():
            total, done, bar = sum(map(part_length, points)) or 1.0, 0.0, ""
            for point in points:
                which, begun = view.series_number(point), done
                done += part_length(point) / total
                size = round(done * plot) - round(begun * plot)
                bar += paint(fills[which % len(fills)] * size, which, colours)
            yield f"{fit(clean(name), label)} {bar}"
    else:
        at = replace(scale(view.numbers, view.chart.domain, close=True), start=0, end=plot)
        for point in panel.points:
            for i, (value, text) in enumerate(zip(point.y, point.texts, strict=True)):
                bar = draw_bar(at, value, plot).replace("█", fills[i % len(fills)])
                name = fit(clean(point.label) if i == 0 else "", label)
                yield f"{name} {paint(bar, i, colours)} {text:>{numbers}}"
    if (len(names) > 1 or view.chart.stacked) and panel is view.panels[-1]:
        yield from _legend(names, width, colours, fills)


def draw_bar(at: Scale, value: float | None, size: int) -> str:
    """Return a bar from 0 in block characters, `size` columns wide in all.

    >>> draw_bar(Scale(0, 1, 0, 4), 0.6, 4), draw_bar(Scale(-1, 1, 0, 4), -0.5, 4)
    ('██▍ ', ' █  ')
    """
    if value is None:
        return " " * size
    low, high = sorted((at(0), at(value)))
    first, whole = round(low), int(high) if value >= 0 else round(high)
    eighths = round((high - whole) * 8) if value >= 0 else 0
    bar = " " * first + "█" * (whole - first) + EIGHTHS[eighths] * (eighths > 0)
    return bar.ljust(size)[:size]


def _dots(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw a line for each row: its interval, its marks, its number."""
    label, plot, numbers = _columns(view, width)
    at = replace(scale(view.numbers, view.chart.domain, close=True), start=0, end=plot - 1)
    for point in panel.points:
        line = [" "] * plot
        if at.low <= 0 <= at.high:
            line[round(at(0))] = "│"
        if point.low is not None and point.high is not None:
            first, last = round(at(point.low)), round(at(point.high))
            line[first : last + 1] = "─" * (last + 1 - first)
        for i, value in enumerate(point.y):
            if value is not None:
                which = view.series_number(point, i)
                line[round(at(value))] = paint(MARKS[which % len(MARKS)], which, colours)
        text = point.texts[0] if len(view.names) == 1 else ""
        yield f"{fit(clean(_label(view, point)), label)} {''.join(line)} {text:>{numbers}}"
    if len(view.series) > 1 and not view.chart.start and panel is view.panels[-1]:
        yield from _legend(view.series, width, colours, MARKS)


def _heat(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw squares: numbers on a shade where they fit, else shades alone."""
    _, names, labels, rows = arrange_squares(view, panel)
    if not rows:
        return
    most = max(map(abs, view.chart.domain or view.numbers), default=0.0) or 1.0
    size = max(1, min(max(display_width(clean(label)) for label in labels), width // 3))
    numbers = max((len(text) for row in rows for _, text in row), default=0) + 2
    free = (width - size - 1) // max(1, len(names))
    wide = min(free, max(numbers, min(8, max(map(display_width, names)) + 1)))
    if free < 1:
        names, wide = names[: max(1, width - size - 1)], 1
    heads = "".join(fit(clean(name), wide - 1, right=True) + " " for name in names)
    yield f"{' ' * size} {heads}" if wide > 3 else f"{' ' * size} {names[0]} … {names[-1]}"[:width]
    for label, row in zip(labels, rows, strict=True):
        line = ""
        for value, text in row[: len(names)]:
            line += _draw_square(value, text if wide >= numbers else "", most, wide, colours)
        yield f"{fit(clean(label), size)} {line}"


def _draw_square(value: float | None, text: str, most: float, wide: int, colours: bool) -> str:
    if value is None:
        return fit("·", wide, right=True)
    fraction = min(1.0, abs(value) / most)
    if colours:
        return paint(fit(f"{text} ", wide, right=True), int(value < 0), True, fraction)
    shade = SHADES[value < 0][round(fraction * 4)]
    return fit(f"{shade}{text}", wide - 1, right=True) + " " if text else shade * wide


def _plot(view: View, panel: Panel, width: int, colours: bool) -> Iterator[str]:
    """Draw lines or points on a grid, with the scale of y on the left."""
    drawn = ((p, i, y) for p in panel.points for i, y in enumerate(p.y) if y is not None)
    marks = [(p.x, y, view.series_number(p, i)) for p, i, y in drawn if p.x is not None]
    if not marks:
        return
    xs, ys = [x for x, _, _ in marks], [y for _, y, _ in marks]
    along, up = Scale(min(xs), max(xs), 0, 1), scale(view.numbers, view.chart.domain)
    mapped = view.chart.kind == "scatter" and not view.chart.start
    if mapped:
        up = Scale(min(ys), max(ys), 0, 1)
    elif view.chart.start:  # both axes and all panels share one scale
        along = up = scale([*view.xs, *view.numbers], view.chart.domain)
    up = replace(up, start=PLOT_LINES - 1, end=0)
    ticks = {} if mapped else {round(up(value)): text for value, text in up.ticks}
    left = max(map(len, ticks.values()), default=-1) + 1
    plot = max(2, width - left - 1)
    along = replace(along, start=0, end=plot - 1)
    series_at: dict[tuple[int, int], list[int]] = {}
    for x, y, which in marks:
        series_at.setdefault((round(along(x)), round(up(y))), []).append(which)
    for row in range(PLOT_LINES):
        line = ""
        for column in range(plot):
            here = series_at.get((column, row), [])
            most = max(sorted(set(here)), key=here.count, default=0)  # the most frequent series
            line += paint(MARKS[most % len(MARKS)], most, colours) if here else " "
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
    "tokens": _sentence, "heat": _heat, "scatter": _plot, "lines": _plot, "bars": _bars,
    "dots": _dots,
}  # fmt: skip
