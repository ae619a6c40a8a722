"""The one thing a question answers with: named columns, rows, and what is told beside them."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, tee
from typing import Any, Literal, Protocol, TypeVar

from ctxembed import look_up
from ctxembed.errors import CtxembedError


class Numbers(Protocol):
    """A vector, as numpy has it."""

    def tolist(self) -> Any:
        """Return its numbers."""


Cell = str | int | float | list[float] | list[str] | Numbers | None
Row = Sequence[Cell]
Role = Literal["label", "number", "share", "chance", "vector", "text", "long", "keyword", "aside"]
F = TypeVar("F", bound=Callable[..., Any])
MOST = 100  # rows that a notebook shows


@dataclass(frozen=True)
class Column:
    """A column: its name, what it means, and its role.

    label    says what a row is about
    number   a value
    share    a number that adds up to a total over its `group`, the rows that agree in these
             columns; it still does when it is rounded
    chance   a probability; a small one is never printed as 0
    vector   an array of numbers; `parts` names them where a cell holds one number only
    text     words
    long     text that is broken into lines on a terminal instead of cut off
    keyword  the middle of a concordance, its contexts in the columns beside it
    aside    left out of format table: a note says it, or there is no room
    """

    name: str
    meaning: str = ""
    role: Role = "number"
    group: Sequence[str] = ()
    parts: Sequence[str] = ()
    between: str = " "  # what stands between the items of a list, where it is printed as text

    def each(self, names: Iterable[str]) -> list["Column"]:
        """Make the columns that this one stands for, as AXIS... does, or d1, d2, ..."""
        return [replace(self, name=name) for name in names]


PROPERTIES = (Column("property", "what is told", "label"), Column("value", "its value"))


def answers(*columns: Column) -> Callable[[F], F]:
    """Declare the columns that a question may answer with; help and man pages read them."""

    def declare(question: F) -> F:
        question.__dict__["columns"] = columns
        return question

    return declare


Kind = Literal["tokens", "heat", "scatter", "lines", "bars", "dots"]
Place = str | int  # a column: its name, or its number from 0 where names may repeat


@dataclass(frozen=True)
class Chart:
    """What a picture of a Table shows: which column plays which part. It draws nothing itself.

    tokens   a sentence: a word for each row, `label`, shaded by `y`, with an arc from the word that
             `start` names; a sentence for each `panel`
    heat     a square for each `label` and `x`, or for each of several `y`, coloured by `y`
    scatter  a point for each row at `x` and `y`, coloured by `series`; `label` says what it is
    lines    `y` over `x`, a line for each `series` or each `y`, with an interval
    bars     a bar for each `label`, one beside the other for each `y`, or `stacked` by `series`
    dots     a line for each `label`, on it a dot for each `series` or each `y`, with an interval

    A row for which `y` is empty is not drawn. Parts of several columns are joined by a space.
    """

    kind: Kind
    y: Sequence[Place] = ()  # the numbers
    x: Place | None = None
    label: Sequence[Place] = ()
    series: Sequence[Place] = ()
    panel: Sequence[Place] = ()  # a picture of its own for each
    low: Place | None = None  # the interval of y
    high: Place | None = None
    start: str = ""  # tokens: the column that names the target; dots, scatter: where arrows begin
    stacked: bool = False
    domain: tuple[float, float] | None = None  # of y; what is there, with 0, where none is given
    title: str = ""
    of: "Callable[[], Table] | None" = None  # what is drawn, where it is not the Table itself


class Table:
    """Columns and rows; rows may be a stream.

    A stream is kept as it is read, so that it can be read again; a function that begins one is
    asked again, and nothing is kept. `notes` are for the person, `unknown` says of each word that
    had to be left out why: they go to stderr. Both may grow until the last row is read. `charts`
    are its pictures, one under the other; under them stand `caption` and the notes. `lead` says the
    answer in words, lines that a person reads before the table; its rows hold the same.
    """

    def __init__(
        self,
        columns: Iterable[Column | str],
        rows: Iterable[Row] | Callable[[], Iterable[Row]],
        notes: Sequence[str] = (),
        unknown: Sequence[str] = (),
        chart: Chart | Sequence[Chart] | None = None,
        lead: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        self.columns = tuple(c if isinstance(c, Column) else Column(c) for c in columns)
        self._rows = rows
        self.notes = notes if isinstance(notes, list) else list(notes)
        self.unknown = unknown if isinstance(unknown, list) else list(unknown)
        self.charts = (chart,) if isinstance(chart, Chart) else tuple(chart or ())
        self.caption: list[str] = []
        self.lead = lead
        self.title = ""  # stands above it on a page

    def place(self, column: Place) -> int:
        """Return the number of a column, from 0."""
        return column if isinstance(column, int) else self.names.index(column)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def rows(self) -> Iterable[Row]:
        """The rows, from the first one."""
        if callable(self._rows):
            return self._rows()
        if isinstance(self._rows, Iterator):
            self._rows, fresh = tee(self._rows)
            return fresh
        return self._rows

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows as dictionaries keyed by column.

        >>> Table(("word", "count"), [("apple", 3)]).records()
        [{'word': 'apple', 'count': 3}]
        """
        names = self.names
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """Return the rows as a data frame."""
        try:
            import pandas
        except ImportError:
            raise CtxembedError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame([list(row) for row in self.rows], columns=self.names)

    def _repr_html_(self) -> str:
        """Show a notebook the picture, where there is one, and the first rows."""
        picture = look_up("draw")(self) if self.charts else ""
        return f"{picture}{self.as_html()}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show a notebook without HTML the first rows as text."""
        printer.text(str(self))

    def __str__(self) -> str:
        rows = list(islice(self.rows, MOST + 1))
        more = f"only the first {MOST} rows\n" if len(rows) > MOST else ""
        return "".join(look_up("render")(Table(self.columns, rows[:MOST]), "table")) + more

    def as_html(self) -> str:
        """Return the first rows as HTML."""
        rows = list(islice(self.rows, MOST + 1))
        head = _line("th", self.names)
        body = "".join(_line("td", map(_show, row)) for row in rows[:MOST])
        more = f"<p>only the first {MOST} rows</p>" if len(rows) > MOST else ""
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _line(tag: str, cells: Iterable[str]) -> str:
    from html import escape

    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _show(cell: Cell) -> str:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.4f}"
    return "" if cell is None else str(cell)


