"""The original text: a compressed copy in the index, and the byte offsets of tokens in it."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Part
from ctxembed.text.streams import name_read_errors, open_bytes
from ctxembed.text.tokenizer import Tokenizer

PIECE = 1 << 16  # bytes compressed together; one piece is decompressed to quote a line
CACHE_SIZE = 8  # pieces, and sentences, kept in memory
MAX_OPENINGS = 1 << 12  # documents whose beginnings are kept in memory
MAX_OPENING = 64  # bytes before the first token of a document that may belong to it
Ints = NDArray[np.int64]
Spans = tuple[str, list[tuple[int, int]]]
COPY, PIECES, BYTE_OFFSETS = "text.npy", "pieces.npy", "places.npy"


def pack(data: bytes) -> list[tuple[int, bytes]]:
    """Compress text piece by piece, at the fastest level; return (length, compressed) pairs."""
    pieces = (data[first : first + PIECE] for first in range(0, len(data), PIECE))
    return [(len(piece), zlib.compress(piece, 1)) for piece in pieces]


@dataclass(frozen=True)
class Original:
    """The copy of a corpus's text in an index, read in pieces, the last of which are cached.

    The caches hold no reference to this object, so that a model's files are closed after use.
    """

    folder: Path | Part
    byte_offsets: Ints  # (S,) where the first token of each sentence begins, in bytes
    offsets: Ints  # (S+1,) where each sentence begins in ids
    documents: Ints  # (D+1,) where each document begins in ids
    tokenizer: Tokenizer

    @cached_property
    def _pieces(self) -> Ints:
        """(P+1, 2) where each piece begins, in the text and in the compressed copy."""
        pieces: Ints = load(self.folder / PIECES)
        if pieces.ndim != 2 or not len(pieces):
            raise ModelError(f"{self.folder / PIECES}: damaged; train the model again")
        return np.asfortranarray(pieces)  # contiguous columns, else each search copies one

    @cached_property
    def _unpack(self) -> Callable[[int], bytes]:
        """A cached function from the number of a piece to its bytes."""
        path = self.folder / COPY
        return lru_cache(CACHE_SIZE)(partial(_unpack, path, self._pieces, load(path)))

    @cached_property
    def _find_tokens(self) -> Callable[[bytes], Spans]:
        """A cached function from bytes to their text, and where its tokens begin and end."""
        return lru_cache(CACHE_SIZE)(partial(_find_tokens, self.tokenizer))

    @property
    def size(self) -> int:
        """Bytes of text."""
        return int(self._pieces[-1, 0])

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes from begin to end."""
        begins = self._pieces[:, 0]
        first, last = (int(begins.searchsorted(at, "right")) - 1 for at in (begin, end - 1))
        data = b"".join(map(self._unpack, range(first, last + 1)))
        start = begin - int(begins[first])
        return data[start : start + end - begin]

    def around(self, token: int, size: int, width: int) -> tuple[str, str, str]:
        """Return the text before `size` tokens, the tokens, and the text after them.

        Up to `width` characters to either side, within the document; runs of spaces are one.
        """
        begin, end = self._spans(token, size)
        document = int(self.documents.searchsorted(token, "right")) - 1
        sentences = self.offsets.searchsorted(self.documents[document : document + 2])
        first, last = map(self._opening, sentences.tolist())  # of the document, in bytes
        before = self.read(max(first, begin - 4 * width), begin) if width else b""
        after = self.read(end, min(last, end + 4 * width)) if width and end < last else b""
        left = clip(_flat(before), width, whole=begin - first <= 4 * width)
        right = clip(_flat(after)[::-1], width, whole=last - end <= 4 * width)[::-1]
        return left, " ".join(self.read(begin, end).decode("utf-8", "replace").split()), right

    def _spans(self, token: int, size: int) -> tuple[int, int]:
        """Return where some tokens begin and end in the copy, in bytes."""
        sentence = int(self.offsets.searchsorted(token, "right")) - 1
        offset = int(self.byte_offsets[sentence])
        # The parts of a long sentence share one offset: count from the first part.
        first, after = (int(self.byte_offsets.searchsorted(at)) for at in (offset, offset + 1))
        end = int(self.byte_offsets[after]) if after < len(self.byte_offsets) else self.size
        text, spans = self._find_tokens(self.read(offset, end))
        at = token - int(self.offsets[first])
        if at + size > len(spans):
            problem = "damaged (the text does not match the index); train the model again"
            raise ModelError(f"{self.folder}: {problem}")
        start, stop = spans[at][0], spans[at + size - 1][1]
        return offset + len(text[:start].encode()), offset + len(text[:stop].encode())

    @cached_property
    def _openings(self) -> dict[int, int]:
        """What _opening returned, by sentence."""
        return {}

    def _opening(self, sentence: int) -> int:
        """Return where a document begins, in bytes: at the marks, such as “, before a sentence."""
        if sentence not in self._openings:
            if len(self._openings) == MAX_OPENINGS:
                self._openings.clear()
            self._openings[sentence] = self._find_opening(sentence)
        return self._openings[sentence]

    def _find_opening(self, sentence: int) -> int:
        if sentence == len(self.byte_offsets):
            return self.size
        offset = int(self.byte_offsets[sentence])
        before = self.read(max(0, offset - MAX_OPENING), offset) if offset else b""
        line = before.rfind(b"\n") + 1
        if (not line and len(before) < offset) or _find_tokens(self.tokenizer, before[line:])[1]:
            return offset
        return offset - len(before) + line


