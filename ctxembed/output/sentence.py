"""A sentence as a picture: its words shaded by weight, and an arc as wide as the weight is."""

from collections import Counter
from collections.abc import Sequence

from ctxembed.output.frame import draw_shades
from ctxembed.output.letters import SMALL, TEXT, clean, measure, runs_left, shorten
from ctxembed.output.sheet import MARGIN, Sheet, short
from ctxembed.output.view import Panel, Point, View
from ctxembed.text.tokenizer import INNER

WIDE = 14  # the width of the arc of a weight of 1
PAD, GAP, HIGH = 5, 6, 26  # around a word, between words, and the height of its box
ROW = 22  # a line where each word has its own


def draw_tokens(sheet: Sheet, view: View) -> None:
    """Draw each panel: on one line where the sentence fits, else a word a line."""
    most = max(view.numbers, default=0.0)
    for panel in view.panels:
        words = [clean(point.label) for point in panel.points]
        sizes = [_room(word, point) for word, point in zip(words, panel.points, strict=True)]
        if len(view.panels) > 1:
            sheet.y += TEXT
            sheet.text(MARGIN, sheet.y, panel.name, bold=True)
            sheet.y += 4
        if sum(sizes) + GAP * (len(sizes) - 1) <= sheet.inner:
            _across(sheet, panel, sizes, most)
        else:
            _down(sheet, panel, most)
        sheet.y += 14
    told = max((p.texts[0] for p in view.points if p.y[0] == most), default="")
    draw_shades(sheet, f"shade, and width of an arc: {view.names[0]}   0", told, 16)


def find_target(points: Sequence[Point]) -> int | None:
    """Return which word is the target: apple, or apple:2 for the second apple of the sentence."""
    seen: Counter[str] = Counter()
    for place, point in enumerate(points):
        token = point.label.replace(f" {INNER}", "")
        seen[token] += 1
        if point.start == (token if seen[token] == 1 else f"{token}:{seen[token]}"):
            return place
    return None


def _room(word: str, point: Point) -> float:
    return max(measure(word) + 2 * PAD, measure(point.texts[0], SMALL) + 4)


def _shade(point: Point, most: float) -> float:
    return max(0.0, point.y[0] or 0.0) / most if most else 0.0


def _across(sheet: Sheet, panel: Panel, sizes: Sequence[float], most: float) -> None:
    """Draw a sentence on one line, in the middle of the sheet, from the side where it begins."""
    points, target = panel.points, find_target(panel.points)
    turned = runs_left(" ".join(point.label for point in points))
    x = (sheet.width - sum(sizes) - GAP * (len(sizes) - 1)) / 2
    middles = []
    for size in sizes:
        middles.append(sheet.width - x - size / 2 if turned else x + size / 2)
        x += size + GAP
    if target is None:  # it looks at another sentence
        start, base = sheet.width / 2, sheet.y + HIGH
        name = shorten(clean(points[0].start), sheet.inner / 2)
        _word(sheet, start, base - HIGH / 2, measure(name) + 2 * PAD, name, None)
        top = base + 90
    else:
        start = middles[target]
        far = max((abs(x - start) for x in middles), default=0)
        base = top = sheet.y + max(30, _height(far)) + WIDE * (most if most else 0) / 2
    begins = _side_by_side([point.y[0] or 0.0 for point in points], middles, start)
    for i, point in enumerate(points):
        weight = point.y[0]
        if not weight or weight < 0:
            continue
        from_, to = begins[i], middles[i]
        if target is None:
            bend = f"C{short(from_)} {short(base + 50)} {short(to)} {short(top - 50)}"
            arc = f"M{short(from_)} {short(base)}{bend} {short(to)} {short(top)}"
        elif i == target:
            arc = f"M{short(to - 9)} {short(top)}c-14 -38 32 -38 18 0"
        else:
            radii = f"{short(abs(to - from_) / 2)} {short(_height(abs(to - from_)))}"
            turn = int(to > from_)
            arc = f"M{short(from_)} {short(base)}A{radii} 0 0 {turn} {short(to)} {short(top)}"
        tip = f"{point.start} → {point.label}: {point.texts[0]}"
        sheet.path(arc, "l0", wide=WIDE * weight, opacity=0.7, tip=tip)
    for i, point in enumerate(points):
        x, shade = middles[i], None if i == target and point.y[0] is None else _shade(point, most)
        _word(sheet, x, top + HIGH / 2, sizes[i], clean(point.label), shade, bold=i == target)
        below = top + HIGH + SMALL + 3
        sheet.text(x, below, point.texts[0], "soft", size=SMALL, anchor="middle")
    sheet.y = top + HIGH + SMALL + 6


