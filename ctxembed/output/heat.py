"""Draw heat maps: a square for each number, 0 is white."""

from math import ceil

from ctxembed.output.frame import draw_shades
from ctxembed.output.letters import SMALL, clean, measure, runs_left, shorten
from ctxembed.output.sheet import MARGIN, Sheet
from ctxembed.output.view import Panel, View

MAX_CELLS = 100  # per side of a heat map
MAX_COLUMNS = 24  # words of a sentence that are readable side by side
Cells = list[list[tuple[float | None, str]]]  # of each row: a number, and its text


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


def arrange_squares(view: View, panel: Panel) -> tuple[str, list[str], list[str], Cells]:
    """Return the name of the row labels, the names of columns and rows, and the cells.

    Long sentences run down, Urdu runs right to left.
    """
    corner, cells = view.label_name, Cells()
    if view.chart.x is None:  # a column of the table for each column of squares
        names = [clean(name) for name in view.names]
        labels = [point.label for point in panel.points]
        cells = [list(zip(p.y, p.texts, strict=True)) for p in panel.points]
    else:
        groups = panel.by_label()
        lines = [(k, some) for k, some in groups if any(p.y[0] is not None for p in some)]
        longest = max((some for _, some in lines), key=len, default=[])
        names = [clean(point.x_text) for point in longest]
        labels = [label for label, _ in lines]
        cells = [[(p.y[0], p.texts[0]) for p in some] for _, some in lines]
        if len(names) > MAX_COLUMNS and len(labels) < len(names):
            names, labels = [f"{corner} {label}".strip() for label in labels], names
            corner = view.x_name
            cells = [list(column) for column in zip(*cells, strict=False)]
        elif runs_left(" ".join(names)):
            names, cells = names[::-1], [line[::-1] for line in cells]
    kept = [line[:MAX_CELLS] for line in cells[:MAX_CELLS]]
    return corner, names[:MAX_CELLS], labels[:MAX_CELLS], kept


def _draw_squares(sheet: Sheet, view: View, panel: Panel, most: float) -> None:
    """Draw the squares of one panel under the names of their columns."""
    corner, names, full, cells = arrange_squares(view, panel)
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
