"""Read text files, whole or line by line, and word lists."""

import codecs
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import numpy as np

from ctxembed.errors import CorpusError, CtxembedError, ModelError, read_failure
from ctxembed.storage.folder import Part, open_path
from ctxembed.text.streams import LiveLines, is_live, name_read_errors, open_bytes
from ctxembed.text.tokenizer import Marked, Tokenizer, parse_marked

_NO_TEXT = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")
MAX_LINE = 1 << 20  # bytes; bounds memory
MAX_FILE = 200 << 20  # bytes of a file that is read at once
MAX_LINES = 1_000_000  # lines kept in memory
MAX_FINDS = 8  # words searched for in the text of a list; more are looked up by keys
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd, of a key's parts
MAX_KEY = (1 << 64) - 1
MAX_READS = 10_000  # words decoded one by one before all of a list are
BOM = "\ufeff"
OTHER = "; give the right --encoding (such as latin-1), or --errors replace to go on"
LABELLED_FORMAT = "write LABEL<tab>SENTENCE a line, the target in [brackets]"


def check_encoding(name: str, kind: type[CtxembedError] = CorpusError) -> None:
    """Raise an error if this is not a text encoding: hex, zlib and rot13 are codecs too.

    >>> check_encoding("Latin-1")
    >>> check_encoding("hex")
    Traceback (most recent call last):
    ctxembed.errors.CorpusError: unknown encoding 'hex'; try utf-8, latin-1 or cp1252
    """
    try:
        codec = codecs.lookup(name)
        if codec._is_text_encoding and codec.name not in _NO_TEXT:
            text = codecs.getincrementaldecoder(name)("strict").decode("a b\n".encode(name), True)
            if text.strip(BOM) == "a b\n":
                return
    except (LookupError, ValueError, TypeError):  # a name with a NUL, or no text codec
        pass
    raise kind(f"unknown encoding {name!r:.60}; try utf-8, latin-1 or cp1252")


def wrong_byte(error: UnicodeDecodeError, encoding: str, line: int | None = 1) -> str:
    """Return a message such as "line 2: byte 0xe9 is not utf-8"; the text begins at `line`."""
    message = f"byte 0x{error.object[error.start]:02x} is not {encoding}"
    before = error.object[: error.start].decode(encoding, "replace").count("\n")
    return message if line is None else f"line {line + before}: {message}"


def decode(
    raw: bytes, name: object, line: int | None = 1, encoding: str = "utf-8", errors: str = "strict",
    *, hint: str = "", kind: type[CtxembedError] = CorpusError,
) -> str:  # fmt: skip
    """Decode bytes of a file that begin at this line; an error names the line."""
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise kind(f"{name}: {wrong_byte(error, encoding, line)}{hint}") from None


