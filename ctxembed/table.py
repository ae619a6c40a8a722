"""The one thing an analysis returns."""

import math
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
    `noted` names columns that format `table` leaves out: the notes say it, or there is no room.
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


def round_to_total(values: Sequence[float], digits: int) -> list[str]:
    """Round values so that they sum to their rounded sum; the largest remainders are rounded up.

    >>> round_to_total([1 / 3, 1 / 3, 1 / 3], 2)
    ['0.34', '0.33', '0.33']
    """
    from fractions import Fraction

    exact = [Fraction(value) * 10**digits for value in values]
    floors = [math.floor(value) for value in exact]
    total = Fraction(str(round(math.fsum(values), 12)))  # binary shares of 1 miss it by a bit
    missing = round(total * 10**digits) - sum(floors)
    order = sorted(range(len(values)), key=lambda i: (floors[i] - exact[i], i))
    if missing < 0:  # by the last bits, where all digits are asked for
        order.reverse()
    for turn in range(abs(missing)):
        floors[order[turn % len(order)]] += 1 if missing > 0 else -1
    return [_decimal(number, digits) for number in floors]


def _decimal(number: int, digits: int) -> str:
    text = str(abs(number)).rjust(digits + 1, "0")
    whole, rest = text[: len(text) - digits], text[len(text) - digits :]
    return ("-" if number < 0 else "") + (f"{whole}.{rest}" if digits else whole)
