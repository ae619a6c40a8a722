"""A corpus as a stream of text blocks: files, folders, compressed files, addresses, stdin."""

import codecs
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from ctxembed.errors import CorpusError, UsageError, read_failure
from ctxembed.text.lines import OTHER, check_encoding, wrong_byte
from ctxembed.text.streams import PACKED, damage_told, open_bytes

LONGEST = 4 << 20  # bytes without a space, or of spaces: no natural text has them
BLOCK = 1 << 19  # bytes; large enough to amortise a process switch, small enough to stay in cache


@dataclass(frozen=True)
class Block:
    """A stretch of whole lines, or a piece of one line that was too long for a block."""

    file: int  # which of the corpus's files
    line: int  # number of its first line, from 1
    data: bytes  # UTF-8
    wrapped: bool  # a single line break inside it is a space, not the end of a sentence

    @cached_property
    def text(self) -> str:
        """What the bytes say."""
        return self.data.decode("utf-8", "surrogatepass")


@dataclass
class Source:
    """One file of a corpus, and what was learned of it while reading."""

    name: str
    sha256: str = ""
    size: int | None = None  # bytes on disk, for the progress bar


@dataclass
class Corpus:
    """Text from several places, read once from the first byte to the last."""

    names: Sequence[str]
    encoding: str = "utf-8"
    errors: str = "strict"
    lines: bool = False  # each line is one sentence already
    document: str = "auto"  # file, block, line, or the pattern of a document's first line
    sources: list[Source] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # binary files met in folders

    def __post_init__(self) -> None:
        check_encoding(self.encoding)
        for name in self.names:
            self.sources += _find(name, self.skipped)
        if not self.sources:
            raise CorpusError(f"no text files in {', '.join(self.names)}")

    @property
    def size(self) -> int | None:
        """Bytes to read in all, where every file has a size."""
        sizes = [source.size for source in self.sources]
        return sum(s for s in sizes if s is not None) if None not in sizes else None

    def blocks(self) -> Iterator[tuple[Block, int]]:
        """Yield blocks and how many bytes of the files on disk were read for each."""
        for number, source in enumerate(self.sources):
            yield from self._read(number, source)

    def _read(self, number: int, source: Source) -> Iterator[tuple[Block, int]]:
        digest = hashlib.sha256()
        decoder = codecs.getincrementaldecoder(self.encoding)(self.errors)
        tail, line, place, blank = b"", 1, 0, 0
        wrapped: bool | None = None  # the first block shows it
        with open_bytes(source.name) as stream:
            while True:
                with damage_told(source.name):
                    data = stream.read(BLOCK)
                digest.update(data)
                text = tail + self._decode(decoder, data, source.name, line + tail.count(b"\n"))
                if b"\0" in text:
                    at = line + text[: text.index(b"\0")].count(b"\n")
                    raise CorpusError(
                        f"{source.name}: line {at}: a NUL character; this looks like a binary file"
                        " (for UTF-16 text give --encoding utf-16)"
                    )
                if wrapped is None:
                    text = text.removeprefix(codecs.BOM_UTF8)
                    wrapped = not self.lines and looks_wrapped(text.decode("utf-8", "replace"))
                cut = len(text) if not data else _safe_cut(text, wrapped)
                head, tail = text[:cut], text[cut:]
                blank = blank + len(head) if head.isspace() else 0
                if max(len(tail), blank) > LONGEST:
                    what = "nothing but space" if blank else "no space or full stop"
                    raise CorpusError(
                        f"{source.name}: line {line}: {what} in {LONGEST >> 20} MiB; is this text?"
                    )
                if head:
                    done = _position(stream, source.size)
                    yield Block(number, line, head, wrapped), done - place
                    place = done
                    line += head.count(b"\n")
                if not data:
                    break
        source.sha256 = digest.hexdigest()

    def _decode(
        self, decoder: codecs.IncrementalDecoder, data: bytes, name: str, line: int
    ) -> bytes:
        """Return the text as UTF-8, or say what is wrong with it."""
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            if b"\0" in error.object:
                raise CorpusError(
                    f"{name}: looks like a binary file; give text, or the right --encoding"
                ) from None
            raise CorpusError(f"{name}: {wrong_byte(error, self.encoding, line)}{OTHER}") from None
        except UnicodeError:  # UTF-16 and UTF-32 begin with a mark that says which bytes come first
            raise CorpusError(f"{name}: not {self.encoding}; give the right --encoding") from None
        if self.errors != "strict" or codecs.lookup(self.encoding).name != "utf-8":
            data = text.encode("utf-8", "replace")  # half a character is none
        return data.replace(b"\r\n", b"\n") if b"\r" in data else data


