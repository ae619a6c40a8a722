"""Lines with their intervals."""

from dataclasses import replace

from ctxembed.output.frame import draw_beside, name_panel, spread
from ctxembed.output.letters import SMALL, clean, measure, shorten
from ctxembed.output.scale import Scale, scale
from ctxembed.output.sheet import COLOURS, MARGIN, Sheet, short
from ctxembed.output.view import Panel, View


def draw_lines(sheet: Sheet, view: View) -> None:
    """Draw lines with their intervals; each is named where it ends."""
    names = view.series
    room = min(sheet.inner * 0.3, max(measure(clean(name), SMALL) for name in names) + 22)
    left, right = MARGIN + 38, sheet.width - MARGIN - room
    ups = scale(view.numbers, view.chart.domain)
    low, high = min(view.xs, default=0), max(view.xs, default=1)
    along = Scale(low, high if high > low else low + 1, left, right)
    for panel in view.panels:
        name_panel(sheet, panel)
        sheet.y += 6
        top, bottom = sheet.y, sheet.y + 260
        up = replace(ups, start=bottom, end=top)
        draw_beside(sheet, up, left, right)
        for value, text in along.ticks:
            x = along(value)
            sheet.text(x, bottom + SMALL + 4, text, "soft", size=SMALL, anchor="middle")
        told = str(view.chart.x)
        middle = (left + right) / 2
        sheet.text(middle, bottom + 2 * SMALL + 10, told, "soft", size=SMALL, anchor="middle")
        ends: list[tuple[float, int]] = []
        for number in range(len(names)):
            y = _line(sheet, view, panel, number, along, up)
            if y is not None:
                ends.append((y, number))
        for y, number in spread(ends, 15):
            sheet.mark(right + 12, y, number, 4)
            text = shorten(clean(names[number]), room - 20, SMALL)
            sheet.text(right + 20, y + 4, text, size=SMALL, tip=names[number])
        sheet.y = bottom + 2 * SMALL + 22


def _line(
    sheet: Sheet, view: View, panel: Panel, number: int, along: Scale, up: Scale
) -> float | None:
    """Draw one line; return where it ends."""
    column = 0 if view.chart.series else number
    found = [
        (along(p.x), p, p.y[column])
        for p in panel.points
        if p.x is not None and view.which(p, number) == number
    ]
    colour = number % len(COLOURS)
    held = [
        (x, up(p.low), up(p.high)) for x, p, _ in found if p.low is not None and p.high is not None
    ]
    if len(held) > 1:
        there = [f"{short(x)} {short(high)}" for x, _, high in held]
        back = [f"{short(x)} {short(low)}" for x, low, _ in reversed(held)]
        sheet.path(f"M{'L'.join([*there, *back])}z", f"f{colour}", opacity=0.16)
    drawn = [(x, up(value), p) for x, p, value in found if value is not None]
    if not drawn:
        return None
    way = "L".join(f"{short(x)} {short(y)}" for x, y, _ in drawn)
    sheet.path(f"M{way}", f"l{colour}", wide=2)
    if len(drawn) <= 30:
        for x, y, p in drawn:
            tip = f"{view.series[number]} · {p.x_text}: {p.texts[column]}"
            sheet.mark(x, y, number, 3.2, tip=tip)
    return drawn[-1][1]
