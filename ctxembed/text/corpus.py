"""A corpus as a stream of text blocks: files, folders, compressed files, URLs, stdin."""

import codecs
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ctxembed.errors import CorpusError, UsageError, read_failure
from ctxembed.text.lines import OTHER, check_encoding, wrong_byte
from ctxembed.text.records import Layers, Packed, Record, pack_records, record_kind, table_records
from ctxembed.text.streams import PACKED, is_live, name_read_errors, open_bytes
from ctxembed.text.tables import BINARY_KINDS, Row, TableFile, table_kind
from ctxembed.text.weights import split_weight

if TYPE_CHECKING:
    from ctxembed.text.document_table import DocumentTable

MAX_RUN = 4 << 20  # bytes without a space, or of only spaces; natural text has no such run
REPLACEMENT = "\ufffd".encode()  # what --errors replace puts in the place of a wrong byte
BINARY = "this looks like a binary file (for UTF-16 text give --encoding utf-16)"
BLOCK = 1 << 19  # bytes; large enough to amortise a process switch, small enough to stay in cache
HEAD = 4096  # bytes that are looked at
DATASET_FILES = ("dataset_info.json", "state.json", "dataset_dict.json")  # of Hugging Face
GENERATOR = '<meta name="generator" content="ctxembed">'  # in every page that ctxembed writes
# The first two columns of tables, and the first column where numbers of words or axes follow it.
OPENINGS = {
    "sentence": "target token tokens word", "property": "value", "file": "dtype line",
    "representation": "dim probe set", "position": "d1 p0", "distance": "head_1", "epoch": "loss",
    "word": "property neighbor file collocate key_of count k d1 vector", "rank": "word",
    "set": "metric", "target": "head token rank removed representation position", "k": "score",
    "sense": "share collocate", "collocate": "count", "word1": "word2",
}  # fmt: skip
NUMBERED = ("word", "sentence", "label")
_NUMBER = re.compile(r"-?\d[\d.]*(?:e-?\d+)?")
_CELL = re.compile(r'"([^"]*)": ("|\[|null|-?\d[\d.]*(?:e-?\d+)?)')


@dataclass(frozen=True)
class Block:
    """A stretch of whole lines, or a piece of one line that was too long for a block."""

    file: int  # which of the corpus's files
    line: int  # number of its first line, from 1
    data: bytes  # UTF-8
    wrapped: bool  # a single line break inside it is a space, not the end of a sentence
    packed: Packed | None = None  # documents of a table, of XML, CoNLL-U or VRT

    @cached_property
    def text(self) -> str:
        """The decoded text."""
        return self.data.decode("utf-8", "surrogatepass")


@dataclass
class Source:
    """One file of a corpus; its checksum is known after reading."""

    name: str
    sha256: str = ""
    size: int | None = None  # bytes on disk, for the progress bar
    weight: float = 1.0  # how often it is read in an epoch of training


