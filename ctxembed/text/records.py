"""Documents with what is known of them, from tables, XML, CoNLL-U and VRT, as blocks of text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.text.streams import PACKED
from ctxembed.text.tables import Row, TableFile, table_kind

SUFFIXES = {".xml": "xml", ".tei": "xml", ".conllu": "conllu", ".vrt": "vrt"}
KEYS = ("document", "id", "doc_id", "document_id", "text_id")  # columns that name a document
BLOCK = 1 << 19  # bytes of a block, about
MAX_TEXT = 256 << 20  # characters of one document
LAYERS = ("lemma", "pos")


@dataclass
class Record:
    """One document: its id, its text and its metadata."""

    id: str
    cells: Row
    text: str
    sentences: bool = False  # whether each line is one sentence
    tokens: list[tuple[int, str, str]] | None = None  # of the text: where it begins, lemma, pos


@dataclass
class Layers:
    """The distinct values of each layer, numbered by appearance; the first is no value."""

    numbers: dict[str, dict[str, int]] = field(
        default_factory=lambda: {name: {"": 0} for name in LAYERS}
    )
    used: bool = False

    def number(self, tokens: list[tuple[int, str, str]]) -> Iterator[tuple[int, int]]:
        """Yield the numbers of lemma and pos of each token."""
        lemmas, tags = (self.numbers[name] for name in LAYERS)
        for _, lemma, pos in tokens:
            yield lemmas.setdefault(lemma, len(lemmas)), tags.setdefault(pos, len(tags))


@dataclass(frozen=True)
class Packed:
    """Texts of several documents, or a part of a long one."""

    data: bytes  # UTF-8
    starts: NDArray[np.int64]  # where documents begin in it
    first: int  # number of documents that began before it
    line: int  # its first line in the document that began before
    sentences: bool
    token_starts: NDArray[np.int64] | None = None
    layers: NDArray[np.int32] | None = None  # (tokens, 2)


def record_kind(name: str) -> str | None:
    """Return table, xml, conllu or vrt by the suffix of a name; None for plain text.

    >>> record_kind("a.csv"), record_kind("a.vrt.gz"), record_kind("a.txt")
    ('table', 'vrt', None)
    """
    if table_kind(name):
        return "table"
    path = Path(name)
    path = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return SUFFIXES.get(path.suffix.lower())


def table_records(table: TableFile, text_column: str) -> Iterator[Record]:
    """Yield a record for each row of a table."""
    key: str | None = None
    for number, row in table.rows():
        if text_column not in row:
            known = ", ".join(row)
            raise CorpusError(
                f"{table.name}: no column {text_column!r}; --text-column is one of {known[:300]}"
            )
        if key is None:
            named = {column.strip().lower(): column for column in row}
            key = next((named[name] for name in KEYS if name in named), "")
        text = row.pop(text_column)
        own = row.pop(key, "").strip() if key else ""
        yield Record(own or f"{table.name}:{number}", row, text)


def pack_records(records: Iterable[Record], layers: Layers, first: int) -> Iterator[Packed]:
    """Yield the texts of records in blocks; a long text is cut at the ends of lines.

    first: number of documents before these.
    """
    group, size = list[Record](), 0
    for record in records:
        if group and (size + len(record.text) > BLOCK or group[0].sentences != record.sentences):
            yield _join(group, layers, first)
            first, group, size = first + len(group), [], 0
        if len(record.text) > BLOCK and record.tokens is None:
            yield from _cut(record, first)
            first += 1
            continue
        group.append(record)
        size += len(record.text)
    if group:
        yield _join(group, layers, first)


def _join(group: list[Record], layers: Layers, first: int) -> Packed:
    parts, starts, at = list[bytes](), list[int](), 0
    token_starts, numbers = list[int](), list[tuple[int, int]]()
    annotated = any(record.tokens is not None for record in group)
    for record in group:
        starts.append(at)
        data = _as_bytes(record.text)
        if annotated and record.tokens is not None:
            layers.used = True
            token_starts += [at + begin for begin, _, _ in record.tokens]
            numbers += layers.number(record.tokens)
        parts.append(data)
        at += len(data)
    found = None
    if annotated:
        found = np.array(numbers, np.int32).reshape(-1, len(LAYERS))
    return Packed(
        b"".join(parts), np.array(starts, np.int64), first, 1, group[0].sentences,
        np.array(token_starts, np.int64) if annotated else None, found,
    )  # fmt: skip


def _cut(record: Record, first: int) -> Iterator[Packed]:
    """Yield the parts of a long text."""
    data, at, line = _as_bytes(record.text), 0, 1
    while at < len(data):
        end = data.rfind(b"\n", at, at + BLOCK) + 1 or data.rfind(b" ", at, at + BLOCK) + 1
        end = end if at + BLOCK < len(data) and end else min(len(data), at + BLOCK)
        while end < len(data) and data[end] & 0xC0 == 0x80:  # inside a letter
            end += 1
        part = data[at:end]
        starts = np.array([0] if at == 0 else [], np.int64)
        yield Packed(part, starts, first + (at > 0), line, record.sentences)
        line += part.count(b"\n")
        at = end


def _as_bytes(text: str) -> bytes:
    """Return the text in UTF-8, with \\n at the end of each line and of the text."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return f"{text}\n".encode("utf-8", "replace")
