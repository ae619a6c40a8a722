"""What plots share: scales beside them, the names of panels, legends, labels moved apart."""

from collections.abc import Sequence

from ctxembed.output.letters import SMALL, TEXT, clean, measure, shorten
from ctxembed.output.scale import Scale
from ctxembed.output.sheet import COLOURS, MARGIN, Sheet, short
from ctxembed.output.view import Panel


def name_panel(sheet: Sheet, panel: Panel, x: float = MARGIN) -> None:
    """Write what a panel is."""
    if panel.name:
        sheet.y += TEXT + 2
        sheet.text(x, sheet.y, shorten(panel.name, sheet.inner), bold=True)
        sheet.y += 8


def draw_legend(sheet: Sheet, names: Sequence[str], kind: str = "mark") -> None:
    """Say which mark is which series."""
    x = float(MARGIN)
    sheet.y += TEXT
    for number, name in enumerate(names):
        name = shorten(clean(name), sheet.inner - 24)
        if x > MARGIN and x + 18 + measure(name) > sheet.width - MARGIN:
            x, sheet.y = MARGIN, sheet.y + TEXT + 6
        if kind == "box":
            sheet.box(x, sheet.y - 10, 11, 11, f"f{number % len(COLOURS)}")
        else:
            sheet.mark(x + 5, sheet.y - 4.5, number)
        sheet.text(x + 16, sheet.y, name)
        x += 34 + measure(name)
    sheet.y += 8


def draw_shades(sheet: Sheet, least: str, most: str, side: float, *, signed: bool = False) -> None:
    """Say which number which shade stands for: from 0 on, or from what is less than 0."""
    steps = 16 if signed else 8
    x = sheet.width - MARGIN - steps * side - measure(most, SMALL) - 6
    sheet.y += SMALL
    sheet.text(x - 6, sheet.y, least, "soft", size=SMALL, anchor="end")
    for i in range(steps):
        value = (i + 0.5) / steps * (2 if signed else 1) - signed
        kind = "s0" if value > 0 else "s1"
        sheet.box(x + i * side, sheet.y - 9, side, 10, kind, shade=abs(value))
    sheet.text(x + steps * side + 6, sheet.y, most, "soft", size=SMALL)
    sheet.y += 8


def draw_below(
    sheet: Sheet, at: Scale, top: float, bottom: float, name: str = "", told: bool = True
) -> None:
    """Draw a scale under a plot, its lines over the plot's height; told: with its numbers."""
    for value, text in at.ticks:
        x = at(value)
        sheet.line(x, top, x, bottom)
        if told:
            sheet.text(x, bottom + SMALL + 3, text, "soft", size=SMALL, anchor="middle")
    if at.low <= 0 <= at.high:
        sheet.path(f"M{short(at(0))} {short(top)}V{short(bottom)}", "l6", wide=1)
    if name:
        middle = (at.start + at.end) / 2
        sheet.text(middle, bottom + 2 * SMALL + 8, name, "soft", size=SMALL, anchor="middle")


def draw_beside(sheet: Sheet, at: Scale, left: float, right: float) -> None:
    """Draw a scale to the left of a plot."""
    for value, text in at.ticks:
        y = at(value)
        sheet.line(left, y, right, y)
        sheet.text(left - 6, y + 4, text, "soft", size=SMALL, anchor="end")
    if at.low <= 0 <= at.high:
        sheet.path(f"M{short(left)} {short(at(0))}H{short(right)}", "l6", wide=1)


def spread(ends: Sequence[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Move labels apart until each has its gap, as little as that takes.

    >>> spread([(10, 0), (12, 1), (50, 2)], 10)
    [(6.0, 0), (16.0, 1), (50.0, 2)]
    """
    blocks: list[tuple[float, list[int]]] = []  # the middle of a block, and its labels
    for y, number in sorted(ends):
        blocks.append((float(y), [number]))
        while len(blocks) > 1:
            (above, some), (below, more) = blocks[-2:]
            if below - above >= gap * (len(some) + len(more)) / 2:
                break
            both = len(some) + len(more)
            blocks[-2:] = [((above * len(some) + below * len(more)) / both, [*some, *more])]
    return [
        (middle + gap * (i - (len(some) - 1) / 2), number)
        for middle, some in blocks
        for i, number in enumerate(some)
    ]
