"""What is known of each document: typed columns beside the index, memory-mapped."""

import json
import re
from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, UsageError
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Part
from ctxembed.storage.manifest import write_json
from ctxembed.text.lines import read_lines, write_lines

FORMAT = 1
FILE = "metadata.json"
MAX_COLUMNS = 500
Kind = Literal["text", "integer", "number", "date"]
DTYPES: dict[Kind, str] = {"text": "<i4", "integer": "<i8", "number": "<f8", "date": "<i4"}
NO_INTEGER = np.iinfo(np.int64).min
NO_TEXT, NO_DATE = -1, 0  # no row of the values; no day of the calendar
DOCUMENT, FILE_COLUMN = "document", "file"  # columns of every corpus
_NAME = re.compile(r"[^\W\d]\w{0,99}")
_DATE = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Groups:
    """The group of each document."""

    names: Sequence[str]  # in order: numbers and dates ascending, texts by the alphabet
    numbers: NDArray[np.int32]  # (D,) the group of each document, -1 for none
    starts: Sequence[float] = ()  # where each group begins, for numbers and dates


@dataclass(frozen=True)
class MetadataColumn:
    """One column: a value for each document, or none."""

    name: str
    kind: Kind
    array: NDArray[Any]  # (D,) numbers, days, or rows of values
    values: Sequence[str] = ()  # of a text column

    @property
    def missing(self) -> Mask:
        """(D,) where a document has no value."""
        if self.kind == "number":
            return np.asarray(np.isnan(self.array))
        missing = {"text": NO_TEXT, "integer": NO_INTEGER, "date": NO_DATE}[self.kind]
        return np.asarray(self.array == missing)

    def cell(self, document: int) -> str | int | float | None:
        """Return the value of a document; None if it has none."""
        value = self.array[document].item()
        if self.kind == "text":
            return None if value == NO_TEXT else self.values[value]
        if self.kind == "date":
            return None if value == NO_DATE else date.fromordinal(value).isoformat()
        none = value == NO_INTEGER or value != value
        return None if none else cast("int | float", value)

    def matches(self, operator: str, text: str) -> Mask:
        """Return (D,) which documents have a value that compares so; no value never does.

        = and != take * for any letters in texts, a year or a month for dates, and A..B for all
        numbers or dates from A to B. An empty text is no value.
        """
        missing: Mask = self.missing
        if not text:
            if operator not in ("=", "!="):
                message = f"{operator} needs a value; ='' is for documents without one"
                raise UsageError(f"--where {self.name}{operator}'': {message}")
            return np.logical_xor(missing, operator == "!=")
        if self.kind == "text":
            chosen = [compare_texts(value, operator, text) for value in self.values]
            row_matches: Mask = np.array([*chosen, False], np.bool_)  # the last row is no value
            return np.take(row_matches, self.array)
        first, dots, last = text.partition("..")
        low, high = self._range(first.strip())
        high = self._range(last.strip())[1] if dots else high
        array = self.array
        found: Mask = {
            "=": (low <= array) & (array <= high), "!=": (array < low) | (array > high),
            "<": array < low, "<=": array <= high, ">": array > high, ">=": array >= low,
        }[operator]  # fmt: skip
        return np.asarray(found & ~missing)

    def _range(self, text: str) -> tuple[float, float]:
        """Return the first and last number that a text names: a year is all its days."""
        if self.kind != "date":
            try:
                number: float = int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else float(text)
            except ValueError:
                message = f"{self.name} holds numbers, and {text[:60]!r} is none; write 5 or 1..5"
                raise UsageError(f"--where: {message}") from None
            return number, number
        match = _DATE.fullmatch(text)
        try:
            if match is None:
                raise ValueError
            year, *rest = (None if part is None else int(part) for part in match.groups())
            month, day = rest
            last = date(year or 0, month or 12, day or 1)
            if day is None:
                last = last.replace(day=monthrange(last.year, last.month)[1])
            return date(year or 0, month or 1, day or 1).toordinal(), last.toordinal()
        except ValueError:
            message = f"{self.name} holds dates, and {text[:60]!r} is none"
            raise UsageError(
                f"--where: {message}; write 1945, 1945-05, 1945-05-08 or 1945..1950"
            ) from None

    def times(self) -> NDArray[np.float64]:
        """Return (D,) the numbers of a column, dates in years; NaN for no value."""
        numbers = self.array.astype(np.float64)
        if self.kind == "date":
            days = [date.fromordinal(max(1, day)) for day in self.array.tolist()]
            numbers = np.array([day.year + (day.timetuple().tm_yday - 1) / 365.25 for day in days])
        return np.where(self.missing, np.nan, numbers)

    def groups(self, size: float | None = None) -> Groups:
        """Return the group of each document: equal values, or numbers or years in bins of a size.

        Dates are grouped by year.
        """
        missing = self.missing
        if self.kind == "text":
            if size is not None:
                raise UsageError(f"--bin: {self.name} holds texts; bins are for numbers and dates")
            used, numbers = np.unique(self.array, return_inverse=True)
            none = int(bool(len(used)) and used[0] == NO_TEXT)
            names = [self.values[row] for row in used[none:].tolist()]
            texts = numbers.ravel().astype(np.int32) - np.int32(none)
            return Groups(names, np.asarray(texts, np.int32))
        known = self.array[~missing]
        if self.kind == "date":
            known = np.array([date.fromordinal(day).year for day in known.tolist()], np.int64)
        step = 1 if size is None and self.kind == "date" else size
        if step is not None:
            known = np.floor(known / step) * step
        starts, inverse = np.unique(known, return_inverse=True)
        bins = np.full(len(self.array), -1, np.int32)
        bins[~missing] = inverse
        whole = self.kind != "number" and (step is None or float(step).is_integer())
        names = [_name_bin(start, step, whole) for start in starts.tolist()]
        return Groups(names, bins, starts.astype(np.float64).tolist())