def read_text(path: Path, encoding: str = "utf-8", kind: type[CtxembedError] = CorpusError) -> str:
    """Return the whole text of a file, with \\n at the end of lines."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE + 1)
    except OSError as error:
        raise kind(read_failure(path, error)) from None
    if len(raw) > MAX_FILE:
        raise kind(f"{path}: longer than {MAX_FILE >> 20} MiB; give a smaller file")
    text = decode(raw, path, encoding=encoding, kind=kind).removeprefix(BOM).replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


@dataclass(frozen=True)
class Decoding:
    """How the bytes of a line become text."""

    encoding: str = "utf-8"
    errors: str = "strict"
    bad: list[str] | None = None  # a list gets a message on each bad line, which is read as empty

    def __post_init__(self) -> None:
        check_encoding(self.encoding)

    @property
    def wide(self) -> bool:
        """Whether a line break is not the one byte that it is in ASCII, as in UTF-16."""
        return "\n".encode(self.encoding) != b"\n"

    def decode(self, raw: bytes, name: object, line: int) -> str:
        """Return the text of a line."""
        try:
            if self.wide:  # `raw_lines` has converted it
                return raw.decode("utf-8", "replace")
            text = decode(raw, name, line, self.encoding, self.errors, hint=OTHER)
            return text.replace("\0", "\ufffd") if self.errors == "replace" else text
        except CorpusError as error:
            if self.bad is None:
                raise
            self.bad.append(str(error))
            return ""


UTF8 = Decoding()


def raw_lines(stream: IO[bytes], decoding: Decoding = UTF8) -> Iterator[bytes]:
    """Yield lines, the longest cut off; \\r ends the lines of a file that begins without \\n."""
    if decoding.wide:
        text = TextIOWrapper(cast(BinaryIO, stream), decoding.encoding, decoding.errors)
        try:
            yield from (line.encode() for line in iter(lambda: text.readline(MAX_LINE + 1), ""))
        finally:
            text.detach()
        return
    raw = stream.readline(MAX_LINE + 1)
    if raw.endswith(b"\n") or b"\r" not in raw[:-1]:
        while raw:
            yield raw
            raw = stream.readline(MAX_LINE + 1)
    while raw:
        *lines, rest = raw.split(b"\r")
        yield from (line + b"\n" for line in lines)
        more = stream.read(MAX_LINE) if len(rest) <= MAX_LINE else b""
        if not more and rest:
            yield rest
        raw = rest + more if more else b""


class _Pause(str):
    __slots__ = ()


PAUSE = _Pause()  # among lines: the next one may take long, so those before it are answered


def take_chunks(lines: Iterable[str], size: int) -> Iterator[list[tuple[int, str]]]:
    """Yield numbered lines, at most `size` at once, and those before a PAUSE.

    >>> [*take_chunks(["a", "b", PAUSE, "c"], 9)]
    [[(1, 'a'), (2, 'b')], [(3, 'c')]]
    """
    number, chunk = 0, list[tuple[int, str]]()
    for line in lines:
        if line is not PAUSE:
            number += 1
            chunk.append((number, line))
        if chunk and (line is PAUSE or len(chunk) == size):
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def every_line(
    name: str | Path, decoding: Decoding = UTF8, *, pauses: bool = False
) -> Iterator[str]:
    """Yield the lines of a file, or of stdin (`-`), without line ends; empty lines included.

    pauses: of a pipe, PAUSE where the next line has not come yet.
    """
    source = "stdin" if name == "-" else name
    empty = 0
    with name_read_errors(str(name)):
        stream: Any = open_bytes(str(name))
        live = pauses and not decoding.wide and name == "-" and is_live(stream)
        stream = LiveLines(stream) if live else stream
        with nullcontext() if name == "-" else stream:
            for number, raw in enumerate(raw_lines(stream, decoding), 1):
                empty = empty + 1 if raw in (b"\n", b"\r\n") else 0
                if empty > MAX_LINES:
                    message = f"line {number}: {MAX_LINES:,} empty lines; is this text?"
                    raise CorpusError(f"{name}: {message}")
                if len(raw) > MAX_LINE:
                    message = f"line {number} is longer than {MAX_LINE >> 20} MiB"
                    raise CorpusError(f"{source}: {message}; write one sentence, or word, a line")
                text = decoding.decode(raw, source, number).rstrip("\r\n")
                yield text.removeprefix(BOM) if number == 1 else text
                if live and not stream.has_line():
                    yield PAUSE


def numbered_lines(
    name: str | Path, max_lines: int | None = None, decoding: Decoding = UTF8
) -> Iterator[tuple[int, str]]:
    """Yield number and text of non-blank lines; more than `max_lines` lines are an error."""
    for number, line in enumerate(every_line(name, decoding), 1):
        if max_lines is not None and number > max_lines:
            raise CorpusError(f"{name}: more than {max_lines:,} lines; give fewer at a time")
        if line.strip():
            yield number, line


def labelled_lines(
    name: str | Path, tokenizer: Tokenizer, max_lines: int | None = None, decoding: Decoding = UTF8
) -> Iterator[tuple[int, dict[str, str], Marked]]:
    """Yield the lines of a file of labelled sentences: number, cells by column, the sentence.

    Without a line of column names: label, sentence. Each sentence has one target in brackets.
    """
    columns = ["label", "sentence"]
    for number, line in numbered_lines(name, max_lines, decoding):
        cells = line.split("\t")
        if number == 1 and {"label", "sentence"} <= set(cells):
            columns = cells
            continue
        row = {"label": "", "sentence": ""} | dict(zip(columns, cells, strict=False))
        row["label"] = row["label"].strip()
        problem = "" if row["label"] else "no label"
        if len(cells) < max(2, len(columns)):
            problem = f"{len(cells)} columns"
        marked = parse_marked(row["sentence"], tokenizer)
        if not problem and len(marked.targets) != 1:
            problem = f"{len(marked.targets)} targets" if marked.targets else "no target"
        if problem:
            raise CorpusError(f"{name}: line {number}: {problem}; {LABELLED_FORMAT}")
        yield number, row, marked


class WordList(Sequence[str]):
    """Words, one a line; each is decoded on access, since a query needs only a few.

    >>> words = WordList("an\\napple\\ncafé\\n".encode())
    >>> len(words), words[-1], words.index("apple"), words == ["an", "apple", "café"]
    (3, 'café', 1, True)
    """

    def __init__(self, text: bytes) -> None:
        self.text = b"\n" + text
        self.decoded: list[str] = []  # all words, once many were asked for
        self.reads = self.finds = 0
        self.breaks = np.flatnonzero(np.frombuffer(self.text, np.uint8) == ord("\n"))  # (V+1,)

    def __len__(self) -> int:
        return len(self.breaks) - 1

    def __getitem__(self, key: Any) -> Any:
        """Return a word, or the list of those of a slice."""
        if isinstance(key, slice):
            return [self[row] for row in range(*key.indices(len(self)))]
        if self.decoded:
            return self.decoded[key]
        self.reads += 1
        if self.reads > MAX_READS:
            self.decoded = list(self)
        row = range(len(self))[key]
        return self.text[self.breaks[row] + 1 : self.breaks[row + 1]].decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.decode().split("\n")[1:-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def index(self, word: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the first row of a word; frequent words come first."""
        raw = word.encode("utf-8", "surrogatepass")
        self.finds += 1
        if self.finds > MAX_FINDS:
            row = self._find(raw)
        else:
            before = -1 if b"\n" in raw else self.text.find(b"\n" + raw + b"\n")
            row = None if before < 0 else int(np.searchsorted(self.breaks, before))
        if row is None:
            raise ValueError(f"{word!r} is not in the list")
        return row

    def _find(self, raw: bytes) -> int | None:
        """Return the first row of a word by its key, or None."""
        keys, order = self._keys
        ends = int.from_bytes(raw[:8], "little"), int.from_bytes(raw[-8:], "little"), len(raw)
        key = sum(end * factor for end, factor in zip(ends, FACTORS, strict=True)) & MAX_KEY
        place, rows = bisect_left(keys, key), list[int]()
        while place < len(keys) and keys[place] == key:  # another word may have the same key
            row = int(order[place])
            if self.text[self.breaks[row] + 1 : self.breaks[row + 1]] == raw:
                rows.append(row)
            place += 1
        return min(rows, default=None)

    @cached_property
    def _keys(self) -> tuple[Sequence[int], Any]:
        """(V,) sorted keys of the words, made of their first and last 8 bytes, and their rows.

        They take a third of the time of a dictionary of all words.
        """
        first, last = self.breaks[:-1] + 1, self.breaks[1:]
        padded = np.frombuffer(bytes(8) + self.text + bytes(8), np.uint8)
        eights = np.ndarray(len(padded) - 7, "<u8", padded, strides=(1,))  # from each byte
        sizes = (last - first).astype(np.uint64)
        unused = np.uint64(8) * (np.uint64(8) - np.minimum(sizes, np.uint64(8)))  # bits
        head = eights[first + 8] << unused >> unused
        keys = head * np.uint64(FACTORS[0]) + (eights[last] >> unused) * np.uint64(FACTORS[1])
        keys += sizes * np.uint64(FACTORS[2])
        order = np.argsort(keys)
        numbers: Any = keys[order].data
        return numbers, order


def read_lines(file: Path | Part) -> WordList:
    """Return a word list that is stored one word a line."""
    raw = (open_path(file) if isinstance(file, Path) else file).read_bytes()
    decode(raw, f"{file}: damaged", hint="; train the model again", kind=ModelError)
    if raw and not raw.endswith(b"\n"):
        raise ModelError(f"{file}: damaged (its last line is cut); train the model again")
    return WordList(raw)


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write a word list, one word a line."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
