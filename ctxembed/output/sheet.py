"""A sheet to draw on, as SVG: text is escaped, numbers are rounded, each run gives these bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from ctxembed.output.letters import TEXT, clean, in_order

WIDTH = 560  # of a picture; shown at 400, its text can still be read
MARGIN = 16
DEEPEST = 0.85  # the strongest shade; ink can be read on it, on light paper and on dark
# Okabe and Ito's colours, told apart by all eyes; in the dark a blue that is lighter.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
DARK = ("#4aa3df", "#e8743b", "#1fb58f", "#d58fb5", "#e6a92e", "#8cd0f5", "#9a9a9a")
ARM = ((-1, -3), (1, -3), (1, -1))  # of a cross, which has four
PLUS = [*ARM, *((-y, x) for x, y in ARM), *((-x, -y) for x, y in ARM), *((y, -x) for x, y in ARM)]
# Shapes around 0 0, as far as 1; printed without colours they still differ.
SHAPES = (
    "circle",
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.2), (1.15, 0.85), (-1.15, 0.85)),
    ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    ((0, 1.2), (1.15, -0.85), (-1.15, -0.85)),
    tuple((0.4 * x, 0.4 * y) for x, y in PLUS),
    ((-1.3, -0.6), (1.3, -0.6), (1.3, 0.6), (-1.3, 0.6)),
)
FONT = "system-ui,'Segoe UI','Noto Sans','DejaVu Sans',Arial,sans-serif"


def _style() -> str:
    def rules(ink: str, soft: str, line: str, paper: str, colours: Sequence[str]) -> str:
        return (
            f".ctxembed .ink{{fill:{ink}}}.ctxembed .soft{{fill:{soft}}}"
            f".ctxembed .line{{stroke:{line};fill:none}}.ctxembed .paper{{fill:{paper}}}"
            f".ctxembed .none{{fill:{line}}}.ctxembed .halo{{stroke:{paper}}}"
            + "".join(
                f".ctxembed .f{i}{{fill:{colour}}}.ctxembed .l{i}{{stroke:{colour};fill:none}}"
                for i, colour in enumerate(colours)
            )
            + "".join(f".ctxembed .s{i}{{fill:{colour}}}" for i, colour in enumerate(COLOURS[:2]))
        )

    light = rules("#1c1e21", "#5c6066", "#d5d8dc", "#ffffff", COLOURS)
    dark = rules("#e9ebee", "#a9afb7", "#43484f", "#16181c", DARK)
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"


def short(number: float, digits: int = 1) -> str:
    """Write a number for SVG.

    >>> short(12.0), short(0.25), short(-0.01)
    ('12', '0.2', '0')
    """
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


@dataclass
class Sheet:
    """Marks, one after the other; y is how far down it is drawn."""

    width: float = WIDTH
    y: float = MARGIN
    marks: list[str] = field(default_factory=list)

    @property
    def inner(self) -> float:
        """How wide it is between the margins."""
        return self.width - 2 * MARGIN

    def text(
        self,
        x: float,
        y: float,
        text: str,
        kind: str = "ink",
        *,
        size: float = TEXT,
        anchor: str = "",
        bold: bool = False,
        turn: float = 0,
        tip: str = "",
    ) -> None:
        """Write a text; y is its base line."""
        more = f' font-size="{short(size)}"' if size != TEXT else ""
        more += f' text-anchor="{anchor}"' if anchor else ""
        more += ' font-weight="600"' if bold else ""
        more += ' paint-order="stroke" stroke-width="4"' if "halo" in kind else ""
        at = f"{short(x)} {short(y)}"
        if turn:
            more += f' transform="rotate({short(turn)} {at})"'
        place = f'x="{short(x)}" y="{short(y)}"'
        inside = f"{_tip(tip)}{escape(in_order(clean(text)))}"
        self.marks.append(f'<text class="{kind}" {place}{more}>{inside}</text>')

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        kind: str,
        *,
        shade: float | None = None,
        round: float = 0,
        tip: str = "",
    ) -> None:
        """Draw a box, of a shade from 0 to 1 where one is given."""
        more = f' fill-opacity="{short(shade * DEEPEST, 3)}"' if shade is not None else ""
        more += f' rx="{short(round)}"' if round else ""
        sides = zip(("x", "y", "width", "height"), (x, y, width, height), strict=True)
        where = " ".join(f'{name}="{short(value)}"' for name, value in sides)
        self._end(f'<rect class="{kind}" {where}{more}', "rect", tip)

    def path(
        self,
        d: str,
        kind: str,
        *,
        wide: float | None = None,
        opacity: float | None = None,
        tip: str = "",
    ) -> None:
        """Draw a path; wide is the width of its stroke."""
        more = f' stroke-width="{short(wide, 3)}"' if wide is not None else ""
        more += f' opacity="{short(opacity, 3)}"' if opacity is not None else ""
        self._end(f'<path class="{kind}" d="{d}"{more}', "path", tip)

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a thin line."""
        self.path(f"M{short(x1)} {short(y1)}L{short(x2)} {short(y2)}", "line", wide=1)

    def mark(self, x: float, y: float, series: int, size: float = 4.5, tip: str = "") -> None:
        """Draw the mark of a series: a colour and a shape of its own."""
        shape = SHAPES[(series + series // len(SHAPES)) % len(SHAPES)]
        kind = f"f{series % len(COLOURS)}"
        if isinstance(shape, str):
            where = f'cx="{short(x)}" cy="{short(y)}" r="{short(size)}"'
            self._end(f'<circle class="{kind}" {where}', "circle", tip)
        else:
            points = [f"{short(x + size * dx)} {short(y + size * dy)}" for dx, dy in shape]
            self.path(f"M{'L'.join(points)}z", kind, tip=tip)

    def arrow(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw an arrow that ends just before the mark it points to; none where it is short."""
        dx, dy = x2 - x1, y2 - y1
        length = (dx * dx + dy * dy) ** 0.5
        if length < 16:
            return
        dx, dy = dx / length, dy / length
        x1, y1, x2, y2 = x1 + 6 * dx, y1 + 6 * dy, x2 - 6 * dx, y2 - 6 * dy
        bx, by = x2 - 6 * dx, y2 - 6 * dy
        self.path(
            f"M{short(x1)} {short(y1)}L{short(x2)} {short(y2)}"
            f"M{short(bx - 3 * dy)} {short(by + 3 * dx)}L{short(x2)} {short(y2)}"
            f"L{short(bx + 3 * dy)} {short(by - 3 * dx)}",
            kind,
            wide=1.5,
        )

    def _end(self, begun: str, name: str, tip: str) -> None:
        self.marks.append(f"{begun}>{_tip(tip)}</{name}>" if tip else f"{begun}/>")

    def finish(self, title: str) -> str:
        """Return the whole picture."""
        size = f"{short(self.width)} {short(self.y)}"
        wide, high = size.split()
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" class="ctxembed" viewBox="0 0 {size}"'
                f' width="{wide}" height="{high}" style="max-width:100%;height:auto" role="img"'
                f' aria-label="{escape(clean(title))}" font-family="{FONT}"'
                f' font-size="{TEXT}">',
                f"<style>{_style()}</style>",
                f'<rect class="paper" width="{wide}" height="{high}"/>',
                *self.marks,
                "</svg>\n",
            )
        )


def _tip(text: str) -> str:
    return f"<title>{escape(in_order(clean(text.strip())))}</title>" if text else ""