def _unpack(path: Path | Part, pieces: Ints, packed: NDArray[np.uint8], piece: int) -> bytes:
    (begin, first), (end, last) = pieces[piece : piece + 2].tolist()
    try:
        size = min(end - begin, PIECE)
        data = zlib.decompressobj().decompress(packed[first:last].tobytes(), size + 1)
    except (zlib.error, ValueError):  # a size below 0
        data = b""
    if len(data) != end - begin:
        raise ModelError(f"{path}: damaged; train the model again")
    return data


def _find_tokens(tokenizer: Tokenizer, data: bytes) -> Spans:
    text = data.decode("utf-8", "replace")
    return text, tokenizer.spans(text)


def _flat(data: bytes) -> str:
    """Return the text of bytes that may begin or end inside a character, with single spaces."""
    text = data.decode("utf-8", "ignore")
    inner = " ".join(text.split())
    return f"{' ' * text[:1].isspace()}{inner}{' ' * text[-1:].isspace()}" if inner else ""


def clip(text: str, width: int, whole: bool = True) -> str:
    """Return the end of a text, at most `width` characters, starting with a whole word.

    whole: the text begins where a word does. A space at the end is not counted.

    >>> clip("the old river ", 9), clip("北京大学", 3), clip("ld man", 9, whole=False)
    ('old river ', '京大学', 'man')
    """
    width += text[-1:].isspace()
    if len(text) <= width and whole:
        return text
    cut = text[len(text) - width :] if len(text) > width else text
    if len(text) > width and (text[-width - 1].isspace() or cut[:1].isspace()):
        return cut
    _, space, rest = cut.partition(" ")
    return rest if space and rest else cut


def find_changed(
    files: Sequence[dict[str, Any]], beside: Path, built: float
) -> Iterator[tuple[str, str]]:
    """Yield (name, reason) for corpus files that moved or changed after the index was built."""
    from hashlib import sha256

    for file in files:
        name = file["name"]
        if name == "-" or "://" in name or not file.get("sha256"):
            continue
        path = next((p for p in (Path(name), beside / name) if p.is_file()), None)
        if path is None:
            yield name, "is no longer there"
        elif path.stat().st_mtime > built:
            digest = sha256()  # of the text: a compressed file is unpacked
            with name_read_errors(name), open_bytes(str(path)) as stream:
                while data := stream.read(1 << 20):
                    digest.update(data)
            if digest.hexdigest() != file["sha256"]:
                yield name, "has changed since"
