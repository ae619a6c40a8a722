"""Tables of other programs, row by row: .csv, .tsv, .jsonl, .parquet and .arrow."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from ctxembed.errors import CorpusError, CtxembedError
from ctxembed.text.lines import BOM, OTHER, check_encoding, wrong_byte
from ctxembed.text.streams import PACKED, name_read_errors, open_bytes

KINDS = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".arrow": "arrow",
}  # fmt: skip
BINARY_KINDS = ("parquet", "arrow")  # read by pyarrow
MAX_CELL = 64 << 20  # characters of one text
MAX_COLUMNS = 500
BATCH = 1000  # rows of a .parquet file read at once
Row = dict[str, str]


def table_kind(name: str) -> str | None:
    """Return csv, tsv, jsonl, parquet or arrow by the suffix of a name; None for another.

    >>> table_kind("speeches.csv.gz"), table_kind("a.PARQUET"), table_kind("a.txt")
    ('csv', 'parquet', None)
    """
    path = Path(name)
    if path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    return KINDS.get(path.suffix.lower())


class HashedStream(io.RawIOBase):
    """A stream whose bytes are counted in a SHA-256 as they are read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.digest = stream, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.stream.fileno()

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        self.digest.update(data)
        buffer[: len(data)] = data
        return len(data)

    def finish(self) -> str:
        """Read what is left; return the checksum of all."""
        while self.read(1 << 20):
            pass
        return self.digest.hexdigest()


@dataclass
class TableFile:
    """A table in a file; its columns and its checksum are known after reading."""

    name: str
    encoding: str = "utf-8"
    errors: str = "strict"
    sha256: str = ""

    def __post_init__(self) -> None:
        check_encoding(self.encoding)

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the number of the line (in .parquet and .arrow: of the row) and the cells."""
        kind = table_kind(self.name)
        if kind in BINARY_KINDS:
            yield from self._binary(kind)
            return
        with (
            nullcontext(open_bytes(self.name)) if self.name == "-" else open_bytes(self.name) as raw
        ):
            stream = HashedStream(raw)
            text = io.TextIOWrapper(
                io.BufferedReader(stream, 1 << 16), self.encoding, self.errors, newline=""
            )
            read = _read_jsonl if kind == "jsonl" else _read_csv
            try:
                with name_read_errors(self.name):
                    for number, row in read(self.name, text, kind == "tsv"):
                        if any("\0" in cell for cell in row.values()):
                            raise CorpusError(f"{self.name}: line {number}: a NUL character;"
                                              " give a text file")  # fmt: skip
                        yield number, row
                    self.sha256 = stream.finish()
            except CorpusError as error:
                cause = error.__context__
                if isinstance(cause, UnicodeDecodeError):
                    problem = wrong_byte(cause, self.encoding, None)
                    raise CorpusError(f"{self.name}: {problem}{OTHER}") from None
                raise
            finally:
                text.detach()

    def _binary(self, kind: str) -> Iterator[tuple[int, Row]]:
        try:
            from pyarrow import ArrowException
        except ImportError:
            install = "install it with: pip install 'ctxembed[parquet]'"
            raise CtxembedError(f"{self.name}: {kind} needs pyarrow; {install}") from None
        number = 0
        try:
            with open_bytes(self.name) as stream:
                hashed = HashedStream(stream)
                self.sha256 = hashed.finish()
            names, batches = (
                _open_parquet(self.name) if kind == "parquet" else _open_arrow(self.name)
            )
            check_columns(self.name, names)
            for batch in batches:
                for row in batch.to_pylist():
                    number += 1
                    yield number, {name: as_text(row[name]) for name in names}
        except (ArrowException, OSError, ValueError) as error:
            reason = str(error).splitlines()[0][:200]
            raise CorpusError(
                f"{self.name}: not a .{kind} file that can be read: {reason}"
            ) from None


def _open_parquet(name: str) -> tuple[list[str], Iterator[Any]]:
    """Return the columns of a .parquet file, and its rows in batches."""
    from pyarrow.parquet import ParquetFile

    def batches() -> Iterator[Any]:
        with file:
            yield from file.iter_batches(batch_size=BATCH)

    file = ParquetFile(name)
    return list(file.schema_arrow.names), batches()


def _open_arrow(name: str) -> tuple[list[str], Iterator[Any]]:
    """Return the columns of an .arrow file, a stream as Hugging Face datasets writes it, or a file
    of the same batches with an index (Feather); and its rows in batches."""
    from pyarrow import OSFile, ipc

    with open(name, "rb") as file:
        indexed = file.read(6) == b"ARROW1"

    def batches() -> Iterator[Any]:
        with source:
            numbers = range(reader.num_record_batches) if indexed else ()
            yield from map(reader.get_batch, numbers) if indexed else reader

    source = OSFile(name)
    reader = ipc.open_file(source) if indexed else ipc.open_stream(source)
    return list(reader.schema.names), batches()


def check_columns(name: str, columns: Sequence[str]) -> None:
    """Refuse a table with no columns, too many, or two of one name."""
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if not columns or len(columns) > MAX_COLUMNS:
        raise CorpusError(f"{name}: {len(columns)} columns; a table has 1 to {MAX_COLUMNS}")
    if twice:
        raise CorpusError(f"{name}: two columns are named {twice[0]!r}; rename one")


def as_text(value: Any) -> str:
    """Return a cell of JSON or parquet as text; no value is empty.

    >>> as_text(None), as_text(True), as_text(1945.0), as_text(["a"])
    ('', 'true', '1945.0', '["a"]')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "" if value != value else str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return json.dumps(value, ensure_ascii=False, default=str)


def _lines(name: str, text: io.TextIOWrapper, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield numbered lines; one longer than a cell may be is refused before it fills memory."""
    for number, line in enumerate(iter(lambda: text.readline(MAX_CELL + 1), ""), first):
        if len(line) > MAX_CELL:
            raise CorpusError(f"{name}: line {number} is longer than {MAX_CELL >> 20} MiB")
        yield number, line


def _read_csv(name: str, text: io.TextIOWrapper, tabs: bool) -> Iterator[tuple[int, Row]]:
    csv.field_size_limit(MAX_CELL)
    first = text.readline(1 << 20).removeprefix(BOM)
    if not first.strip():
        raise CorpusError(f"{name}: no line of column names; the first line must name the columns")
    separator = "\t" if tabs else max(",;\t", key=first.count)  # the comma if there is none

    lines = (line for _, line in _lines(name, text, 2))
    reader = csv.reader(chain([first], lines), delimiter=separator, strict=True)
    try:
        columns = [cell.strip() for cell in next(reader)]
        check_columns(name, columns)
        while True:
            number = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) != len(columns):
                problem = f"{len(cells)} cells, but the first line names {len(columns)} columns"
                hint = "quote a cell that holds a separator or a line break"
                raise CorpusError(f"{name}: line {number}: {problem}; {hint}")
            yield number, dict(zip(columns, cells, strict=True))
    except csv.Error as error:
        raise CorpusError(f"{name}: line {reader.line_num}: {error}") from None


def _read_jsonl(name: str, text: io.TextIOWrapper, _: bool) -> Iterator[tuple[int, Row]]:
    for number, line in _lines(name, text):
        line = line.removeprefix(BOM).strip()
        if not line:
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise CorpusError(f"{name}: line {number}: not a JSON object; write one a line")
        if len(row) > MAX_COLUMNS:
            raise CorpusError(f"{name}: line {number}: more than {MAX_COLUMNS} keys")
        yield number, {str(key): as_text(value) for key, value in row.items()}
