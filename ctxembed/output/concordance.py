"""Print a concordance: cut every line so that the keywords are aligned in one column."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from ctxembed.output.cells import Page, Texts
from ctxembed.output.terminal import display_width, fit
from ctxembed.table import Column

PREVIEW_ROWS = 200  # rows that are read to find the column widths
MIN_CONTEXT = 8  # characters of context to either side, however narrow the terminal


def line_up(columns: Sequence[Column], rows: Texts, page: Page) -> Iterator[str]:
    """Yield lines one by one; the contexts left and right of the keyword share the free width."""
    stream = iter(rows)
    first = list(islice(stream, PREVIEW_ROWS))
    if 0 < len(first) < PREVIEW_ROWS:  # these are all rows: drop empty columns
        every = enumerate(columns)
        kept = [i for i, c in every if c.role != "number" or any(row[i] for row in first)]
        columns, first = [columns[i] for i in kept], [[row[i] for i in kept] for row in first]
    names = [column.name for column in columns]
    middle = next(i for i, column in enumerate(columns) if column.role == "keyword")
    left, right = middle - 1, middle + 1
    sizes = [
        max([len(name) * page.header, *(display_width(row[i]) for row in first)])
        for i, name in enumerate(names)
    ]
    if page.width is not None:
        sizes[0] = min(sizes[0], max(12, page.width // 6))  # a long path shows its end
        sizes[middle] = min(sizes[middle], max(12, page.width // 5))
        others = sum(size for i, size in enumerate(sizes) if i not in (left, right))
        free = max(2 * MIN_CONTEXT, page.width - others - 2 * (len(sizes) - 1))
        sizes[left], sizes[right] = free // 2, free - free // 2

    def fit_line(row: Sequence[str]) -> str:
        fitted = (
            fit(cell, size, right=i == left or columns[i].role == "number", end=i in (0, left))
            for i, (cell, size) in enumerate(zip(row, sizes, strict=True))
        )
        return "  ".join(fitted).rstrip() + "\n"

    if page.header:
        head = fit_line(names)
        yield f"\x1b[1m{head[:-1]}\x1b[0m\n" if page.bold else head
        yield "  ".join("-" * size for size in sizes) + "\n"
    for row in chain(first, stream):
        yield fit_line(row)
