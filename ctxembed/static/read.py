"""Vectors coming in, from the formats other programs write; a stream of blocks of rows."""

import codecs
import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from ctxembed.errors import ModelError
from ctxembed.stats.vectors import Floats
from ctxembed.text.lines import OTHER, decode

BLOCK = 1 << 22  # bytes read at once
DIGITS = 18  # of a size; Python reads some thousands, and takes its time
_PRINTED = frozenset([*range(32, 127), *b"\t\r\n"])  # what numbers in text are made of


@dataclass
class VectorFile:
    """A vector file being read: what its head says, and how far we are."""

    file: IO[bytes]
    name: str
    encoding: str = "utf-8"
    errors: str = "strict"
    rest: bytes = b""  # read, not used
    done: int = 0  # bytes used
    dim: int = 0
    announced: int | None = None  # words by the header
    digest: Any = field(default_factory=hashlib.sha256)
    blocks: Iterator[tuple[list[str], Floats]] = field(init=False)

    def __post_init__(self) -> None:
        self.more()
        if self.rest.startswith(codecs.BOM_UTF8):
            self.take(len(codecs.BOM_UTF8))
        head = self.rest[:4]
        if not self.rest.strip():
            raise self.bad("empty")
        for magic, reason in _FOREIGN.items():
            if head.startswith(magic):
                raise self.bad(reason)
        line = self.rest[: self.rest.find(b"\n") + 1]
        sizes = line.split()
        if len(sizes) == 2 and all(size.isdigit() for size in sizes):
            if max(map(len, sizes)) > DIGITS:
                raise self.bad("line 1: more words or dimensions than there can be")
            self.announced, self.dim = (int(size) for size in sizes)
            self.take(len(line))
            if not self.announced or not self.dim:
                raise self.bad(f"line 1: {self.announced} words of {self.dim} dimensions")
            self.blocks = self._binary() if self._looks_binary() else self._text(2)
            return
        first = (line or self.rest).split()
        self.dim = len(first) - 1
        if not _are_numbers(first[1:]) or self.dim < 1:
            raise self.bad(
                "line 1: neither 'words dimensions' nor a word and its numbers; no word2vec, GloVe"
                " or fastText file begins so"
            )
        self.blocks = self._text(1)

    def bad(self, what: str) -> ModelError:
        return ModelError(f"{self.name}: {what}")

    def more(self) -> bool:
        """Read another block."""
        try:
            data = self.file.read(BLOCK)
        except Exception as error:  # gzip, bz2, lzma and zstd have no common kind of error
            raise self.bad(f"cannot be read: {error}") from None
        self.digest.update(data)
        self.rest += data
        return bool(data)

    def take(self, size: int) -> bytes:
        """Use up bytes that were read."""
        taken, self.rest = self.rest[:size], self.rest[size:]
        self.done += size
        return taken

    def decode(self, raw: bytes, line: int | None, place: str = "") -> str:
        """Turn words into text."""
        name, how = self.name + place, (self.encoding, self.errors)
        return decode(raw, name, line, *how, hint=OTHER, kind=ModelError)

    def _looks_binary(self) -> bool:
        """Tell by the first word; a float32 may hold any byte, the one of a line break too."""
        _, _, rest = self.rest.partition(b" ")
        line = rest.partition(b"\n")[0]
        if line.split() and _are_numbers(line.split()):
            return False
        width = 4 * self.dim
        return not _PRINTED.issuperset(rest[:width]) or len(line) == width

    def _text(self, line: int) -> Iterator[tuple[list[str], Floats]]:
        ended = False
        while not ended:
            ended = not self.more()
            cut = len(self.rest) if ended else self.rest.rfind(b"\n") + 1
            if not cut and len(self.rest) > 64 * BLOCK:
                raise self.bad(f"line {line}: longer than {64 * BLOCK} bytes; no vector file")
            lines = self.take(cut).split(b"\n")
            if not lines[-1]:
                lines.pop()
            if lines:
                yield self._parse(lines, line)
            line += len(lines)
        if self.announced is not None and line - 2 != self.announced:
            raise self.bad(
                f"line {line}: ends after {line - 2} words, the first line says {self.announced};"
                " the file is cut short or its header is wrong"
            )

    def _parse(self, lines: list[bytes], number: int) -> tuple[list[str], Floats]:
        """Parse a block of lines at once; look at single lines only where something is odd."""
        words: list[bytes] = []
        numbers: list[bytes] = []
        for line in lines:
            word, _, rest = line.rstrip().partition(b" ")
            if rest.count(b" ") != self.dim - 1:
                word, rest = self._odd(line, number + len(words))
            words.append(word)
            numbers.append(rest)
        values = _numbers(b" ".join(numbers))
        if values is None or len(values) != len(lines) * self.dim:
            for place, rest in enumerate(numbers, number):
                for part in rest.split():
                    if not _are_numbers([part]):
                        wrong = part.decode("utf-8", "replace")
                        raise self.bad(f"line {place}: not a number: {wrong!r}")
            raise self.bad(f"line {number}: not a vector file")
        text = self.decode(b"\n".join(words), number)
        return text.split("\n"), values.reshape(len(lines), self.dim)

    def _odd(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """Read a line with tabs, double spaces, or spaces inside its word (GloVe has such)."""
        parts = line.split()
        word, numbers = parts[: -self.dim], parts[-self.dim :]
        # An empty word is a line that begins with a space.
        enough = word or (len(parts) == self.dim and line[:1] in b" \t")
        too_many = len(word) > 1 and _are_numbers(parts[1:])
        if not enough or too_many or not _are_numbers(numbers):
            count = max(0, len(parts) - 1)
            raise self.bad(f"line {number}: {count} numbers where {self.dim} are expected")
        return b" ".join(word), b" ".join(numbers)

    def _binary(self) -> Iterator[tuple[list[str], Floats]]:
        assert self.announced is not None
        width = 4 * self.dim
        left = self.announced
        while left:
            words: list[str] = []
            pieces: list[bytes] = []
            place = 0
            data = self.rest
            while len(words) < left:
                space = data.find(b" ", place)
                if space < 0 or space + 1 + width > len(data):
                    break
                word = data[place:space].lstrip(b"\n")
                words.append(self.decode(word, None, f": byte {self.done + place}"))
                pieces.append(data[space + 1 : space + 1 + width])
                place = space + 1 + width
            self.take(place)
            if words:
                yield words, np.frombuffer(b"".join(pieces), "<f4").reshape(-1, self.dim)
                left -= len(words)
            if left and not self.more():
                raise self.bad(
                    f"byte {self.done + len(self.rest)}: ends after {self.announced - left} of"
                    f" {self.announced} words; the file is cut short or its header is wrong"
                )
        while self.more() and len(self.rest) < BLOCK:
            pass
        if self.rest.strip(b"\n"):
            raise self.bad(
                f"byte {self.done}: goes on behind the {self.announced} words that its header"
                " announces; the header is wrong"
            )


_FOREIGN = {
    b"PK\x03\x04": "a zip archive; unpack it and import the file inside",
    b"\xba\x16\x4f\x2f": "a fastText .bin model; import the .vec file that comes with it",
    b"\x93NUM": "a numpy array; end its name in .npy so that its words are looked for",
    b"\x80\x04": "a Python pickle; end its name in .kv if it is gensim's KeyedVectors",
    b"\x80\x02": "a Python pickle; end its name in .kv if it is gensim's KeyedVectors",
}


def _numbers(text: bytes) -> Floats | None:
    """Parse numbers between spaces; None if there is anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # too large for float32: infinite
        try:
            return np.asarray(np.fromstring(text, np.float32, sep=" "))
        except (DeprecationWarning, ValueError):
            return None


def _are_numbers(parts: list[bytes]) -> bool:
    try:
        for part in parts:
            float(part)
    except ValueError:
        return False
    return True
