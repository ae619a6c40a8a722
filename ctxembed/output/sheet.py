"""An SVG sheet: text is escaped, numbers are rounded, equal input gives equal bytes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from ctxembed.output.letters import SMALL, TEXT, clean, mark_directions, shorten

WIDTH = 560  # of a picture; still readable at 400
MARGIN = 16
MAX_OPACITY = 0.85  # of a shade; text stays readable on it in the light and dark themes
STYLE = Path(__file__).with_name("sheet.css")
COLOURS = 7  # of series: Okabe and Ito's palette, safe for colour-blind readers
ARM = ((-1, -3), (1, -3), (1, -1))  # one of the four arms of a cross
PLUS = [*ARM, *((-y, x) for x, y in ARM), *((-x, -y) for x, y in ARM), *((y, -x) for x, y in ARM)]
# Shapes around (0, 0) with radius 1; they differ without colours too.
SHAPES: tuple[Sequence[tuple[float, float]], ...] = (
    (),  # a circle
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    ((0, 1.2), (1.15, -0.85), (-1.15, -0.85)),
    tuple((0.4 * x, 0.4 * y) for x, y in PLUS),
    ((-1.3, -0.6), (1.3, -0.6), (1.3, 0.6), (-1.3, 0.6)),
)
FONT = "system-ui,'Segoe UI','Noto Sans','DejaVu Sans',Arial,sans-serif"


def short(number: float, digits: int = 1) -> str:
    """Return a rounded number as text for SVG.

    >>> short(12.0), short(0.25), short(-0.01)
    ('12', '0.2', '0')
    """
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def line_through(points: Iterable[tuple[float, float]]) -> str:
    """Return the path of straight lines through points."""
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)


Mark = tuple[str, dict[str, str], str, str]  # tag, attributes, text, tip


@dataclass
class Sheet:
    """SVG elements in drawing order; y is the height drawn so far."""

    width: float = WIDTH
    y: float = MARGIN
    marks: list[Mark] = field(default_factory=list)
    row: int | None = None  # a row of the table that the page can click

    @property
    def inner(self) -> float:
        """The width between the margins."""
        return self.width - 2 * MARGIN

    def _add(self, tag: str, text: str = "", tip: str = "", **attributes: str) -> None:
        """Add an element; empty attributes are left out, kind is its class."""
        kept = {k.replace("kind", "class").replace("_", "-"): v for k, v in attributes.items() if v}
        if self.row is not None:
            kept["data-row"] = str(self.row)
        text, tip = (mark_directions(clean(some)) for some in (text, tip.strip()))
        self.marks.append((tag, kept, text, tip))

    def text(
        self, x: float, y: float, text: str, kind: str = "ink", *, size: float = TEXT,
        anchor: str = "", bold: bool = False, turn: float = 0, tip: str = "",
    ) -> None:  # fmt: skip
        """Write a text; y is its baseline."""
        halo = "halo" in kind
        self._add(
            "text", text, tip, kind=kind, x=short(x), y=short(y),
            font_size=short(size) if size != TEXT else "", text_anchor=anchor,
            font_weight="600" if bold else "", paint_order="stroke" if halo else "",
            stroke_width="4" if halo else "",
            transform=f"rotate({short(turn)} {short(x)} {short(y)})" if turn else "",
        )  # fmt: skip

    def box(
        self, x: float, y: float, width: float, height: float, kind: str, *,
        shade: float | None = None, round: float = 0, tip: str = "",
    ) -> None:  # fmt: skip
        """Draw a box, with an optional shade from 0 to 1."""
        opacity = "" if shade is None else short(shade * MAX_OPACITY, 3)
        self._add(
            "rect", "", tip, kind=kind, x=short(x), y=short(y), width=short(width),
            height=short(height), fill_opacity=opacity, rx=short(round) if round else "",
        )  # fmt: skip

    def path(
        self, d: str, kind: str, *, wide: float = 0, opacity: float = 0, tip: str = ""
    ) -> None:
        """Draw a path; wide is the stroke width."""
        stroke, faint = short(wide, 3) if wide else "", short(opacity, 3) if opacity else ""
        self._add("path", "", tip, kind=kind, d=d, stroke_width=stroke, opacity=faint)

    def small_text(self, x: float, y: float, text: str, anchor: str = "middle") -> None:
        """Write a small grey text."""
        self.text(x, y, text, "soft", size=SMALL, anchor=anchor)

    def heading(self, text: str, x: float = MARGIN) -> None:
        """Write the name of a panel, if it has one, and move below it."""
        if text:
            self.y += TEXT + 2
            self.text(x, self.y, shorten(text, self.inner), bold=True)
            self.y += 8

    def mark(self, x: float, y: float, series: int, size: float = 4.5, tip: str = "") -> None:
        """Draw the mark of a series, with its colour and shape."""
        shape = SHAPES[(series + series // len(SHAPES)) % len(SHAPES)]
        kind = f"f{series % COLOURS}"
        if shape:
            outline = [(x + size * dx, y + size * dy) for dx, dy in shape]
            self.path(line_through(outline) + "z", kind, tip=tip)
        else:
            self._add("circle", "", tip, kind=kind, cx=short(x), cy=short(y), r=short(size))

    def arrow(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw an arrow that ends just before its target mark; nothing if it is too short."""
        dx, dy = x2 - x1, y2 - y1
        length = (dx * dx + dy * dy) ** 0.5
        if length < 16:
            return
        dx, dy = dx / length, dy / length
        x1, y1, x2, y2 = x1 + 6 * dx, y1 + 6 * dy, x2 - 6 * dx, y2 - 6 * dy
        bx, by = x2 - 6 * dx, y2 - 6 * dy
        head = [(bx - 3 * dy, by + 3 * dx), (x2, y2), (bx + 3 * dy, by - 3 * dx)]
        self.path(line_through([(x1, y1), (x2, y2)]) + line_through(head), kind, wide=1.5)

    def to_dict(self) -> dict[str, Any]:
        """Return the elements for the page, which has its own style."""
        return {"width": round(self.width, 1), "height": round(self.y, 1), "marks": self.marks}

    def to_svg(self, title: str) -> str:
        """Return the picture as SVG text."""
        wide, high = short(self.width), short(self.y)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="ctxembed" viewBox="0 0 {wide} {high}"'
            f' width="{wide}" height="{high}" role="img"'
            f' aria-label="{escape(clean(title))}" font-family="{FONT}" font-size="{TEXT}">'
        )
        box = {"class": "paper", "width": wide, "height": high}
        paper = _to_xml(("rect", box, "", ""))
        marks = map(_to_xml, self.marks)
        # Other programs (CairoSVG, rsvg, Inkscape) read no style of a screen.
        fit = "@media screen{svg.ctxembed{max-width:100%;height:auto}}"
        style = "".join(STYLE.read_text(encoding="utf-8").splitlines()) + fit
        return "\n".join([head, f"<style>{style}</style>", paper, *marks, "</svg>\n"])


@cache
def _light_colours() -> dict[str, dict[str, str]]:
    """Return the attributes of each class on paper; a style sheet in a browser overrides them."""
    light = STYLE.read_text(encoding="utf-8").partition("@media")[0]
    rules = re.findall(r"\.ctxembed \.(\w+)\{([^}]*)\}", light)
    return {
        name: dict(rule.split(":", 1) for rule in body.split(";") if rule) for name, body in rules
    }


def _to_xml(mark: Mark) -> str:
    tag, attributes, text, tip = mark
    colours = _light_colours()
    for name in attributes.get("class", "").split():
        attributes = {**colours.get(name, {}), **attributes}
    shown = (f' {name}="{value}"' for name, value in attributes.items() if name != "data-row")
    start = f"<{tag}{''.join(shown)}"
    inside = (f"<title>{escape(tip)}</title>" if tip else "") + escape(text)
    return f"{start}>{inside}</{tag}>" if inside or tag == "text" else f"{start}/>"
