"""Table: named columns, rows, notes and charts; every query returns one."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import islice, tee
from typing import Any, Literal, Protocol, TypeVar, cast, overload

from ctxembed.errors import CtxembedError


class Numbers(Protocol):
    """A vector, such as a numpy array."""

    def tolist(self) -> Any: ...


Cell = str | int | float | list[float] | list[str] | Numbers | None
Row = Sequence[Cell]
Role = Literal["label", "number", "share", "chance", "vector", "text", "long", "keyword", "aside"]
F = TypeVar("F", bound=Callable[..., Any])
MAX_ROWS = 100  # rows that a notebook shows


@dataclass(frozen=True)
class Column:
    """A column: its name, its meaning, and its role.

    label    names what a row is about
    number   a value
    share    a number that sums to a total, also when rounded, over the rows that have the same
             values in the columns of `group`
    chance   a probability; a small one is never printed as 0
    vector   an array of numbers; `parts` names them in formats with one number a cell
    text     words
    long     text that is wrapped on a terminal instead of cut off
    keyword  the middle of a concordance, with its contexts in the columns beside it
    aside    left out of format table, where a note says it or it is too wide
    """

    name: str
    meaning: str = ""
    role: Role = "number"
    group: Sequence[str] = ()
    parts: Sequence[str] = ()
    between: str = " "  # separates the items of a list printed as text

    def each(self, names: Iterable[str]) -> list["Column"]:
        """Return a copy of this column under each name, as for AXIS... or d1, d2, ..."""
        return [replace(self, name=name) for name in names]


PROPERTIES = (Column("property", "its name", "label"), Column("value", "its value"))


def answers(*columns: Column) -> Callable[[F], F]:
    """Return a decorator that declares the columns of a query's tables, for help and man pages."""

    def declare(query: F) -> F:
        query.columns = columns  # type: ignore[attr-defined]
        return query

    return declare


Kind = Literal["tokens", "heat", "scatter", "lines", "bars", "dots"]
ColumnKey = str | int  # a column: its name, or its number from 0 where names may repeat


@dataclass(frozen=True)
class Chart:
    """What a picture of a Table shows: which column is used for what. It draws nothing itself.

    tokens   a sentence: a word for each row, `label`, shaded by `y`, with an arc from the word
             named by `start`; one sentence for each `panel`
    heat     a square for each `label` and `x`, or for each of several `y`, coloured by `y`
    scatter  a point for each row at `x` and `y`, coloured by `series`, named by `label`
    lines    `y` over `x`, a line for each `series` or each `y`, with an interval
    bars     a bar for each `label`, side by side for each `y`, or `stacked` by `series`
    dots     a line for each `label` with a dot for each `series` or each `y`, and an interval

    A row without `y` is not drawn. Several columns for one part are joined by a space.
    """

    kind: Kind
    y: Sequence[ColumnKey] = ()  # the numbers
    x: ColumnKey | None = None
    label: Sequence[ColumnKey] = ()
    series: Sequence[ColumnKey] = ()
    panel: Sequence[ColumnKey] = ()  # a separate picture for each
    low: ColumnKey | None = None  # the interval of y
    high: ColumnKey | None = None
    start: str = ""  # tokens: the column of the target; dots, scatter: where arrows begin
    beside: Sequence[ColumnKey] = ()  # dots: words on the right of each line
    stacked: bool = False
    domain: tuple[float, float] | None = None  # of y; None: from the data, including 0
    title: str = ""
    note: str = ""  # a line below the picture
    of: "Callable[[], Table] | None" = None  # another table to draw