@dataclass
class Corpus:
    """Text from several sources, read once."""

    names: Sequence[str]
    encoding: str = "utf-8"
    errors: str = "strict"
    lines: bool = False  # each line is one sentence already
    document: str = "auto"  # file, block, line, or the pattern of a document's first line
    weighted: bool = False  # a name may end in *WEIGHT
    sources: list[Source] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # files in folders, with the reason
    live: bool = False  # whether the lines of a pipe are yielded as they come, in small blocks
    table: "DocumentTable | None" = None  # what is known of each file
    keys: dict[int, str] = field(default_factory=dict)  # of files that the table has a row for
    text_column: str = ""  # of a corpus that is a table
    document_tag: str = ""  # of a corpus in XML
    records: list[tuple[str, Row]] = field(default_factory=list)  # id and cells of documents read
    layers: Layers = field(default_factory=Layers)

    def __post_init__(self) -> None:
        check_encoding(self.encoding)
        for name in self.names:
            source, weight = split_weight(name) if self.weighted else (name, 1.0)
            files = [*self._readable(source, _find_files(source, self.skipped))]
            self.sources += [replace(file, weight=weight) for file in files]
        if not self.sources:
            raise CorpusError(f"no text files in {', '.join(self.names)}")

    def _readable(self, name: str, files: Sequence[Source]) -> Iterator[Source]:
        """Yield the files of a name that these options can read; skip others in a folder."""
        missing = {
            "table": (self.text_column, "a table", "--text-column: the column of the text"),
            "xml": (self.document_tag, "XML", "--document-tag: the element that is a document"),
        }
        for file in files:
            option, what, advice = missing.get(record_kind(file.name) or "", ("-", "", ""))
            if option:
                yield file
            elif Path(name).is_dir():
                self.skipped[file.name] = f"{what}; read it with {advice}"
            else:
                raise CorpusError(f"{file.name}: {what}; give {advice}")

    @property
    def size(self) -> int | None:
        """Total bytes to read, or None if the size of a file is unknown."""
        sizes = [source.size for source in self.sources]
        return sum(s for s in sizes if s is not None) if None not in sizes else None

    @property
    def weights(self) -> list[float] | None:
        """The weight of each source, or None if all are 1."""
        weights = [source.weight for source in self.sources]
        return weights if set(weights) != {1.0} else None

    def describe_files(self, name: str) -> None:
        """Read the table of what is known of each file; the table itself is no text."""
        from ctxembed.text.document_table import match_keys, read_document_table

        self.table = read_document_table(name, self.encoding, self.errors)
        self.skipped = {k: why for k, why in self.skipped.items() if not _is_same(k, name)}
        same = [source for source in self.sources if _is_same(source.name, name)]
        self.sources = [source for source in self.sources if source not in same]
        if not self.sources:
            raise CorpusError(f"{name} is the metadata, and there is no other file in the corpus")
        files = [source.name for source in self.sources]
        self.keys = match_keys(list(self.table.rows), files)
        if not (self.keys or self.has_records):  # records have ids, which are read later
            first = f"{next(iter(self.table.rows))!r} is not {files[0]}"
            problem = f"no row is about a file of the corpus ({first})"
            raise CorpusError(f"{name}: {problem}; its first column must name the files")

    def unmatched(self) -> Iterator[str]:
        """Yield notes on files without a row of metadata, and rows without a file."""
        if self.table is None:
            return
        if self.has_records:
            return
        files = [s.name for number, s in enumerate(self.sources) if number not in self.keys]
        others = sorted(set(self.table.rows) - set(self.keys.values()))
        for what, names in (("files have no row", files), ("rows are about no file", others)):
            if names:
                total = len(self.sources) if names is files else len(self.table.rows)
                more = f" and {len(names) - 3} more" if len(names) > 3 else ""
                shown = f"{', '.join(names[:3])}{more}"
                yield f"{self.table.name}: {len(names)} of {total} {what}: {shown}"

    def blocks(self) -> Iterator[tuple[Block, int]]:
        """Yield each block and the number of bytes read from disk for it."""
        for number, source in enumerate(self.sources):
            yield from self._read(number, source)

    @property
    def has_records(self) -> bool:
        """Whether a document is a part of a table, of XML, CoNLL-U or VRT."""
        return any(record_kind(source.name) for source in self.sources)

    def _read_records(self, number: int, source: Source) -> Iterator[tuple[Block, int]]:
        """Yield the documents of a file in blocks; remember what is known of each."""
        from ctxembed.text.annotated import conllu_records, vrt_records
        from ctxembed.text.xml_documents import xml_records

        name, kind, digest = source.name, record_kind(source.name), list[str]()
        table = TableFile(name, self.encoding, self.errors)
        if kind == "table":
            found = table_records(table, self.text_column)
        elif kind == "xml":
            found = xml_records(name, self.document_tag, digest)
        elif kind == "vrt":
            tag = self.document_tag or "text"
            found = vrt_records(name, tag, self.encoding, self.errors, digest)
        else:
            found = conllu_records(name, self.encoding, self.errors, digest)

        def remembered() -> Iterator[Record]:
            for record in found:
                self.records.append((record.id, record.cells))
                yield record

        wrapped: bool | None = None
        for packed in pack_records(remembered(), self.layers, len(self.records)):
            if wrapped is None:
                head = packed.data[:65536].decode("utf-8", "replace")
                wrapped = not (self.lines or packed.sentences) and looks_wrapped(head)
            yield Block(number, packed.line, packed.data, wrapped, packed), 0
        source.sha256 = digest[0] if digest else table.sha256

    def _read(self, number: int, source: Source) -> Iterator[tuple[Block, int]]:
        if record_kind(source.name):
            yield from self._read_records(number, source)
            return
        digest = hashlib.sha256()
        decoder = codecs.getincrementaldecoder(self.encoding)(self.errors)
        tail, line, position, blank = b"", 1, 0, 0
        wrapped: bool | None = None  # decided from the first block
        returns = False  # whether \r alone ends a line, as on old Macs; decided likewise
        with open_bytes(source.name) as stream:
            live = self.live and self.lines and is_live(stream)
            read = getattr(stream, "read1", stream.read) if live else stream.read
            while True:
                with name_read_errors(source.name):
                    data = read(BLOCK)
                digest.update(data)
                text = tail + self._decode(decoder, data, source.name, line + tail.count(b"\n"))
                if b"\r" in text:  # here, because a block may end between \r and \n
                    text = text.replace(b"\r\n", b"\n")
                    returns |= wrapped is None and b"\r" in text[:-1] and b"\n" not in text
                    text = text.replace(b"\r", b"\n") if returns else text
                if b"\0" in text and self.errors == "replace":
                    text = text.replace(b"\0", REPLACEMENT)
                elif b"\0" in text:
                    line += text[: text.index(b"\0")].count(b"\n")
                    raise CorpusError(f"{source.name}: line {line}: a NUL character; {BINARY}")
                if wrapped is None:
                    text = text.removeprefix(codecs.BOM_UTF8)
                    wrapped = not self.lines and looks_wrapped(text.decode("utf-8", "replace"))
                cut = len(text) if not data else _safe_cut(text, wrapped)
                head, tail = text[:cut], text[cut:]
                blank = blank + len(head) if head.isspace() else 0
                if max(len(tail), blank) > MAX_RUN:
                    what = "nothing but space" if blank else "no space or full stop"
                    where = f"{source.name}: line {line}"
                    raise CorpusError(f"{where}: {what} in {MAX_RUN >> 20} MiB; is this text?")
                if head:
                    done = _position(stream, source.size)
                    yield Block(number, line, head, wrapped), done - position
                    position = done
                    line += head.count(b"\n")
                if not data:
                    break
        source.sha256 = digest.hexdigest()

    def _decode(
        self, decoder: codecs.IncrementalDecoder, data: bytes, name: str, line: int
    ) -> bytes:
        """Return the text as UTF-8, or raise a CorpusError that names the wrong byte."""
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            problem = f"{wrong_byte(error, self.encoding, line)}{OTHER}"
            if b"\0" in error.object:
                problem = "looks like a binary file; give text, or the right --encoding"
            raise CorpusError(f"{name}: {problem}") from None
        except UnicodeError:  # a missing byte order mark of UTF-16 or UTF-32
            raise CorpusError(f"{name}: not {self.encoding}; give the right --encoding") from None
        if self.errors != "strict" or codecs.lookup(self.encoding).name != "utf-8":
            data = text.encode("utf-8", "replace")  # replace lone surrogates
        return data


