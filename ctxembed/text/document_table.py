"""Make the columns of an index's documents from a table whose first column names them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.text.metadata import (
    DOCUMENT,
    FILE_COLUMN,
    NO_DATE,
    NO_INTEGER,
    NO_TEXT,
    Kind,
    MetadataColumn,
)
from ctxembed.text.streams import PACKED
from ctxembed.text.tables import Row, TableFile

KEYS = ("document", "file", "filename", "file_name", "id", "doc_id", "document_id", "text_id")
# Names of kwic's own columns, and the words of --where.
RESERVED = {
    DOCUMENT, FILE_COLUMN, "word", "line", "left", "hit", "right", "sense", "sense_name", "margin",
    "and", "or", "not", *(f"{side}{at}" for side in "lr" for at in range(1, 6)),
}  # fmt: skip
_INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})")
_WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?:\.0)?")  # as pandas writes them beside no value
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ][\d:.+Z-]*)?")
NO_VALUE = ("", "NA")  # NA only where the other values are numbers or dates


@dataclass(frozen=True)
class DocumentTable:
    """Rows of metadata by their key, and the names of the other columns."""

    name: str
    sha256: str
    rows: Mapping[str, Row]
    columns: Sequence[str]


def read_document_table(
    name: str, encoding: str = "utf-8", errors: str = "strict"
) -> DocumentTable:
    """Return the rows of a table by the file or document that they are about.

    That is the first column named document, file or id, or else the first column.
    """
    table, rows, key = TableFile(name, encoding, errors), dict[str, Row](), ""
    for number, row in table.rows():
        if not key:
            named = {column.strip().lower(): column for column in row}
            key = next((named[name] for name in KEYS if name in named), next(iter(row)))
        about = row.pop(key, "").strip()
        if not about:
            raise CorpusError(f"{name}: line {number}: {key} is empty; it names the document")
        if about in rows:
            raise CorpusError(f"{name}: line {number}: a second row about {about!r}; keep one")
        rows[about] = row
    if not rows:
        raise CorpusError(f"{name}: no rows; give a line for each file")
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    return DocumentTable(name, table.sha256, rows, columns)


def match_keys(keys: Sequence[str], files: Sequence[str]) -> dict[int, str]:
    """Return the key of each file that has one: its path, the end of it, or without the suffix.

    >>> match_keys(["a", "b/c.txt"], ["in/a.txt", "in/b/c.txt", "in/d.txt"])
    {0: 'a', 1: 'b/c.txt'}
    """
    known, matches = {key.replace("\\", "/"): key for key in keys}, dict[int, str]()
    owners: dict[str, int] = {}
    for number, file in enumerate(files):
        parts = PurePath(file.replace("\\", "/")).parts
        ends = ["/".join(parts[first:]) for first in range(len(parts))]
        names = [form for end in ends for form in (end, *_without_suffixes(end))]
        if match := next((name for name in names if name in known), None):
            if match in owners:
                one, two = files[owners[match]], file
                raise CorpusError(f"the key {match!r} fits {one} and {two}; write more of the path")
            owners[match] = number
            matches[number] = known[match]
    return matches


def _without_suffixes(name: str) -> list[str]:
    path, forms = PurePath(name), list[str]()
    if path.suffix.lower() in PACKED:
        forms.append(str(path.with_suffix("")).replace("\\", "/"))
        path = path.with_suffix("")
    if path.suffix:
        forms.append(str(path.with_suffix("")).replace("\\", "/"))
    return forms


def make_columns(ids: Sequence[str], rows: Sequence[Row]) -> list[MetadataColumn]:
    """Return the column of ids, and a typed column for each name in the rows of the documents."""
    columns = [_text_column(DOCUMENT, ids)]
    names = dict.fromkeys(name for row in {id(row): row for row in rows}.values()
                          for name in row)  # fmt: skip
    taken = set(RESERVED)
    for name in names:
        values = [row.get(name, "").strip() for row in rows]
        own = column_name(name, taken)
        taken.add(own)
        columns.append(make_column(own, values))
    return columns


def column_name(name: str, taken: set[str]) -> str:
    """Return the name of a column in lower case, with _ for what is no letter or digit.

    >>> column_name("Party Name", set()), column_name("2nd", set()), column_name("line", {"line"})
    ('party_name', 'c_2nd', 'line_')
    """
    short = re.sub(r"\W+", "_", name.strip().lower()).strip("_")[:80] or "column"
    short = short if not short[0].isdigit() else f"c_{short}"
    while short in taken:
        short += "_"
    return short


def make_column(name: str, values: Sequence[str]) -> MetadataColumn:
    """Return a column of the narrowest kind that holds all values; an empty one is no value.

    >>> make_column("year", ["1945", "", "2001"]).kind, make_column("zip", ["01234"]).kind
    ('integer', 'text')
    >>> make_column("day", ["1945-05-08", "NA"]).cell(0), make_column("x", ["NA", "b"]).cell(0)
    ('1945-05-08', 'NA')
    """
    known = [value for value in set(values) if value not in NO_VALUE]
    kind: Kind = "text"
    if known and all(_INTEGER.fullmatch(value) or _WHOLE.fullmatch(value) for value in known):
        kind = "integer"
    elif known and all(_NUMBER.fullmatch(value) and not _padded(value) for value in known):
        kind = "number"
    elif known and all(map(_as_day, known)):
        kind = "date"
    if kind == "text":
        return _text_column(name, values)
    parsers: dict[Kind, Callable[[str], float]] = {
        "integer": _as_integer, "number": float, "date": _as_day,
    }  # fmt: skip
    parse = parsers[kind]
    none: float = {"integer": NO_INTEGER, "number": float("nan"), "date": NO_DATE}[kind]
    numbers = [none if value in NO_VALUE else parse(value) for value in values]
    return MetadataColumn(name, kind, np.array(numbers, "f8" if kind == "number" else "i8"))


def _as_integer(value: str) -> int:
    return int(value.removesuffix(".0"))


def _padded(value: str) -> bool:
    """Return whether a number is written with zeros before it, as in a postal code."""
    return re.match(r"[+-]?0\d", value) is not None


def _as_day(value: str) -> int:
    """Return the day of an ISO date as a number; 0 if it is none."""
    match = _DATE.fullmatch(value)
    try:
        return date.fromisoformat(match[1]).toordinal() if match else NO_DATE
    except ValueError:
        return NO_DATE


def _text_column(name: str, values: Sequence[str]) -> MetadataColumn:
    flat = [" ".join(value.split()) for value in values]  # a value is one line of a file
    distinct = sorted(set(flat) - {""})
    rows = {value: row for row, value in enumerate(distinct)} | {"": NO_TEXT}
    array: NDArray[np.int64] = np.array([rows[value] for value in flat], np.int64)
    return MetadataColumn(name, "text", array, distinct)
