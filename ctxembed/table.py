"""The one thing an analysis returns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Cell = str | int | float | list[float] | None


@dataclass(frozen=True)
class Table:
    """Named columns and rows; rows may be a stream that is read once.

    `notes` are for the person, not for the script: they go to stderr.
    `shares` names columns whose printed values must still add up to a total after rounding,
    with the columns that mark one group: {"weight": ("target", "head")}.
    `wrap` names columns of long text, broken into lines on a terminal instead of cut off.
    `noted` names columns that only repeat what the notes say; format `table` leaves them out.
    `keyword` names the column of a concordance, with its contexts in the columns beside it.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[Cell]]
    notes: Sequence[str] = ()
    shares: Mapping[str, Sequence[str]] = field(default_factory=dict)
    wrap: Sequence[str] = ()
    noted: Sequence[str] = ()
    keyword: str | None = None

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows as dictionaries keyed by column.

        >>> Table(("word", "count"), [("apple", 3)]).records()
        [{'word': 'apple', 'count': 3}]
        """
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]
