"""A picture as a file: SVG, a page that holds it, or PNG and PDF by what the extra installs."""

from html import escape

from ctxembed.errors import CtxembedError
from ctxembed.output.letters import clean
from ctxembed.output.picture import draw
from ctxembed.output.sheet import FONT
from ctxembed.table import Table

INSTALL = "pip install 'ctxembed[pictures]'"
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
        raise CtxembedError(
            f"{form} needs vl-convert-python: {INSTALL}; svg needs nothing"
        ) from None
    # The font that the converter brings along, so that each machine gives one picture.
    svg = svg.replace(FONT, f"'Liberation Sans',{FONT}")
    if form == "png":
        return bytes(vl_convert.svg_to_png(svg, scale=2))
    return bytes(vl_convert.svg_to_pdf(svg))
