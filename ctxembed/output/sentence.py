"""Draw a sentence: words shaded by a number, such as a contribution, and arcs as wide as it.

A number below 0 has another colour.
"""

from collections.abc import Sequence

from ctxembed.output.frame import draw_shades
from ctxembed.output.letters import SMALL, TEXT, clean, measure, runs_left, shorten
from ctxembed.output.sheet import MARGIN, Sheet, short
from ctxembed.output.view import Panel, Point, View
from ctxembed.text.tokenizer import INNER, number_repeats

WIDE = 14  # the width of the arc of 1
PAD, GAP, HIGH = 4, 6, 26  # around a word, between words, and the height of its box
BOLD = 1.16  # how much wider bold letters are: the target's
ROW = 22  # a line where each word has its own


def draw_tokens(sheet: Sheet, view: View) -> None:
    """Draw each panel: on one line if the sentence fits, else one word per line."""
    most = max(map(abs, view.numbers), default=0.0)
    for panel in view.panels:
        target = find_target(panel.points)
        words = (
            measure(clean(point.label)) * (BOLD if i == target else 1) + 2 * PAD
            for i, point in enumerate(panel.points)
        )
        numbers = (measure(point.texts[0], SMALL) + 4 for point in panel.points)
        sizes = list(map(max, words, numbers))
        if len(view.panels) > 1:
            sheet.y += TEXT
            sheet.text(MARGIN, sheet.y, panel.name, bold=True)
            sheet.y += 4
        if sum(sizes) + GAP * (len(sizes) - 1) <= sheet.inner:
            _draw_on_one_line(sheet, panel, sizes, most)
        else:
            _draw_one_word_per_line(sheet, panel, most)
        sheet.y += 14
    largest = next((p.texts[0] for p in view.points if abs(p.y[0] or 0.0) == most), "").strip("-")
    signed = any(text.startswith("-") for point in view.points for text in point.texts)
    least = f"-{largest}" if signed else "0"
    name = f"shade, and width of an arc: {view.names[0]}   {least}"
    draw_shades(sheet, name, largest, 10 if signed else 16, signed=signed)


def find_target(points: Sequence[Point]) -> int | None:
    """Return the index of the target: apple, or apple:2 for the second apple of the sentence."""
    names = number_repeats([point.label.replace(f" {INNER}", "") for point in points])
    return next((i for i, point in enumerate(points) if point.start == names[i]), None)


def arc_above(start: float, end: float, base: float) -> str:
    """Return the path of an arc above a line of words; long arcs are flatter, to stay low."""
    if start == end:
        return f"M{short(start - 9)} {short(base)}c-14 -38 32 -38 18 0"
    radii = f"{short(abs(end - start) / 2)} {short(arc_height(abs(end - start)))}"
    turn = int(end > start)
    return f"M{short(start)} {short(base)}A{radii} 0 0 {turn} {short(end)} {short(base)}"


def arc_height(distance: float) -> float:
    """Return the height of an arc between two words of a line."""
    return min(distance * 0.5, 40 + distance * 0.16)


def arc_beside(x: float, start: float, end: float, reach: float, *, right: bool) -> str:
    """Return the path of an arc beside words that stand one below the other."""
    radii = f"{short(reach)} {short(abs(end - start) / 2)}"
    turn = int((end < start) != right)
    return f"M{short(x)} {short(start)}A{radii} 0 0 {turn} {short(x)} {short(end)}"


def place_across(
    sizes: Sequence[float], gaps: Sequence[float], left: float, right: float, *, turned: bool
) -> list[float]:
    """Return the middles of words on one line, from the left or, if turned, from the right."""
    middles, x = [], left
    for size, gap in zip(sizes, gaps, strict=True):
        middles.append(left + right - x - size / 2 if turned else x + size / 2)
        x += size + gap
    return middles


def _tip(point: Point) -> str:
    return f"{point.start} → {point.label}: {point.texts[0]}"


def _shade(point: Point, most: float, is_target: bool) -> float | None:
    """Return the shade of a word from -1 to 1; None for a target without a number."""
    if is_target and point.y[0] is None:
        return None
    return (point.y[0] or 0.0) / most if most else 0.0


def _kind(value: float, prefix: str) -> str:
    """Return the class of a shade, an arc or a bar; of numbers below 0 it is another one."""
    return f"{prefix}{int(value < 0)}"


