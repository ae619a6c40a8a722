"""A sentence on a terminal, its words shaded by weight: by colour, or by bars under them."""

from collections.abc import Iterator

from ctxembed.output.letters import clean
from ctxembed.output.sentence import find_target
from ctxembed.output.terminal import cells, fit, paint
from ctxembed.output.view import Panel, View

BARS = " ▁▂▃▄▅▆▇█"


def shade_sentences(view: View, width: int, colours: bool) -> Iterator[str]:
    """Yield each sentence, folded to the width, its target in brackets."""
    most = max(view.numbers, default=0.0) or 1.0
    for panel in view.panels:
        yield from _shade(panel, most, width, colours)


def _shade(panel: Panel, most: float, width: int, colours: bool) -> Iterator[str]:
    target = find_target(panel.points)
    line, under, used = "", "", 0
    if target is None:
        yield f"[{clean(panel.points[0].start)}]"
    for i, point in enumerate(panel.points):
        word = f"[{clean(point.label)}]" if i == target else clean(point.label)
        size = min(width, cells(word))
        word = fit(word, size)
        if used and used + 1 + size > width:
            yield from _lines(line, under, colours)
            line, under, used = "", "", 0
        share = max(0.0, point.y[0] or 0.0) / most
        gap = " " * (used > 0)
        line += gap + paint(word, 0, colours, share)
        under += gap + BARS[min(8, round(share * 8))] * size
        used += len(gap) + size
    yield from _lines(line, under, colours)


def _lines(line: str, under: str, colours: bool) -> Iterator[str]:
    yield line
    if not colours and under.strip():
        yield under.rstrip()
