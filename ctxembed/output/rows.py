"""Draw bars, dots and the squares of heat maps, one line for each label."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest
from math import ceil

from ctxembed.output.frame import Scale, draw_legend, draw_shades, draw_x_axis, scale
from ctxembed.output.letters import SMALL, clean, measure, runs_left, shorten
from ctxembed.output.sheet import COLOURS, MARGIN, Sheet, short
from ctxembed.output.view import Panel, Point, View

LINE = 20  # the height of a bar, or of a line of dots
MAX_CELLS = 100  # per side of a heat map
MAX_COLUMNS = 24  # words of a sentence that are readable side by side
NARROW, MAX_COLUMNS_NARROW = 400, 7  # the same where the picture has fewer pixels than this
Cells = list[list[tuple[float | None, str]]]  # of each row: a number, and its text


def _label(sheet: Sheet, left: float, y: float, text: str) -> None:
    """Write a label to the left of a plot, shortened to the width for labels."""
    sheet.text(left - 10, y, shorten(clean(text), sheet.inner * 0.36), anchor="end", tip=text)


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
        return _draw_stacked(sheet, view)
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
    # Words beside the lines take a third of the width.
    edge = sheet.width - MARGIN - (sheet.width / 3 if any(p.beside for p in view.points) else 0)
    right = edge - (_numbers_width(view) if single else 10)
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
                    sheet.small_text(edge, y + 4, point.texts[0], "end")
                if point.beside:
                    words = shorten(point.beside, sheet.width - MARGIN - edge - 10, SMALL)
                    sheet.small_text(edge + 10, y + 4, words, "")
                y += LINE
    if len(view.series) > 1 and not start:
        draw_legend(sheet, view.series)


def draw_heat(sheet: Sheet, view: View) -> None:
    """Draw squares; 0 is white, more is blue, less than 0 is red."""
    numbers = view.numbers
    most = max(map(abs, view.chart.domain or numbers), default=0.0) or 1.0
    for panel in view.panels:
        sheet.heading(panel.name)
        _draw_squares(sheet, view, panel, most)
        sheet.y += 12
    signed = min(numbers, default=0.0) < 0
    limit = f"{most:.2f}".rstrip("0").rstrip(".")
    draw_shades(sheet, f"-{limit}" if signed else "0", limit, 14, signed=signed)


def arrange_squares(
    view: View, panel: Panel, max_columns: int = MAX_COLUMNS
) -> tuple[str, list[str], list[str], Cells]:
    """Return the name of the row labels, the names of columns and rows, and the cells.

    A sentence of more words than max_columns runs downwards, if this makes fewer columns.
    """
    corner = view.label_name
    if view.chart.x is None:  # a column of the table for each column of squares
        names = [clean(name) for name in view.names]
        labels = [point.label for point in panel.points]
        cells = [list(zip(p.y, p.texts, strict=True)) for p in panel.points]
    else:
        lines = [(k, some) for k, some in panel.by_label() if any(p.y[0] is not None for p in some)]
        longest = max((some for _, some in lines), key=len, default=[])
        names = [clean(point.x_text) for point in longest]
        labels = [label for label, _ in lines]
        cells = [[(p.y[0], p.texts[0]) for p in some] for _, some in lines]
        if len(names) > max_columns and len(labels) < len(names):
            names, labels = [f"{corner} {label}".strip() for label in labels], names
            corner = view.x_name
            cells = [list(column) for column in zip_longest(*cells, fillvalue=(None, ""))]
        elif runs_left(" ".join(names)):
            names, cells = names[::-1], [line[::-1] for line in cells]
    kept = [line[:MAX_CELLS] for line in cells[:MAX_CELLS]]
    return corner, names[:MAX_CELLS], labels[:MAX_CELLS], kept


def _draw_squares(sheet: Sheet, view: View, panel: Panel, most: float) -> None:
    """Draw the squares of one panel under the names of their columns."""
    columns = MAX_COLUMNS if sheet.width >= NARROW else MAX_COLUMNS_NARROW
    corner, names, full, cells = arrange_squares(view, panel, columns)
    if not cells:
        return
    labels = [shorten(clean(label), sheet.inner * 0.34) for label in full]
    left = MARGIN + max(measure(corner, SMALL), *map(measure, labels)) + 8
    widest = max(measure(name, SMALL) for name in names) + 8
    free, max_size = sheet.width - MARGIN - left, max(56.0, min(widest, 100.0))
    size = min(max_size, free / max(1, len(names)))
    shown = [shorten(name, 150, SMALL) for name in names]
    turned = any(measure(name, SMALL) > size - 4 for name in names)
    if turned:  # the last rotated name is wider than its square
        over = max(0.0, measure(shown[-1], SMALL) * 0.72 - size / 2 - MARGIN / 2)
        size = max(2.0, min(max_size, (free - over) / len(names)))
    high = min(size, 30.0 if len(full) <= MAX_COLUMNS else 20.0) if size > 12 else size
    longest = max(measure(name, SMALL) for name in shown)
    sheet.y += longest * 0.72 + 4 if turned else SMALL + 2
    step = ceil(12 / int(size))  # leave out names that would overlap
    for i in range(0, len(names), step):
        x = left + (i + 0.5) * size
        if turned:
            sheet.text(x, sheet.y, shown[i], "soft", size=SMALL, turn=-45, tip=names[i])
        else:
            sheet.small_text(x, sheet.y, shown[i])
    sheet.small_text(left - 8, sheet.y, shorten(corner, left - MARGIN - 8, SMALL), "end")
    sheet.y += 6
    widest = max((measure(text, SMALL) for line in cells for _, text in line), default=0)
    for number, (label, line) in enumerate(zip(labels, cells, strict=True)):
        y = sheet.y + number * high
        sheet.row = number if corner == view.label_name else None
        if number % ceil(12 / int(high)) == 0:
            sheet.text(left - 8, y + high / 2 + 4.5, label, anchor="end", tip=full[number])
        for i, (value, text) in enumerate(line):
            where = (left + i * size + 0.5, y + 0.5, size - 1, high - 1)
            tip = f"{full[number]} · {names[i]}: {text}"
            if value is None:
                sheet.box(*where, "none", shade=0.3)
                continue
            kind = "s0" if value >= 0 else "s1"
            sheet.box(*where, kind, shade=min(1.0, abs(value) / most), tip=tip)
            if widest < size - 3 and high >= 14:
                middle = left + (i + 0.5) * size
                sheet.text(middle, y + high / 2 + 4, text, size=SMALL, anchor="middle")
    sheet.row, sheet.y = None, sheet.y + len(cells) * high