def _draw_on_one_line(sheet: Sheet, panel: Panel, sizes: Sequence[float], most: float) -> None:
    """Draw a sentence on one line, centred, from the side where its script begins."""
    points, target = panel.points, find_target(panel.points)
    turned = runs_left(" ".join(point.label for point in points))
    x = (sheet.width - sum(sizes) - GAP * (len(sizes) - 1)) / 2
    middles = place_across(sizes, [GAP] * len(sizes), x, sheet.width - x, turned=turned)
    if target is None:  # cross-attention: the target is in another sentence
        start, base = sheet.width / 2, sheet.y + HIGH
        name = shorten(clean(points[0].start), sheet.inner / 2)
        size = measure(name) + 2 * PAD
        _box(sheet, start - size / 2, base - HIGH, size, HIGH, None, framed=True)
        sheet.text(start, base - HIGH / 2 + TEXT * 0.35, name, anchor="middle", bold=True)
        top = base + 90
    else:
        start = middles[target]
        far = max((abs(x - start) for x in middles), default=0)
        top = sheet.y + max(30, arc_height(far)) + WIDE * most / 2
    begins = _side_by_side([abs(point.y[0] or 0.0) for point in points], middles, start)
    for i, point in enumerate(points):
        if not point.y[0]:
            continue
        from_, to = begins[i], middles[i]
        if target is None:
            bend = f"C{short(from_)} {short(base + 50)} {short(to)} {short(top - 50)}"
            arc = f"M{short(from_)} {short(base)}{bend} {short(to)} {short(top)}"
        else:
            arc = arc_above(to if i == target else from_, to, top)
        kind, wide = _kind(point.y[0], "l"), WIDE * abs(point.y[0])
        sheet.path(arc, kind, wide=wide, opacity=0.7, tip=_tip(point))
    for i, point in enumerate(points):
        x, shade, bold = middles[i], _shade(point, most, i == target), i == target
        _box(sheet, x - sizes[i] / 2, top, sizes[i], HIGH, shade, framed=bold)
        y = top + HIGH / 2 + TEXT * 0.35
        sheet.text(x, y, clean(point.label), anchor="middle", bold=bold)
        sheet.small_text(x, top + HIGH + SMALL + 3, point.texts[0])
    sheet.y = top + HIGH + SMALL + 6


def _side_by_side(
    weights: Sequence[float], positions: Sequence[float], start: float
) -> Sequence[float]:
    """Return the x coordinate where each arc leaves the target, so that arcs do not cross.

    >>> _side_by_side([0.5, 0.0, 0.25, 0.25], [0, 100, 200, 300], 100)
    [96.5, 100.0, 105.25, 101.75]
    """

    def order(i: int) -> tuple[int, float]:
        apart = positions[i] - start
        return (apart > 0) - (apart < 0), -apart

    begins = list(positions)
    x = start - WIDE * sum(weights) / 2
    for i in sorted(range(len(positions)), key=order):
        begins[i] = x + WIDE * weights[i] / 2
        x += WIDE * weights[i]
    return begins


def _box(
    sheet: Sheet, x: float, y: float, wide: float, high: float, shade: float | None, framed: bool
) -> None:
    """Draw the background of a word, and a frame around the target."""
    if shade is not None:
        sheet.box(x, y, wide, high, _kind(shade, "s"), shade=abs(shade), round=4)
    if framed:
        left, top, across, down = map(short, (x + 1, y + 1, wide - 2, high - 2))
        sheet.path(f"M{left} {top}h{across}v{down}h-{across}z", "l1", wide=2)


def _draw_one_word_per_line(sheet: Sheet, panel: Panel, most: float) -> None:
    """Draw one word per line, with arcs at the side and a bar for each weight."""
    points, target = panel.points, find_target(panel.points)
    turned = runs_left(" ".join(point.label for point in points))
    aside = min(150.0, 40 + 5.0 * len(points))  # how far the arcs reach
    words = [shorten(clean(point.label), sheet.inner * 0.4) for point in points]
    size = max(map(measure, words)) + 2 * PAD
    bar = MARGIN + aside + size + 54
    near, far = ("end", "") if turned else ("", "end")

    def at(x: float) -> float:
        return sheet.width - x if turned else x

    if target is None:
        sheet.y += TEXT
        sheet.text(at(MARGIN), sheet.y, points[0].start, bold=True, anchor=near)
        sheet.y += 8
    top, edge = sheet.y, at(MARGIN + aside)
    start = top + ROW * ((target or 0) + 0.5)
    for i, (point, word) in enumerate(zip(points, words, strict=True)):
        y, number = top + ROW * (i + 0.5), point.y[0] or 0.0
        weight = abs(number)
        if weight and target is not None and i != target:
            reach = aside * min(1.0, abs(y - start) / (ROW * max(1, len(points) - 1)) + 0.25)
            arc = arc_beside(edge, start, y, reach, right=turned)
            kind = _kind(number, "l")
            sheet.path(arc, kind, wide=WIDE * weight, opacity=0.7, tip=_tip(point))
        left, shade = edge - size * turned, _shade(point, most, i == target)
        _box(sheet, left, y - ROW / 2 + 1, size, ROW - 2, shade, framed=i == target)
        sheet.text(at(MARGIN + aside + PAD), y + TEXT * 0.35, word, anchor=near, bold=i == target)
        sheet.small_text(at(bar - 8), y + 4, point.texts[0], far)
        if weight:
            long = (sheet.width - MARGIN - bar) * weight / most
            sheet.box(at(bar) - long * turned, y - 5, long, 10, _kind(number, "f"), tip=_tip(point))
    sheet.y = top + ROW * len(points)
