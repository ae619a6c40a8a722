"""Draw lines with intervals, maps of points, and planes of two axes with arrows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ctxembed.output.frame import Scale, draw_legend, draw_x_axis, draw_y_axis, scale, spread_labels
from ctxembed.output.letters import SMALL, TEXT, clean, measure, shorten
from ctxembed.output.sheet import COLOURS, MARGIN, Sheet, line_through, short
from ctxembed.output.view import Panel, View

MIN_POINTS = 12  # points of a series from which it is named on the map


def draw_lines(sheet: Sheet, view: View) -> None:
    """Draw lines with their intervals; each name is at the end of its line."""
    names = view.series
    names_width = min(sheet.inner * 0.3, max(measure(clean(name), SMALL) for name in names) + 22)
    left, right = MARGIN + 38, sheet.width - MARGIN - names_width
    ups = scale(view.numbers, view.chart.domain)
    low, high = min(view.xs, default=0), max(view.xs, default=1)
    along = Scale(low, high if high > low else low + 1, left, right)
    for panel in view.panels:
        sheet.heading(panel.name)
        sheet.y += 6
        top, bottom = sheet.y, sheet.y + 260
        up = replace(ups, start=bottom, end=top)
        draw_y_axis(sheet, up, left, right)
        for value, text in along.ticks:
            sheet.small_text(along(value), bottom + SMALL + 4, text)
        sheet.small_text((left + right) / 2, bottom + 2 * SMALL + 10, str(view.chart.x))
        ends = [(_line(sheet, view, panel, i, along, up), i) for i in range(len(names))]
        for y, number in spread_labels([(y, i) for y, i in ends if y is not None], 15):
            sheet.mark(right + 12, y, number, 4)
            text = shorten(clean(names[number]), names_width - 20, SMALL)
            sheet.text(right + 20, y + 4, text, size=SMALL, tip=names[number])
        sheet.y = bottom + 2 * SMALL + 22


def _line(
    sheet: Sheet, view: View, panel: Panel, number: int, along: Scale, up: Scale
) -> float | None:
    """Draw one line; return the y coordinate of its last point."""
    column = 0 if view.chart.series else number
    mine = (p for p in panel.points if view.series_number(p, number) == number)
    points = [(along(p.x), p, p.y[column]) for p in mine if p.x is not None]
    colour = number % COLOURS
    held = [
        (x, up(p.low), up(p.high)) for x, p, _ in points if p.low is not None and p.high is not None
    ]
    if len(held) > 1:
        edge = [(x, high) for x, _, high in held] + [(x, low) for x, low, _ in held[::-1]]
        sheet.path(line_through(edge) + "z", f"f{colour}", opacity=0.16)
    drawn = [(x, up(value), p) for x, p, value in points if value is not None]
    if not drawn:
        return None
    sheet.path(line_through([(x, y) for x, y, _ in drawn]), f"l{colour}", wide=2)
    if len(drawn) <= 30:
        for x, y, p in drawn:
            tip = f"{view.series[number]} · {p.x_text}: {p.texts[column]}"
            sheet.mark(x, y, number, 3.2, tip=tip)
    return drawn[-1][1]


def draw_scatter(sheet: Sheet, view: View) -> None:
    """Draw points: a map of many, or a plane with arrows from the start representation."""
    if view.chart.start:
        return _draw_planes(sheet, view)
    for panel in view.panels:
        sheet.heading(panel.name)
        points = [(p.x, p.y[0], p) for p in panel.points if p.x is not None and p.y[0] is not None]
        if not points:
            continue
        frame = fit_frame([(x, y) for x, y, _ in points], sheet.inner)
        top, inner = sheet.y, short(sheet.inner)
        edge = f"M{MARGIN} {short(top)}h{inner}v{short(frame.height)}h-{inner}z"
        sheet.path(edge, "line", wide=1)
        size = 3.6 if len(points) < 800 else 2.6
        clusters: dict[str, list[tuple[float, float]]] = {}
        for x, y, point in points:
            at, series = frame(x, y), view.series_number(point)
            sheet.mark(MARGIN + at[0], top + at[1], series, size, tip=point.label)
            clusters.setdefault(point.series, []).append(at)
        large = {name: some for name, some in clusters.items() if len(some) >= MIN_POINTS}
        for x, y, name, _ in name_clusters(large, frame):
            sheet.text(MARGIN + x, top + y, name, "ink halo", anchor="middle", bold=True)
        sheet.y = top + frame.height + 6
    if len(view.series) > 1:
        draw_legend(sheet, view.series)


class Frame(NamedTuple):
    """A map of points with equal units on both axes."""

    width: float
    height: float
    unit: float  # pixels
    x: float  # what is in the middle
    y: float

    def __call__(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point in pixels from the left and the top."""
        across, down = self.unit * (x - self.x), self.unit * (self.y - y)
        return self.width / 2 + across, self.height / 2 + down


