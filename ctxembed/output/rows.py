"""Draw bars and dots, one line for each label."""

from collections.abc import Iterable
from dataclasses import replace

from ctxembed.output.frame import Scale, draw_legend, draw_x_axis, scale
from ctxembed.output.letters import SMALL, clean, measure, shorten
from ctxembed.output.sheet import COLOURS, MARGIN, Sheet, short
from ctxembed.output.view import Panel, Point, View

LINE = 20  # the height of a bar, or of a line of dots


def _label(sheet: Sheet, left: float, y: float, text: str) -> None:
    """Write a label to the left of a plot, shortened to the width for labels."""
    label = shorten(clean(text), sheet.inner * 0.36)
    sheet.text(left - 10, y, label, anchor="end", tip=text)


def _left(sheet: Sheet, labels: Iterable[str]) -> float:
    """Return the x coordinate where the plot begins, right of its labels."""
    shown = (shorten(clean(label), sheet.inner * 0.36) for label in labels)
    return MARGIN + max(map(measure, shown), default=0) + 10


def _numbers_width(view: View) -> float:
    texts = (text for point in view.points for text in point.texts)
    return max((measure(text, SMALL) for text in texts), default=0) + 10


def _begin(sheet: Sheet, view: View, panel: Panel, at: Scale, high: float) -> float:
    """Draw a panel's name and scale, tick labels under the last only; return its top."""
    sheet.heading(panel.name)
    top, last = sheet.y, panel is view.panels[-1]  # all panels share one scale
    draw_x_axis(sheet, at, top, top + high, numbers=last)
    sheet.y = top + high + (SMALL + 12 if last else 4)
    return top


def draw_bars(sheet: Sheet, view: View) -> None:
    """Draw bars from 0; several for a label are drawn one below the other, or stacked."""
    if view.chart.stacked:
        _draw_stacked(sheet, view)
        return
    left = _left(sheet, (point.label for point in view.points))
    right = sheet.width - MARGIN - _numbers_width(view)
    at = replace(scale(view.numbers, view.chart.domain, close=True), start=left, end=right)
    if at.low < 0:  # labels of negative bars are on the left
        at = replace(at, start=left + _numbers_width(view))
    several = len(view.names)
    thick = LINE - 6 if several == 1 else 11
    group_height = thick * several + 6
    for panel in view.panels:
        top = _begin(sheet, view, panel, at, group_height * len(panel.points))
        for number, point in enumerate(panel.points):
            y, sheet.row = top + number * group_height + 3, number
            _label(sheet, left, y + thick * several / 2 + 4.5, point.label)
            for i, (value, text) in enumerate(zip(point.y, point.texts, strict=True)):
                if value is None:
                    continue
                tip = f"{point.label} · {view.names[i]}: {text}"
                ends = sorted((at(0), at(value)))
                high = thick if several == 1 else thick - 1
                sheet.box(ends[0], y + i * thick, ends[1] - ends[0], high, f"f{i}", tip=tip)
                x, anchor = (ends[1] + 5, "") if value >= 0 else (ends[0] - 5, "end")
                sheet.small_text(x, y + i * thick + thick / 2 + 4, text, anchor)
        sheet.row = None
    if several > 1:
        draw_legend(sheet, view.names, "box")


def part_length(point: Point) -> float:
    """Return the length of a part of a stacked bar, at least 0."""
    return max(0.0, point.y[0] or 0.0)


def _draw_stacked(sheet: Sheet, view: View) -> None:
    """Draw the shares of each label as one bar."""
    left = _left(sheet, (point.label for point in view.points))
    for panel in view.panels:
        groups = panel.by_label()
        total = max(sum(map(part_length, group)) for _, group in groups) or 1.0
        at = Scale(0, total, left, sheet.width - MARGIN - 8)
        top = _begin(sheet, view, panel, at, LINE * len(groups))
        for number, (label, group) in enumerate(groups):
            y, x = top + number * LINE + 2, 0.0
            _label(sheet, left, y + LINE / 2 + 2.5, label)
            for point in group:
                value, kind = part_length(point), f"f{view.series_number(point) % COLOURS}"
                size = at(x + value) - at(x)
                tip = f"{label} · {point.series}: {point.texts[0]}"
                sheet.box(at(x), y, max(0, size - 1), LINE - 4, kind, shade=0.8, tip=tip)
                if size > measure(point.texts[0], SMALL) + 4:
                    x_text = at(x) + size / 2
                    sheet.text(x_text, y + 12, point.texts[0], size=SMALL, anchor="middle")
                x += value
    draw_legend(sheet, view.series, "box")


def draw_dots(sheet: Sheet, view: View) -> None:
    """Draw a dot for each row, with its interval, and an arrow from the start representation."""
    start = view.chart.start

    def name(point: Point) -> str:
        return point.series if start else point.label

    left = max(_left(sheet, map(name, view.points)), MARGIN + 40)
    single = len(view.names) == 1
    right = sheet.width - MARGIN - (_numbers_width(view) if single else 10)
    at = replace(scale(view.numbers, view.chart.domain, close=True), start=left, end=right)
    for panel in view.panels:
        groups = panel.by_label()
        headed = bool(start) and len(groups) > 1
        lines = len(panel.points) + len(groups) * headed
        y = _begin(sheet, view, panel, at, LINE * lines) + LINE / 2
        for label, group in groups:
            if headed:
                sheet.text(MARGIN, y + 4.5, shorten(label, sheet.inner), "ink halo", bold=True)
                y += LINE
            from_ = next((p.y[0] for p in group if p.series == start), None) if start else None
            for point in group:
                _label(sheet, left, y + 4.5, name(point))
                if point.low is not None and point.high is not None:
                    interval = f"M{short(at(point.low))} {short(y)}H{short(at(point.high))}"
                    kind = f"l{view.series_number(point) % COLOURS}"
                    sheet.path(interval, kind, wide=2.5, opacity=0.55)
                for i, (value, text) in enumerate(zip(point.y, point.texts, strict=True)):
                    if value is None:
                        continue
                    which = view.series_number(point, i)
                    if from_ is not None and point.series != start:
                        sheet.arrow(at(from_), y, at(value), y, f"l{which % COLOURS}")
                    tip = f"{point.label} {point.series} {view.names[i]}: {text}"
                    if point.low is not None:
                        tip += f" ({point.low:.2f} to {point.high:.2f})"
                    sheet.mark(at(value), y, which, tip=tip)
                if single:
                    sheet.small_text(sheet.width - MARGIN, y + 4, point.texts[0], "end")
                y += LINE
    if len(view.series) > 1 and not start:
        draw_legend(sheet, view.series)
