"""A Table as a picture: its charts one under the other, and under them what must be known.

As SVG, as a page that holds it, or as PNG and PDF by what the extra installs.
"""

from collections.abc import Callable
from html import escape

from ctxembed.errors import CtxembedError
from ctxembed.output.curves import draw_lines
from ctxembed.output.heat import draw_heat
from ctxembed.output.letters import SMALL, TITLE, clean, fold
from ctxembed.output.rows import draw_bars, draw_dots
from ctxembed.output.scatter import draw_scatter
from ctxembed.output.sentence import draw_tokens
from ctxembed.output.sheet import FONT, MARGIN, Sheet
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
# The page has no script, and may load nothing; the table stands behind the picture.
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 14px/1.4 system-ui, sans-serif; max-width: 60em; margin: 1em auto; padding: 0 1em }}
svg.ctxembed {{ width: 100%; max-width: 720px !important }}
details {{ overflow-x: auto }}
td, th {{ text-align: left; padding: 0 .8em .1em 0; vertical-align: top }}
</style>
</head>
<body>
{svg}<details>
<summary>Table</summary>
{table}
</details>
</body>
</html>
"""


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


def convert(table: Table, form: str, digits: int | None = None) -> str | bytes:
    """Draw a table as svg, html, png or pdf."""
    svg = draw(table, digits)
    if form == "svg":
        return svg
    if form == "html":
        title = escape(clean(table.charts[0].title))
        return PAGE.format(title=title, svg=svg, table=table.as_html())
    try:
        import vl_convert
    except ImportError:
        install = "pip install 'ctxembed[pictures]'"
        raise CtxembedError(
            f"{form} needs vl-convert-python: {install}; svg needs nothing"
        ) from None
    # The font that the converter brings along, so that each machine gives one picture.
    svg = svg.replace(FONT, f"'Liberation Sans',{FONT}")
    if form == "png":
        return bytes(vl_convert.svg_to_png(svg, scale=2))
    return bytes(vl_convert.svg_to_pdf(svg))
