"""Points: a map of many, or a plane on which a word moves."""

from collections.abc import Sequence
from dataclasses import replace

from ctxembed.output.frame import draw_below, draw_beside, draw_legend, name_panel, spread
from ctxembed.output.letters import SMALL, TEXT, clean, measure, shorten
from ctxembed.output.scale import Scale, scale
from ctxembed.output.sheet import COLOURS, MARGIN, Sheet, short
from ctxembed.output.view import Panel, View

CROWD = 12  # points under which a name may be written


def draw_scatter(sheet: Sheet, view: View) -> None:
    """Draw points: a map of many, or a plane with arrows from where a word started."""
    if view.chart.start:
        _draw_planes(sheet, view)
        return
    names = view.series
    for panel in view.panels:
        name_panel(sheet, panel)
        points = [(p.x, p.y[0], p) for p in panel.points if p.x is not None]
        across = [x for x, _, _ in points]
        upward = [y for _, y, _ in points if y is not None]
        wide, high = max(across) - min(across) or 1.0, max(upward) - min(upward) or 1.0
        tall = min(420.0, max(240.0, sheet.inner * high / wide))  # one step is as long both ways
        each = min((sheet.inner - 24) / wide, (tall - 24) / high)
        top, middle = sheet.y, sheet.width / 2
        centre = (max(across) + min(across)) / 2, (max(upward) + min(upward)) / 2
        frame = f"M{MARGIN} {short(top)}h{short(sheet.inner)}v{short(tall)}h-{short(sheet.inner)}z"
        sheet.path(frame, "line", wide=1)
        size = 3.6 if len(points) < 800 else 2.6
        heaps: dict[str, list[tuple[float, float]]] = {}
        for x, y, point in points:
            if y is not None:
                at = middle + each * (x - centre[0]), top + tall / 2 - each * (y - centre[1])
                sheet.mark(*at, view.which(point), size, tip=point.label)
                heaps.setdefault(point.series, []).append(at)
        _name_heaps(sheet, heaps, top, top + tall)
        sheet.y = top + tall + 6
    if len(names) > 1:
        draw_legend(sheet, names)


def _name_heaps(
    sheet: Sheet, heaps: dict[str, list[tuple[float, float]]], top: float, bottom: float
) -> None:
    """Write the first words of each series over the middle of its points, where it has many."""
    heaps = {name: some for name, some in heaps.items() if len(some) >= CROWD}
    # The median of each side by itself; zip turns points into sides.
    middles = [
        [sorted(side)[len(some) // 2] for side in zip(*some, strict=True)]
        for some in heaps.values()
    ]
    names = [shorten(" ".join(clean(name).split()[:4]), sheet.inner * 0.4) for name in heaps]
    for y, number in spread([(y, number) for number, (_, y) in enumerate(middles)], TEXT + 6):
        half = measure(names[number]) / 2 + 4
        x = min(max(middles[number][0], MARGIN + half), sheet.width - MARGIN - half)
        y = min(max(y, top + 16), bottom - 8)
        sheet.text(x, y, names[number], "ink halo", anchor="middle", bold=True)


def _draw_planes(sheet: Sheet, view: View) -> None:
    """Draw each target on the plane of two axes, two planes beside each other."""
    at = scale([*view.xs, *view.numbers], view.chart.domain)
    beside = 2 if len(view.panels) > 1 else 1
    side = min(360.0, sheet.inner / beside - 60)
    top = bottom = sheet.y
    for number, panel in enumerate(view.panels):
        if number % beside == 0 and number:
            top = bottom + 2 * SMALL + 24
        sheet.y = top
        left = MARGIN + 46 + (number % beside) * (sheet.inner / beside)
        name_panel(sheet, panel, left)
        bottom = sheet.y + side
        along = replace(at, start=left, end=left + side)
        up = replace(at, start=bottom, end=sheet.y)
        draw_beside(sheet, up, left, left + side)
        draw_below(sheet, along, sheet.y, bottom, str(view.x_name))
        middle = (sheet.y + bottom) / 2
        name = shorten(clean(view.names[0]), side, SMALL)
        sheet.text(left - 34, middle, name, "soft", size=SMALL, anchor="middle", turn=-90)
        _arrows(sheet, view, panel, along, up)
    sheet.y = bottom + 2 * SMALL + 16


def _arrows(sheet: Sheet, view: View, panel: Panel, along: Scale, up: Scale) -> None:
    """Draw a word's way from where it started, and name each end without writing on another."""
    placed = [
        (along(p.x), up(p.y[0]), p) for p in panel.points if p.x is not None and p.y[0] is not None
    ]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y, _ in placed]
    begin = next(((x, y) for x, y, p in placed if p.series == view.chart.start), None)
    for x, y, p in placed:
        if begin and p.series != view.chart.start:
            sheet.arrow(*begin, x, y, f"l{view.which(p) % len(COLOURS)}")
            steps = [
                (begin[0] + (x - begin[0]) * i / 12, begin[1] + (y - begin[1]) * i / 12)
                for i in range(13)
            ]
            taken += [(a - 2, b - 2, a + 2, b + 2) for a, b in steps]
    for x, y, p in placed:
        tip = f"{p.label} {p.series}: {p.x_text}, {p.texts[0]}"
        sheet.mark(x, y, view.which(p), tip=tip)
    for x, y, p in placed:
        name = shorten(clean(p.series), (along.end - along.start) * 0.45)
        wide = measure(name)
        boxes = [
            (x + 9, y - 8, x + 9 + wide, y + 7),
            (x - 9 - wide, y - 8, x - 9, y + 7),
            (x - wide / 2, y - 23, x + wide / 2, y - 8),
            (x - wide / 2, y + 8, x + wide / 2, y + 23),
            (x + 6, y - 21, x + 6 + wide, y - 6),
            (x + 6, y + 6, x + 6 + wide, y + 21),
            (x - 6 - wide, y - 21, x - 6, y - 6),
            (x - 6 - wide, y + 6, x - 6, y + 21),
        ]
        most = min(along.end + 40, sheet.width - 6)
        inside = [b for b in boxes if b[0] >= along.start and b[2] <= most]
        best = min(inside or boxes, key=lambda box: sum(_overlap(box, other) for other in taken))
        taken.append(best)
        sheet.text(best[0], best[3] - 3.5, name, "ink halo")


def _overlap(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the area that two boxes share: left, top, right, bottom each."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0