def looks_wrapped(text: str) -> bool:
    """Tell whether lines were broken to a width, as in a typed letter or a Gutenberg book.

    >>> looks_wrapped("It was a dark and stormy night and\\nthe rain fell in torrents over the\\n"
    ...               "roofs of the old town by the sea.\\n")
    True
    >>> looks_wrapped("An apple a day keeps the doctor away\\nApple is healthy\\n")
    False
    """
    lines = text[:65536].split("\n")[:-1]
    inner = [(line, after) for line, after in pairwise(lines) if line and after]
    if not inner or not any(line[0].isupper() for line in lines if line):
        return False  # all in small letters: how a line begins tells nothing
    # Prose broken to a width goes on with a small letter, and its lines are about equally long.
    goes_on = sum(after[0].islower() and line[-1] not in ".!?" for line, after in inner)
    lengths = sorted(len(line) for line, _ in inner)
    width = lengths[int(0.95 * (len(lengths) - 1))]
    full = sum(length >= 0.7 * width for length in lengths)
    return width <= 200 and goes_on >= 0.4 * len(inner) and full >= 0.75 * len(inner)


def _safe_cut(text: bytes, wrapped: bool) -> int:
    """Find where a block may end: behind a paragraph, a line, or at least between two words."""
    cut = text.rfind(b"\n\n") + 2 if wrapped else 0
    if cut < 2:
        cut = text.rfind(b"\n") + 1
    if cut or len(text.decode("utf-8", "replace")) < BLOCK:
        return cut
    spaces = (b" ", b"\t", "\u3000".encode(), "。".encode())
    return max((text.rfind(space) + len(space) for space in spaces if space in text), default=0)


def _position(stream: IO[bytes], size: int | None) -> int:
    """Tell how many bytes on disk have been read, through whatever unpacks them."""
    if size is None:
        return 0
    inner: Any = stream
    for attribute in ("fileobj", "_fp", "buffer", "raw"):
        inner = getattr(inner, attribute, inner)
    try:
        return min(int(os.lseek(inner.fileno(), 0, os.SEEK_CUR)), size)
    except (OSError, AttributeError, ValueError):
        return 0


def as_corpus(given: Corpus | str | Path | Sequence[str | Path]) -> Corpus:
    """Take a corpus, the name of a file or folder, or several of them."""
    if isinstance(given, Corpus):
        return given
    return Corpus([str(name) for name in ([given] if isinstance(given, str | Path) else given)])


def _find(name: str, skipped: list[str]) -> list[Source]:
    """List the files that a name stands for; a folder stands for all that is in it."""
    if name == "-" or "://" in name:
        return [Source(name)]
    if not name:  # to Path it would be the folder we are in
        raise UsageError("a corpus with an empty name; give a file, a folder or -")
    path = Path(name)
    if not path.is_dir():
        if not path.exists():
            raise CorpusError(f"{name}: no such file or folder")
        return [Source(name, size=path.stat().st_size if path.is_file() else None)]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    models = {file.parent for file in files if file.name == "model.json"}  # ours, no corpus
    found = []
    for file in files:
        if models.intersection(file.parents):
            continue
        if _is_binary(file):
            skipped.append(str(file))
        else:
            found.append(Source(str(file), size=file.stat().st_size))
    return found


def _is_binary(path: Path) -> bool:
    if path.suffix.lower() in PACKED:
        return False
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise CorpusError(read_failure(path, error)) from None
    return b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
