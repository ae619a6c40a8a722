"""Read and write vectors in the formats of word2vec, GloVe, fastText and gensim."""

import codecs
import hashlib
import pickle
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, UsageError, read_failure
from ctxembed.progress import Progress
from ctxembed.static.space import Vectors
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import map_array
from ctxembed.text.lines import OTHER, decode

BLOCK = 1 << 22  # bytes read at once
ROWS_PER_WRITE = 1 << 12
MAX_DIGITS = 18  # of a size; longer ones are slow to parse
_PRINTED = frozenset([*range(32, 127), *b"\t\r\n"])  # bytes of numbers in text
CUT = "the file is cut short or its header is wrong"
_PICKLE = "a Python pickle; end its name in .kv if it is gensim's KeyedVectors"
_OTHER_FORMATS = {  # by the first bytes of a file
    b"PK\x03\x04": "a zip archive; unpack it and import the file inside",
    b"\xba\x16\x4f\x2f": "a fastText .bin model; import the .vec file that comes with it",
    b"\x93NUM": "a numpy array; end its name in .npy so that its words are looked for",
    b"\x80\x04": _PICKLE,
    b"\x80\x02": _PICKLE,
}


@dataclass
class VectorFile:
    """A file of vectors that is read block by block: its header, and how far it is read."""

    file: IO[bytes]
    name: str
    encoding: str = "utf-8"
    errors: str = "strict"
    rest: bytes = b""  # read, not used
    done: int = 0  # bytes used
    dim: int = 0
    announced: int | None = None  # words by the header
    digest: Any = field(default_factory=hashlib.sha256)
    blocks: Iterator[tuple[list[str], Floats]] = field(init=False)  # words, vectors (n, d)

    def __post_init__(self) -> None:
        self.more()
        if self.rest.startswith(codecs.BOM_UTF8):
            self.take(len(codecs.BOM_UTF8))
        if not self.rest.strip():
            raise self.bad("empty")
        for magic, reason in _OTHER_FORMATS.items():
            if self.rest.startswith(magic):
                raise self.bad(reason)
        line = self.rest[: self.rest.find(b"\n") + 1]
        sizes = line.split()
        if len(sizes) == 2 and all(size.isdigit() for size in sizes):
            if max(map(len, sizes)) > MAX_DIGITS:
                raise self.bad("line 1: more words or dimensions than there can be")
            self.announced, self.dim = (int(size) for size in sizes)
            self.take(len(line))
            if not self.announced or not self.dim:
                raise self.bad(f"line 1: {self.announced} words of {self.dim} dimensions")
            self.blocks = self._read_binary() if self._looks_binary() else self._read_text(2)
            return
        first = (line or self.rest).split()
        self.dim = len(first) - 1
        if not _are_numbers(first[1:]) or self.dim < 1:
            raise self.bad("line 1: neither 'words dimensions' nor a word and its numbers")
        self.blocks = self._read_text(1)

    def bad(self, problem: str) -> ModelError:
        """Return an error that names the file."""
        return ModelError(f"{self.name}: {problem}")

    def more(self) -> bool:
        """Read another block; return whether there was one."""
        try:
            data = self.file.read(BLOCK)
        except Exception as error:  # gzip, bz2, lzma and zstd have no common kind of error
            raise self.bad(f"cannot be read: {error}") from None
        self.digest.update(data)
        self.rest += data
        return bool(data)

    def take(self, size: int) -> bytes:
        """Return the next bytes that were read, and remove them from the rest."""
        taken, self.rest = self.rest[:size], self.rest[size:]
        self.done += size
        return taken

    def _decode(self, raw: bytes, line: int | None, where: str = "") -> str:
        options = (self.encoding, self.errors)
        return decode(raw, self.name + where, line, *options, hint=OTHER, kind=ModelError)

    def _looks_binary(self) -> bool:
        """Return whether the first word has binary numbers; they may hold a line break too."""
        rest, width = self.rest.partition(b" ")[2], 4 * self.dim
        line = rest.partition(b"\n")[0]
        if line.split() and _are_numbers(line.split()):
            return False
        return not _PRINTED.issuperset(rest[:width]) or len(line) == width

    def _read_text(self, line: int) -> Iterator[tuple[list[str], Floats]]:
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
            ends = f"ends after {line - 2} words, the first line says {self.announced}"
            raise self.bad(f"line {line}: {ends}; {CUT}")

    def _parse(self, lines: list[bytes], number: int) -> tuple[list[str], Floats]:
        """Parse a block of lines at once; look at single lines only where something is odd."""
        words: list[bytes] = []
        numbers: list[bytes] = []
        for line in lines:
            word, _, rest = line.rstrip().partition(b" ")
            if rest.count(b" ") != self.dim - 1:
                word, rest = self._parse_odd(line, number + len(words))
            words.append(word)
            numbers.append(rest)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # too large for float32: infinite
            try:
                values = np.fromstring(b" ".join(numbers), np.float32, sep=" ")
            except (DeprecationWarning, ValueError):  # something that is not a number
                values = np.zeros(0, np.float32)
        if len(values) != len(lines) * self.dim:
            for at, rest in enumerate(numbers, number):
                for part in rest.split():
                    if not _are_numbers([part]):
                        wrong = part.decode("utf-8", "replace")
                        raise self.bad(f"line {at}: not a number: {wrong!r}")
            raise self.bad(f"line {number}: not a vector file")
        text = self._decode(b"\n".join(words), number)
        return text.split("\n"), values.reshape(len(lines), self.dim)

    def _parse_odd(self, line: bytes, number: int) -> tuple[bytes, bytes]:
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

    def _read_binary(self) -> Iterator[tuple[list[str], Floats]]:
        assert self.announced is not None
        left, width = self.announced, 4 * self.dim
        while left:
            words: list[str] = []
            pieces: list[bytes] = []
            at, data = 0, self.rest
            while len(words) < left:
                space = data.find(b" ", at)
                if space < 0 or space + 1 + width > len(data):
                    break
                word = data[at:space].lstrip(b"\n")
                words.append(self._decode(word, None, f": byte {self.done + at}"))
                at = space + 1 + width
                pieces.append(data[space + 1 : at])
            self.take(at)
            if words:
                yield words, np.frombuffer(b"".join(pieces), "<f4").reshape(-1, self.dim)
                left -= len(words)
            if left and not self.more():
                ends = f"ends after {self.announced - left} of {self.announced} words"
                raise self.bad(f"byte {self.done + len(self.rest)}: {ends}; {CUT}")
        while self.more() and len(self.rest) < BLOCK:
            pass
        if self.rest.strip(b"\n"):
            announced = f"continues after the {self.announced} words that its header announces"
            raise self.bad(f"byte {self.done}: {announced}")


