"""A concordance on a terminal: every line is cut so that the keyword stands in one column."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from ctxembed.output.page import Page, Texts

AHEAD = 200  # rows looked at to find how wide the other columns are
LEAST = 8  # characters of context to either side, however narrow the terminal


def line_up(columns: Sequence[str], rows: Texts, keyword: str, page: Page) -> Iterator[str]:
    """Yield lines as they come; the columns before and behind the keyword share what is left."""
    stream = iter(rows)
    first = list(islice(stream, AHEAD))
    middle = columns.index(keyword)
    left, right = middle - 1, middle + 1
    sizes = [
        max([len(name) * page.header, *(len(row[i]) for row in first)])
        for i, name in enumerate(columns)
    ]
    if page.width is not None:
        sizes[0] = min(sizes[0], max(12, page.width // 6))  # a long path shows its end
        others = sum(size for i, size in enumerate(sizes) if i not in (left, right))
        free = max(2 * LEAST, page.width - others - 2 * (len(sizes) - 1))
        sizes[left], sizes[right] = free // 2, free - free // 2
    numeric = [i > right for i in range(len(columns))]
    numeric[1] = True

    def line(row: Sequence[str]) -> str:
        cells = []
        for i, (cell, size) in enumerate(zip(row, sizes, strict=True)):
            if len(cell) > size:
                cell = "…" + cell[1 - size :] if i in (0, left) else cell[: size - 1] + "…"
            cells.append(cell.rjust(size) if i == left or numeric[i] else cell.ljust(size))
        return "  ".join(cells).rstrip() + "\n"

    if page.header:
        head = line(columns)
        yield f"\x1b[1m{head[:-1]}\x1b[0m\n" if page.bold else head
        yield "  ".join("-" * size for size in sizes) + "\n"
    for row in chain(first, stream):
        yield line(row)
