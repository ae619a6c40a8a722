"""What whoever writes a format is given beside the columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PICTURES = {f".{form}": form for form in ("svg", "png", "pdf", "html")}  # by a file's suffix
Texts = Iterable[Sequence[str]]  # rows, each cell as text


@dataclass(frozen=True)
class Page:
    """How a table is to be written."""

    digits: int | None = None  # behind the point; None for all there are
    header: bool = True
    width: int | None = None  # of a terminal
    bold: bool = False