def looks_wrapped(text: str) -> bool:
    """Return whether lines are wrapped to a width, as in a Gutenberg book.

    >>> looks_wrapped("It was a dark and stormy\\nnight and the rain fell\\nin torrents on it.\\n")
    True
    >>> looks_wrapped("An apple a day keeps the doctor away\\nApple is healthy\\n")
    False
    """
    lines = text[:65536].split("\n")[:-1]
    inner = [(line, after) for line, after in pairwise(lines) if line and after]
    if not inner or not any(line[0].isupper() for line in lines if line):
        return False  # all lowercase: the start of a line shows nothing
    # Wrapped prose continues with a lowercase letter, and its lines are about equally long.
    goes_on = sum(after[0].islower() and line[-1] not in ".!?" for line, after in inner)
    lengths = sorted(len(line) for line, _ in inner)
    width = lengths[int(0.95 * (len(lengths) - 1))]
    full = sum(length >= 0.7 * width for length in lengths)
    return width <= 200 and goes_on >= 0.4 * len(inner) and full >= 0.75 * len(inner)


def _is_same(one: str, other: str) -> bool:
    """Return whether two names are of one file."""
    return all(Path(name).exists() for name in (one, other)) and Path(one).samefile(other)


def _safe_cut(text: bytes, wrapped: bool) -> int:
    """Return where a block may end: after a paragraph, after a line, or between two words."""
    cut = text.rfind(b"\n\n") + 2 if wrapped else 0
    if cut < 2:
        cut = text.rfind(b"\n") + 1
    if cut or len(text.decode("utf-8", "replace")) < BLOCK:
        return cut
    spaces = (b" ", b"\t", "\u3000".encode(), "。".encode())
    return max((text.rfind(space) + len(space) for space in spaces if space in text), default=0)