def round_to_total(values: Sequence[float], digits: int) -> list[str]:
    """Round values so that they sum to their rounded sum; the largest remainders are rounded up.

    >>> round_to_total([1 / 3, 1 / 3, 1 / 3], 2)
    ['0.34', '0.33', '0.33']
    """
    ratios = [float(value).as_integer_ratio() for value in values]  # over powers of 2
    one = max((below for _, below in ratios), default=1)
    exact = [above * 10**digits * (one // below) for above, below in ratios]  # in parts of one
    floors = [value // one for value in exact]
    total = int(f"{math.fsum(values):.12f}".replace(".", ""))  # binary shares of 1 miss it by a bit
    rounded, left = divmod(total * 10**digits, 10**12)
    rounded += 2 * left > 10**12 or (2 * left == 10**12 and rounded % 2)  # half to even
    missing = rounded - sum(floors)
    order = sorted(range(len(values)), key=lambda i: (floors[i] * one - exact[i], i))
    if missing < 0:  # by the last bits, where all digits are asked for
        order.reverse()
    for turn in range(abs(missing)):
        floors[order[turn % len(order)]] += 1 if missing > 0 else -1
    return [_decimal(number, digits) for number in floors]


def _decimal(number: int, digits: int) -> str:
    whole, rest = divmod(abs(number), 10**digits)
    return ("-" if number < 0 else "") + (f"{whole}.{rest:0{digits}}" if digits else f"{whole}")
