"""A table for a paper: LaTeX's tabular with the rules of booktabs."""

from collections.abc import Iterator, Sequence

from ctxembed.output.cells import Page, Texts
from ctxembed.table import Column

_SPECIAL = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
})  # fmt: skip


def escape(text: str) -> str:
    """Write what LaTeX would take for a command so that it is printed.

    >>> escape("50 % of x_1 {a|b}")
    '50 \\\\% of x\\\\_1 \\\\{a|b\\\\}'
    """
    return " ".join(text.split()).translate(_SPECIAL)


def write(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    """Yield a tabular: numbers to the right, text to the left; what is aside is left out."""
    kept = [i for i, column in enumerate(columns) if column.role != "aside"]
    sides = [
        "r" if columns[i].role in ("number", "share", "chance", "vector") else "l" for i in kept
    ]
    yield f"\\begin{{tabular}}{{{''.join(sides)}}}\n\\toprule\n"
    if page.header:
        yield _line([columns[i].name for i in kept]) + "\\midrule\n"
    for row in rows:
        yield _line([row[i] for i in kept])
    yield "\\bottomrule\n\\end{tabular}\n"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escape, cells)) + " \\\\\n"