def _position(stream: IO[bytes], size: int | None) -> int:
    """Return the number of bytes read from disk, also for a compressed file."""
    inner: Any = stream
    for attribute in ("fileobj", "_fp", "buffer", "raw"):
        inner = getattr(inner, attribute, inner)
    try:
        return min(int(os.lseek(inner.fileno(), 0, os.SEEK_CUR)), size) if size is not None else 0
    except (OSError, AttributeError, ValueError):
        return 0


def as_corpus(corpus: Corpus | str | Path | Sequence[str | Path], weighted: bool = False) -> Corpus:
    """Return a Corpus from a corpus, a file or folder, or several of them."""
    if isinstance(corpus, Corpus):
        return corpus
    names = [corpus] if isinstance(corpus, str | Path) else corpus
    return Corpus([str(name) for name in names], weighted=weighted)


def _find_files(name: str, skipped: dict[str, str]) -> list[Source]:
    """Return the files of a name; a folder gives its text files, `skipped` gets the others."""
    if name == "-" or "://" in name:
        return [Source(name)]
    if not name:  # Path("") is the current folder
        raise UsageError("a corpus with an empty name; give a file, a folder or -")
    path = Path(name)
    if not path.is_dir():
        if not path.exists():
            raise CorpusError(f"{name}: no such file or folder")
        return [Source(name, size=path.stat().st_size if path.is_file() else None)]
    inside = [(file, file.relative_to(path).parts) for file in path.rglob("*") if file.is_file()]
    files = sorted(file for file, parts in inside if not any(p.startswith(".") for p in parts))
    models = {file.parent for file in files if file.name == "model.json"}  # a model is not a corpus
    files = [file for file in files if not models.intersection(file.parents)]
    reasons = {str(file): reason for file in files if (reason := _find_reason(file))}
    reasons |= {str(model): "a model of ctxembed" for model in sorted(models)}
    skipped |= reasons
    kept = [file for file in files if str(file) not in reasons]
    return [Source(str(file), size=file.stat().st_size) for file in kept]


def _find_reason(path: Path) -> str:
    """Return why a file in a folder is not read as text; empty if it is."""
    if path.suffix.lower() in PACKED:
        return ""
    if path.name in DATASET_FILES or (path.suffix == ".arrow" and path.name.startswith("cache-")):
        return "no text, but a part of a dataset"
    if table_kind(path.name) in BINARY_KINDS:
        return ""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise CorpusError(read_failure(path, error)) from None
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "not a text file"
    return "written by ctxembed" if is_own_file(path, head) else ""


def is_own_file(path: Path, head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a file that ctxembed wrote."""
    text = head.decode("utf-8", "replace")
    if text.startswith(("<svg", "<!doctype html")):
        return 'class="ctxembed"' in text[:200] or GENERATOR in text
    if path.name.endswith(".vocab.txt"):  # the word list of an exported array
        return path.with_name(path.name.removesuffix(".vocab.txt") + ".npy").exists()
    first, *rest = _rows(text) or [[]]
    row = rest[0] if rest else []
    if len(first) == 2 and all(map(str.isdecimal, first)):  # word2vec: number of words and numbers
        return len(row) > 1 and all(map(_NUMBER.fullmatch, row[1 : int(first[1][:4]) + 1][:9]))
    if first[:2] == ["word", "sense"]:  # not enough: other people label words with senses
        del first[0]
    if len(first) < 2 or (first[0] == "sentence" and not _NUMBER.fullmatch("".join(row[:1]))):
        return False
    if first[1] in OPENINGS.get(first[0], "").split():
        return True
    return first[0] in NUMBERED and len(row) > 1 and all(map(_NUMBER.fullmatch, row[1:]))


def _rows(text: str) -> list[list[str]]:
    """Return the cells of the column names and of the first row, or of the first two lines.

    >>> _rows('[\\n  {"word": "pear", "count": 3}\\n]\\n')
    [['word', 'count'], ['"', '3']]
    """
    if match := re.match(r'(?:\[\s*)?\{(".*)', text):
        cells = _CELL.findall(match[1])
        return [[name for name, _ in cells], [value for _, value in cells]]
    lines = [line for line in text.split("\n")[:6] if not re.match(r"\\|[-| ]*$", line)][:2]
    for separator in ("\t", "|", "&", ",", "  ", " "):
        if lines and separator in lines[0]:
            cut = (line.replace("\\_", "_").strip("|\\ ").split(separator) for line in lines)
            return [[cell.strip() for cell in cells if cell.strip()] for cells in cut]
    return []