def _side_by_side(
    weights: Sequence[float], places: Sequence[float], start: float
) -> Sequence[float]:
    """Return where each arc leaves the target, so that arcs lie beside each other, not crossing.

    >>> _side_by_side([0.5, 0.0, 0.25, 0.25], [0, 100, 200, 300], 100)
    [96.5, 100.0, 105.25, 101.75]
    """

    def order(i: int) -> tuple[int, float]:
        apart = places[i] - start
        return (apart > 0) - (apart < 0), -apart

    begins = list(places)
    x = start - WIDE * sum(weights) / 2
    for i in sorted(range(len(places)), key=order):
        begins[i] = x + WIDE * weights[i] / 2
        x += WIDE * weights[i]
    return begins


def _height(distance: float) -> float:
    """How high an arc rises over a distance: long ones are flat, so that a picture stays low."""
    return min(distance * 0.5, 40 + distance * 0.16)


def _word(
    sheet: Sheet, x: float, y: float, size: float, word: str, shade: float | None, bold: bool = True
) -> None:
    """Write a word in its box; the target has a frame."""
    _box(sheet, x - size / 2, y - HIGH / 2, size, HIGH, shade, framed=bold)
    sheet.text(x, y + TEXT * 0.35, word, anchor="middle", bold=bold)


def _box(
    sheet: Sheet, x: float, y: float, wide: float, high: float, shade: float | None, framed: bool
) -> None:
    """Draw what stands behind a word, and a frame around the target."""
    if shade is not None:
        sheet.box(x, y, wide, high, "s0", shade=shade, round=4)
    if framed:
        left, top, across, down = map(short, (x + 1, y + 1, wide - 2, high - 2))
        sheet.path(f"M{left} {top}h{across}v{down}h-{across}z", "l1", wide=2)


def _down(sheet: Sheet, panel: Panel, most: float) -> None:
    """Draw a word a line, with arcs to the side and a bar for each weight."""
    points, target = panel.points, find_target(panel.points)
    turned = runs_left(" ".join(point.label for point in points))
    aside = min(150.0, 40 + 5.0 * len(points))  # how far the arcs reach
    words = [shorten(clean(point.label), sheet.inner * 0.4) for point in points]
    size = max(measure(word) for word in words) + 2 * PAD
    bar = MARGIN + aside + size + 54

    def at(x: float) -> float:
        return sheet.width - x if turned else x

    if target is None:
        sheet.y += TEXT
        sheet.text(at(MARGIN), sheet.y, points[0].start, bold=True, anchor="end" if turned else "")
        sheet.y += 8
    top = sheet.y
    start = top + ROW * ((target or 0) + 0.5)
    edge = at(MARGIN + aside)
    for i, (point, word) in enumerate(zip(points, words, strict=True)):
        y, weight = top + ROW * (i + 0.5), point.y[0]
        tip = f"{point.start} → {point.label}: {point.texts[0]}"
        if weight and weight > 0 and target is not None and i != target:
            reach = aside * min(1.0, abs(y - start) / (ROW * max(1, len(points) - 1)) + 0.25)
            radii = f"{short(reach)} {short(abs(y - start) / 2)}"
            side = int((y < start) != turned)
            arc = f"M{short(edge)} {short(start)}A{radii} 0 0 {side} {short(edge)} {short(y)}"
            sheet.path(arc, "l0", wide=WIDE * weight, opacity=0.7, tip=tip)
        shade = None if i == target and weight is None else _shade(point, most)
        left = edge - size if turned else edge
        _box(sheet, left, y - ROW / 2 + 1, size, ROW - 2, shade, framed=i == target)
        begin = at(MARGIN + aside + PAD)
        far = "end" if turned else ""
        sheet.text(begin, y + TEXT * 0.35, word, anchor=far, bold=i == target)
        near = "" if turned else "end"
        sheet.text(at(bar - 8), y + 4, point.texts[0], "soft", size=SMALL, anchor=near)
        if weight and weight > 0 and most:
            long = (sheet.width - MARGIN - bar) * weight / most
            sheet.box(at(bar) - long * turned, y - 5, long, 10, "f0", tip=tip)
    sheet.y = top + ROW * len(points)
