"""Draw the charts of a Table and its notes as SVG, as an HTML page, or as PNG and PDF."""

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from ctxembed.errors import CtxembedError
from ctxembed.output.letters import SMALL, TEXT, TITLE, clean, wrap_text
from ctxembed.output.plots import draw_lines, draw_scatter
from ctxembed.output.rows import draw_bars, draw_dots, draw_heat
from ctxembed.output.sentence import draw_tokens
from ctxembed.output.sheet import FONT, MARGIN, Sheet
from ctxembed.output.view import View, read_views
from ctxembed.table import Table

DRAW: dict[str, Callable[[Sheet, View], None]] = {
    "tokens": draw_tokens, "heat": draw_heat, "scatter": draw_scatter, "lines": draw_lines,
    "bars": draw_bars, "dots": draw_dots,
}  # fmt: skip
# The page has no script and loads nothing; the table follows the picture.
PAGE = Path(__file__).with_name("picture.html")


def draw(table: Table, digits: int | None = None) -> str:
    """Draw a table that has a picture, as SVG: no script, no request, real text."""
    sheet, notes = Sheet(), list(table.caption)
    for sentence in table.lead() if table.lead else ():
        for line in wrap_text(sentence.strip(), sheet.inner, TEXT):
            sheet.y += TEXT
            sheet.text(MARGIN, sheet.y, line)
            sheet.y += 5
        sheet.y += 5
    for view in read_views(table, digits):
        for line in wrap_text(view.title, sheet.inner, TITLE):
            sheet.y += TITLE + 2
            sheet.text(MARGIN, sheet.y, line, size=TITLE, bold=True)
        sheet.y += 10
        DRAW[view.chart.kind](sheet, view)
        sheet.y += 12
        notes += view.notes
    written = map(drop_options, [*notes, *table.notes, *table.unknown])
    for note in dict.fromkeys(filter(None, written)):
        for line in wrap_text(note, sheet.inner, SMALL):
            sheet.small_text(MARGIN, sheet.y, line, "")
            sheet.y += SMALL + 4
    sheet.y += MARGIN - SMALL
    return sheet.to_svg(table.charts[0].title)


def drop_options(note: str) -> str:
    """Return a note without the clauses that name an option or a command: a picture has none.

    >>> drop_options("4 heads: weight is their mean; --head each shows each step")
    '4 heads: weight is their mean'
    """
    clauses = re.split(r"(?<=[;.])\s+|, (?=--)", note)
    kept = [clause for clause in clauses if not re.search(r"(?<!\S)--[a-z]|\bctxembed ", clause)]
    return note if len(kept) == len(clauses) else " ".join(kept).rstrip(";. ")


def sketch(table: Table, width: float) -> dict[str, Any]:
    """Draw a table without titles and notes, as elements for a page with its own style.

    Each number is rounded by itself: the page shows it in several places.
    """
    sheet = Sheet(width, y=4)
    for view in read_views(table, whole=False):
        DRAW[view.chart.kind](sheet, view)
    return sheet.to_dict()


def convert(table: Table, form: str, digits: int | None = None) -> str | bytes:
    """Return a table's picture as svg or html text, or as the bytes of a png or pdf."""
    svg = draw(table, digits)
    if form == "svg":
        return svg
    if form == "html":
        title = escape(clean(table.charts[0].title))
        page = Template(PAGE.read_text(encoding="utf-8"))
        return page.substitute(title=title, svg=svg, table=table.as_html())
    try:
        import vl_convert
    except ImportError:
        fix = "Run pip install 'ctxembed[pictures]', or choose svg."
        raise CtxembedError(f"{form} needs vl-convert-python. {fix}") from None
    # The converter's own font, so that every machine draws the same picture.
    svg = svg.replace(FONT, f"'Liberation Sans',{FONT}")
    if form == "png":
        return bytes(vl_convert.svg_to_png(svg, scale=2))
    return bytes(vl_convert.svg_to_pdf(svg))