def _name_bin(start: float, size: float | None, whole: bool) -> str:
    """Return the name of a bin.

    >>> _name_bin(1940, 10, True), _name_bin(1940, 1, True), _name_bin(0.5, 0.25, False)
    ('1940-1949', '1940', '0.5-0.75')
    """
    if whole:
        last = int(start) + int(size or 1) - 1
        return f"{int(start)}" if last == int(start) else f"{int(start)}-{last}"
    return f"{start:g}" if size is None else f"{start:g}-{start + size:g}"


def compare_texts(value: str, operator: str, text: str) -> bool:
    """Return whether a value compares so with a text, in which * stands for any letters.

    >>> compare_texts("New York", "=", "New*"), compare_texts("b", ">=", "a")
    (True, True)
    """
    if operator in ("=", "!="):
        pattern = text.replace("[", "[[]").replace("?", "[?]")  # only * is special
        return fnmatchcase(value, pattern) == (operator == "=")
    return {"<": value < text, "<=": value <= text, ">": value > text, ">=": value >= text}[
        operator
    ]


@dataclass(frozen=True)
class Metadata:
    """The columns of a corpus by name; document, its id, is the first."""

    columns: Mapping[str, MetadataColumn]
    files: MetadataColumn = field(repr=False)  # the file of each document

    @property
    def names(self) -> list[str]:
        """The names of its columns, without those that every corpus has."""
        return [name for name in self.columns if name != DOCUMENT]

    def column(self, name: str) -> MetadataColumn:
        """Return a column by name; the error for another name lists the columns."""
        if name in self.columns:
            return self.columns[name]
        if name == FILE_COLUMN:
            return self.files
        known = ", ".join([FILE_COLUMN, *self.columns])
        more = "" if self.names else "; train or index the corpus with --meta for more"
        raise UsageError(f"no column {name[:60]!r} in this corpus, it has {known}{more}")

    def cells(self, document: int) -> list[str | int | float | None]:
        """Return the id of a document and its values."""
        return [column.cell(document) for column in self.columns.values()]


def write_metadata(folder: Path, columns: Iterable[MetadataColumn]) -> None:
    """Write columns into the folder of an index."""
    described = []
    for number, column in enumerate(columns):
        np.save(folder / f"column-{number}.npy", column.array.astype(DTYPES[column.kind]))
        if column.kind == "text":
            write_lines(folder / f"column-{number}.txt", column.values)
        described.append({"name": column.name, "kind": column.kind})
    write_json(folder / FILE, {"format": FORMAT, "columns": described})


def open_metadata(folder: Path | Part, files: MetadataColumn) -> Metadata:
    """Return the columns in the folder of an index; none where it has no metadata."""
    part = folder / FILE
    if not part.exists():
        return Metadata({}, files)
    try:
        described = json.loads(part.read_text(encoding="utf-8"))
        version, listed = described["format"], described["columns"]
        if type(version) is int and version > FORMAT:
            raise ModelError(f"{part}: format {version}, this ctxembed reads up to {FORMAT}."
                             " Upgrade with: pip install --upgrade ctxembed")  # fmt: skip
        pairs = [(column["name"], column["kind"]) for column in listed]
        names = {name for name, _ in pairs if isinstance(name, str) and _NAME.fullmatch(name)}
        fits = len(names) == len(pairs) <= MAX_COLUMNS and FILE_COLUMN not in names
        fits = fits and all(kind in get_args(Kind) for _, kind in pairs)
    except (KeyError, TypeError, ValueError, RecursionError):
        fits = False
    if not fits:
        raise damage(part, "not a description")
    columns = {
        name: _open_column(folder, number, name, kind, len(files.array))
        for number, (name, kind) in enumerate(pairs)
    }
    return Metadata(columns, files)


def _open_column(
    folder: Path | Part, number: int, name: str, kind: Kind, size: int
) -> MetadataColumn:
    part = folder / f"column-{number}.npy"
    array: NDArray[Any] = load(part)
    if array.shape != (size,) or array.dtype != np.dtype(DTYPES[kind]):
        raise damage(part, "does not fit the rest")
    values = read_lines(folder / f"column-{number}.txt") if kind == "text" else ()
    limits = {"text": (NO_TEXT, len(values) - 1), "date": (NO_DATE, date.max.toordinal())}.get(kind)
    if limits and size and not limits[0] <= int(array.min()) <= int(array.max()) <= limits[1]:
        raise damage(part, "does not fit the rest")
    return MetadataColumn(name, kind, array, list(values))


def damage(part: Path | Part, reason: str) -> ModelError:
    """Return the error for a damaged file of metadata."""
    return ModelError(f"{part}: damaged ({reason}); train the model again")
