"""A Table as a picture: its charts one under the other, and under them what must be known."""

from collections.abc import Callable

from ctxembed.output.curves import draw_lines
from ctxembed.output.heat import draw_heat
from ctxembed.output.letters import SMALL, TITLE, fold
from ctxembed.output.rows import draw_bars, draw_dots
from ctxembed.output.scatter import draw_scatter
from ctxembed.output.sentence import draw_tokens
from ctxembed.output.sheet import MARGIN, Sheet
from ctxembed.output.view import View, look_at_all
from ctxembed.table import Table

DRAW: dict[str, Callable[[Sheet, View], None]] = {
    "tokens": draw_tokens,
    "heat": draw_heat,
    "scatter": draw_scatter,
    "lines": draw_lines,
    "bars": draw_bars,
    "dots": draw_dots,
}


def draw(table: Table, digits: int | None = None) -> str:
    """Draw a table that has a picture, as SVG: no script, no request, real text."""
    sheet, said = Sheet(), list(table.caption)
    for view in look_at_all(table, digits):
        for line in fold(view.chart.title, sheet.inner, TITLE):
            sheet.y += TITLE + 2
            sheet.text(MARGIN, sheet.y, line, size=TITLE, bold=True)
        sheet.y += 10
        DRAW[view.chart.kind](sheet, view)
        sheet.y += 12
        said += view.notes
    for note in dict.fromkeys([*said, *table.notes, *table.unknown]):
        for line in fold(note, sheet.inner, SMALL):
            sheet.text(MARGIN, sheet.y, line, "soft", size=SMALL)
            sheet.y += SMALL + 4
    sheet.y += MARGIN - SMALL
    return sheet.finish(table.charts[0].title)