class Table:
    """Columns and rows: `for row in table` yields dictionaries, table["word"] is a column.

    rows: a sequence; an iterator; or a function that returns an iterator. Rows are computed when
    they are read, and kept; `stream` keeps none. `notes` and `unknown` (a message for each word
    left out) go to stderr, and may grow until the last row is read. `charts` are its pictures, with
    `caption` and the notes below them. `lead` returns lines of text printed above the table.
    """

    def __init__(
        self,
        columns: Iterable[Column | str],
        rows: Iterable[Row] | Callable[[], Iterable[Row]],
        notes: Sequence[str] = (),
        unknown: Sequence[str] = (),
        chart: Chart | Sequence[Chart] | None = None,
        lead: Callable[[], Iterable[str]] | None = None,
        title: str = "",
    ) -> None:
        self.columns = tuple(c if isinstance(c, Column) else Column(c) for c in columns)
        self._rows = rows
        self.notes = notes if isinstance(notes, list) else list(notes)
        self.unknown = unknown if isinstance(unknown, list) else list(unknown)
        self.charts = (chart,) if isinstance(chart, Chart) else tuple(chart or ())
        self.caption: list[str] = []
        self.failed: list[str] = []  # conditions that hold: the command exits with 1
        self.lead = lead
        self.title = title  # printed above it on a page
        self.interrupted = False  # by Ctrl-C: the rows are those known until then
        self.no_picture = ""  # why it has none, where another model would have one

    def __getstate__(self) -> dict[str, Any]:
        """Return its contents for pickle: the rows, the lines above them and their pictures."""
        state = {**vars(self), "_rows": [tuple(row) for row in self.rows]}
        state["lead"] = partial(list, [*self.lead()]) if self.lead else None
        state["charts"] = tuple(
            replace(chart, of=partial(_same, chart.of())) if chart.of else chart
            for chart in self.charts
        )
        return state

    def column_index(self, column: ColumnKey) -> int:
        """Return the number of a column, from 0."""
        return column if isinstance(column, int) else self.names.index(column)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def rows(self) -> Iterable[tuple[Any, ...]]:
        """The rows, from the first one; each is computed once and kept."""
        rows: Any = iter(self._rows()) if callable(self._rows) else self._rows
        if isinstance(rows, Iterator):
            self._rows, rows = tee(rows)
        return cast(Iterable[tuple[Any, ...]], rows)

    def stream(self) -> Iterable[Row]:
        """Return the rows for one reading, which are not kept: for tables longer than memory."""
        return self._rows() if callable(self._rows) else self.rows

    def _read(self) -> Sequence[Row]:
        if not isinstance(self._rows, Sequence):
            self._rows = list(self.rows)
        return self._rows

    def records(self, *, plain: bool = False) -> list[dict[str, Any]]:
        """Return the rows as dictionaries keyed by column.

        plain: vectors are lists and what is no number is None, as json.dumps needs it.

        >>> Table(("word", "count"), [("apple", 3)]).records()
        [{'word': 'apple', 'count': 3}]
        """
        change: Callable[[Any], Any] = _plain if plain else lambda cell: cell
        return [dict(zip(self.names, map(change, row), strict=True)) for row in self._read()]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = self.names
        return (dict(zip(names, row, strict=True)) for row in self.rows)

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: int | str | slice) -> Any:
        """Return a row by its number from 0, several by a slice, or the cells of a column.

        >>> table = Table(("word", "count"), [("apple", 3), ("pear", 1)])
        >>> table[-1], table["count"]
        ({'word': 'pear', 'count': 1}, [3, 1])
        """
        if not isinstance(key, str):
            return self.records()[key]
        if key not in self.names:
            raise KeyError(f"no column {key!r}; it has {', '.join(self.names)}")
        return [row[self.column_index(key)] for row in self._read()]

    def __repr__(self) -> str:
        rows = len(self._rows) if isinstance(self._rows, Sequence) else "not counted"
        names = ", ".join(self.names)
        return f"<Table of {names if len(names) <= 50 else names[:49] + '…'}; rows: {rows}>"

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        with _extra("to_pandas", "pandas"):
            import pandas
        return pandas.DataFrame([list(row) for row in self.rows], columns=self.names)

    def to_polars(self) -> Any:
        """Return the rows as a polars data frame; vectors are lists."""
        with _extra("to_polars", "polars"):
            import polars
        return polars.DataFrame([polars.Series(name, cells) for name, cells in self._cells()])

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow table; vectors are lists."""
        with _extra("to_arrow", "pyarrow"):
            import pyarrow as arrow
        names, cells = zip(*self._cells(), strict=True)
        return arrow.Table.from_arrays([arrow.array(one) for one in cells], names=names)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the rows as an Arrow stream, so that other libraries read a Table directly."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _cells(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield each column's name and cells of one kind: numbers, texts or lists."""
        for index, name in enumerate(self.names):
            cells = [_plain(row[index]) for row in self._read()]
            kinds = {type(cell) for cell in cells if cell is not None}
            if kinds == {int, float}:
                cells = [None if cell is None else float(cell) for cell in cells]
            elif len(kinds) > 1:
                cells = [None if cell is None else str(cell) for cell in cells]
            yield name, cells

    def _repr_html_(self) -> str:
        """Return the picture, if there is one, and the first rows, for a notebook."""
        return (look_up("draw")(self) if self.charts else "") + self.as_html()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the first rows as text, for a notebook without HTML."""
        printer.text(str(self))

    def __str__(self) -> str:
        rows = list(islice(self.rows, MAX_ROWS + 1))
        more = f"only the first {MAX_ROWS} rows\n" if len(rows) > MAX_ROWS else ""
        return "".join(look_up("render")(Table(self.columns, rows[:MAX_ROWS]), "table")) + more

    def as_html(self) -> str:
        """Return the first rows as HTML."""
        from html import escape

        def line(tag: str, cells: Iterable[str]) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

        def text(cell: Cell, column: Column) -> str:
            if isinstance(cell, float):
                return "" if math.isnan(cell) else f"{cell:.4f}"
            if isinstance(cell, list):
                return column.between.join(map(str, cell))
            return "" if cell is None else str(cell)

        rows = list(islice(self.rows, MAX_ROWS + 1))
        head = line("th", self.names)
        body = "".join(line("td", map(text, row, self.columns)) for row in rows[:MAX_ROWS])
        more = f"<p>only the first {MAX_ROWS} rows</p>" if len(rows) > MAX_ROWS else ""
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _plain(cell: Any) -> Any:
    value = cell.tolist() if hasattr(cell, "tolist") else cell
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def _extra(method: str, library: str) -> Iterator[None]:
    """If a library that only a method of Table needs is missing, say what installs it."""
    try:
        yield
    except ImportError:
        install = "Install it with: pip install 'ctxembed[tables]'"
        raise CtxembedError(f"{method} needs {library}. {install}") from None


def look_up(name: str) -> Any:
    """Return a public function of ctxembed; to type checkers an import would be a cycle."""
    return import_module("ctxembed").look_up(name)


def _same(table: Table) -> Table:
    return table


def round_to_total(values: Sequence[float], digits: int) -> list[str]:
    """Round values so that they sum to their rounded sum; the largest remainders are rounded up.

    >>> round_to_total([1 / 3, 1 / 3, 1 / 3], 2)
    ['0.34', '0.33', '0.33']
    """
    ratios = [float(value).as_integer_ratio() for value in values]  # over powers of 2
    one = max((below for _, below in ratios), default=1)
    exact = [above * 10**digits * (one // below) for above, below in ratios]  # in parts of one
    floors = [value // one for value in exact]
    total = int(f"{math.fsum(values):.12f}".replace(".", ""))  # hides the last bits of a sum of 1
    rounded, left = divmod(total * 10**digits, 10**12)
    rounded += 2 * left > 10**12 or (2 * left == 10**12 and rounded % 2)  # half to even
    missing = rounded - sum(floors)
    order = sorted(range(len(values)), key=lambda i: (floors[i] * one - exact[i], i))
    if missing < 0:  # by the last bits, with many digits
        order.reverse()
    for turn in range(abs(missing)):
        floors[order[turn % len(order)]] += 1 if missing > 0 else -1

    def decimal(number: int) -> str:
        whole, rest = divmod(abs(number), 10**digits)
        return ("-" if number < 0 else "") + (f"{whole}.{rest:0{digits}}" if digits else f"{whole}")

    return [decimal(number) for number in floors]