def _are_numbers(parts: list[bytes]) -> bool:
    try:
        return len(list(map(float, parts))) == len(parts)
    except ValueError:
        return False


# All that a KeyedVectors file needs. Any other name in a pickle is refused, not imported.
_NUMPY = {
    (f"numpy.{core}.{module}", name)
    for core in ("core", "_core")
    for module in ("multiarray", "numeric")
    for name in ("_reconstruct", "_frombuffer", "scalar")
} | {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")}
_GENSIM = ("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors", "Vocab")


class _Plain:
    """Replaces any gensim object: attributes, no behaviour."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == "gensim.models.keyedvectors" and name in _GENSIM:
            return _Plain
        if (module, name) in _NUMPY:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def read_keyed_vectors(path: Path) -> tuple[list[str], Floats, NDArray[np.int64] | None]:
    """Return words, vectors (V, d) and counts (V,) if any of gensim's KeyedVectors; run no code."""
    try:
        with path.open("rb") as file:
            state = vars(_Unpickler(file).load())
    except OSError as error:
        raise ModelError(read_failure(path, error)) from None
    except Exception as error:  # a damaged pickle raises anything
        raise ModelError(
            f"{path}: not read as gensim's KeyedVectors ({error}); open it with gensim where you"
            " trust it, and save it by .wv.save_word2vec_format('vectors.bin', binary=True)"
        ) from None
    words = state.get("index_to_key", state.get("index2word"))
    vectors = state.get("vectors", state.get("syn0"))
    if vectors is None:  # large arrays are in a file next to it
        beside = Path(f"{path}.vectors.npy")
        try:
            vectors = map_array(beside)
        except (OSError, ValueError) as error:
            raise ModelError(f"{beside}: cannot be read, and {path} needs it: {error}") from None
    if not isinstance(words, list) or getattr(vectors, "ndim", 0) != 2:
        raise ModelError(f"{path}: no words and vectors in it")
    if len(words) != len(vectors):
        raise ModelError(f"{path}: {len(words)} words, but {len(vectors)} vectors")
    return [str(word) for word in words], vectors, _stored_counts(state, words)


def _stored_counts(state: dict[str, Any], words: list[str]) -> NDArray[np.int64] | None:
    """Return the counts (V,) of a KeyedVectors object; None if they are missing or wrong."""
    expandos, old = state.get("expandos"), state.get("vocab")
    stored = expandos.get("count") if isinstance(expandos, dict) else None
    if stored is None and isinstance(old, dict):  # gensim 3
        stored = [getattr(old.get(word), "count", 0) for word in words]
    try:
        counts = np.asarray(stored, np.int64)
    except (TypeError, ValueError, OverflowError):
        return None
    sound = counts.shape == (len(words),) and counts.min(initial=0) >= 0 and counts.any()
    return counts if sound else None


def write_vectors(
    file: IO[bytes], words: Sequence[str], vectors: Vectors, progress: Progress, *, binary: bool
) -> None:
    """Write word2vec's binary format, or text with the digits that give the same float32 again."""
    for word in words:
        if " " in word or not word:
            raise UsageError(f"{word!r} holds a space; word2vec's formats allow none, use .npy")
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    with progress.stage("writing", len(words), "word") as stage:
        for first in range(0, len(words), ROWS_PER_WRITE):
            rows = vectors[first : first + ROWS_PER_WRITE]
            if binary:
                numbers = [row.tobytes() for row in np.asarray(rows, "<f4")]
            else:
                numbers = [" ".join(row).encode() for row in rows.astype(str).tolist()]
            lines = zip(words[first : first + ROWS_PER_WRITE], numbers, strict=True)
            file.writelines(word.encode() + b" " + row + b"\n" for word, row in lines)
            stage.advance(len(rows))