def fit_frame(points: Sequence[tuple[float, float]], width: float) -> Frame:
    """Return the frame of a given width that shows all points."""
    (left, right), (low, high) = ((min(side), max(side)) for side in zip(*points, strict=True))
    wide, tall = right - left or 1.0, high - low or 1.0
    height = min(420.0, max(240.0, width * tall / wide))
    unit = min((width - 24) / wide, (height - 24) / tall)
    return Frame(width, height, unit, (left + right) / 2, (low + high) / 2)


def name_clusters(
    clusters: dict[str, list[tuple[float, float]]], frame: Frame
) -> Iterator[tuple[float, float, str, int]]:
    """Yield x, y, the first words and the index of each series, over the median of its points."""
    sides = (zip(*some, strict=True) for some in clusters.values())
    middles = [[sorted(side)[len(side) // 2] for side in both] for both in sides]
    names = [shorten(" ".join(clean(name).split()[:4]), frame.width * 0.4) for name in clusters]
    heights = [(y, number) for number, (_, y) in enumerate(middles)]
    for y, number in spread_labels(heights, TEXT + 6):
        half = measure(names[number]) / 2 + 4
        x = min(max(middles[number][0], half), frame.width - half)
        yield x, min(max(y, 16), frame.height - 8), names[number], number


def _draw_planes(sheet: Sheet, view: View) -> None:
    """Draw each target on the plane of two axes, two planes per line."""
    at = scale([*view.xs, *view.numbers], view.chart.domain)
    beside = 2 if len(view.panels) > 1 else 1
    side = min(360.0, sheet.inner / beside - 60)
    top = bottom = sheet.y
    for number, panel in enumerate(view.panels):
        if number % beside == 0 and number:
            top = bottom + 2 * SMALL + 24
        sheet.y = top
        left = MARGIN + 46 + (number % beside) * (sheet.inner / beside)
        sheet.heading(panel.name, left)
        bottom = sheet.y + side
        along = replace(at, start=left, end=left + side)
        up = replace(at, start=bottom, end=sheet.y)
        draw_y_axis(sheet, up, left, left + side)
        draw_x_axis(sheet, along, sheet.y, bottom, str(view.x_name))
        x, y, name = left - 34, (sheet.y + bottom) / 2, shorten(clean(view.names[0]), side, SMALL)
        sheet.text(x, y, name, "soft", size=SMALL, anchor="middle", turn=-90)
        _arrows(sheet, view, panel, along, up)
    sheet.y = bottom + 2 * SMALL + 16


def _arrows(sheet: Sheet, view: View, panel: Panel, along: Scale, up: Scale) -> None:
    """Draw arrows from the start representation; place labels where they overlap least."""
    placed = [
        (along(p.x), up(p.y[0]), p) for p in panel.points if p.x is not None and p.y[0] is not None
    ]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y, _ in placed]
    begin = next(((x, y) for x, y, p in placed if p.series == view.chart.start), None)
    for x, y, p in placed:
        if begin and p.series != view.chart.start:
            sheet.arrow(*begin, x, y, f"l{view.series_number(p) % COLOURS}")
            for i in range(13):  # the arrow as small boxes
                a, b = begin[0] + (x - begin[0]) * i / 12, begin[1] + (y - begin[1]) * i / 12
                taken.append((a - 2, b - 2, a + 2, b + 2))
    for x, y, p in placed:
        tip = f"{p.label} {p.series}: {p.x_text}, {p.texts[0]}"
        sheet.mark(x, y, view.series_number(p), tip=tip)
    for x, y, p in placed:
        name = shorten(clean(p.series), (along.end - along.start) * 0.45)
        wide = measure(name)
        corners = [  # right, left, above, below, and the four corners
            (9, -8), (-9 - wide, -8), (-wide / 2, -23), (-wide / 2, 8),
            (6, -21), (6, 6), (-6 - wide, -21), (-6 - wide, 6),
        ]  # fmt: skip
        boxes = [(x + dx, y + dy, x + dx + wide, y + dy + 15) for dx, dy in corners]
        most = min(along.end + 40, sheet.width - 6)
        inside = [b for b in boxes if b[0] >= along.start and b[2] <= most]
        best = min(inside or boxes, key=lambda box: sum(_overlap(box, other) for other in taken))
        taken.append(best)
        sheet.text(best[0], best[3] - 3.5, name, "ink halo")


def _overlap(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the common area of two boxes (left, top, right, bottom)."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0
