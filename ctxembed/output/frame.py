"""Draw what all plots share: scales, panel names, legends, labels that do not overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from ctxembed.output.letters import SMALL, TEXT, clean, measure, shorten
from ctxembed.output.sheet import COLOURS, MARGIN, Sheet, line_through, short


@dataclass(frozen=True)
class Scale:
    """A linear map from [low, high] to the coordinates [start, end]."""

    low: float
    high: float
    start: float
    end: float
    tick: float = 0.0  # distance between ticks; 0 to choose one

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        fraction = (value - self.low) / span if span else 0.5
        return self.start + fraction * (self.end - self.start)

    @property
    def step(self) -> float:
        """The distance between ticks: 1, 2 or 5 times a power of ten."""
        if self.tick:
            return self.tick
        rough = (self.high - self.low) / 5 or 1.0
        ten = 10.0 ** floor(log10(rough))
        return next(m * ten for m in (1, 2, 5, 10) if m * ten >= rough * 0.99)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Tick values with their labels."""
        step = self.step
        digits = max(0, -floor(log10(step) + 1e-9))
        first, last = -floor(-self.low / step + 1e-9), floor(self.high / step + 1e-9)
        return [(i * step, f"{i * step:.{digits}f}") for i in range(first, last + 1)]


def scale(
    values: Sequence[float], domain: tuple[float, float] | None = None, *, close: bool = False
) -> Scale:
    """Return a scale for values; without a domain it includes 0 and ends at a tick unless `close`.

    >>> result = scale([0.31, 0.07])
    >>> result.low, round(result.high, 9), result.ticks[1]
    (0.0, 0.4, (0.1, '0.1'))
    """
    if domain is not None:
        return Scale(*domain, 0, 1)
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == high:
        high = 1.0
    if close:
        return Scale(low, high, 0, 1)
    step = Scale(low, high, 0, 1).step
    ends = step * floor(low / step + 1e-6), -step * floor(-high / step + 1e-6)
    return Scale(*ends, 0, 1, step)


def draw_legend(sheet: Sheet, names: Sequence[str], kind: str = "mark") -> None:
    """Draw a legend, each series with its name and its mark, or with a coloured "box"."""
    x = float(MARGIN)
    sheet.y += TEXT
    for number, name in enumerate(names):
        name = shorten(clean(name), sheet.inner - 24)
        if x > MARGIN and x + 18 + measure(name) > sheet.width - MARGIN:
            x, sheet.y = MARGIN, sheet.y + TEXT + 6
        if kind == "box":
            sheet.box(x, sheet.y - 10, 11, 11, f"f{number % COLOURS}")
        else:
            sheet.mark(x + 5, sheet.y - 4.5, number)
        sheet.text(x + 16, sheet.y, name)
        x += 34 + measure(name)
    sheet.y += 8


def draw_shades(sheet: Sheet, least: str, most: str, side: float, *, signed: bool = False) -> None:
    """Draw the colour scale, from 0 or, if signed, from the negative maximum."""
    steps = 16 if signed else 8
    x = sheet.width - MARGIN - steps * side - measure(most, SMALL) - 6
    sheet.y += SMALL
    sheet.small_text(x - 6, sheet.y, least, "end")
    for i in range(steps):
        value = (i + 0.5) / steps * (2 if signed else 1) - signed
        kind = "s0" if value > 0 else "s1"
        sheet.box(x + i * side, sheet.y - 9, side, 10, kind, shade=abs(value))
    sheet.small_text(x + steps * side + 6, sheet.y, most, "")
    sheet.y += 8


def draw_x_axis(
    sheet: Sheet, at: Scale, top: float, bottom: float, name: str = "", numbers: bool = True
) -> None:
    """Draw the x axis under a plot, with grid lines, and with tick labels if `numbers`."""
    for value, text in at.ticks:
        sheet.path(line_through([(at(value), top), (at(value), bottom)]), "line", wide=1)
        if numbers:
            sheet.small_text(at(value), bottom + SMALL + 3, text)
    if at.low <= 0 <= at.high:
        sheet.path(f"M{short(at(0))} {short(top)}V{short(bottom)}", "l6", wide=1)
    if name:
        sheet.small_text((at.start + at.end) / 2, bottom + 2 * SMALL + 8, name)


def draw_y_axis(sheet: Sheet, at: Scale, left: float, right: float) -> None:
    """Draw the y axis to the left of a plot, with grid lines and tick labels."""
    for value, text in at.ticks:
        sheet.path(line_through([(left, at(value)), (right, at(value))]), "line", wide=1)
        sheet.small_text(left - 6, at(value) + 4, text, "end")
    if at.low <= 0 <= at.high:
        sheet.path(f"M{short(left)} {short(at(0))}H{short(right)}", "l6", wide=1)


def spread_labels(ends: Sequence[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Return positions of labels, moved apart as little as possible so that each has its gap.

    >>> spread_labels([(10, 0), (12, 1), (50, 2)], 10)
    [(6.0, 0), (16.0, 1), (50.0, 2)]
    """
    blocks: list[tuple[float, list[int]]] = []  # (middle of a block, its labels)
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
