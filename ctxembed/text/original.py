"""The text as it was written: a packed copy in the index, and where a token stands in it."""

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
from ctxembed.text.tokenizer import Tokenizer

PIECE = 1 << 16  # bytes packed together: what is unpacked to quote one line
KEPT = 8  # pieces, and sentences
OPENING = 64  # bytes before the first token of a document that may belong to it
Spans = tuple[str, list[tuple[int, int]]]  # a text, and where its tokens begin and end
COPY, PIECES, PLACES = "text.npy", "pieces.npy", "places.npy"


def pack(data: bytes) -> list[tuple[int, bytes]]:
    """Pack text, a piece at a time; the fastest level, since reading a corpus must stay fast."""
    pieces = (data[first : first + PIECE] for first in range(0, len(data), PIECE))
    return [(len(piece), zlib.compress(piece, 1)) for piece in pieces]


@dataclass(frozen=True)
class Original:
    """The copy of a corpus's text in an index, in which its tokens are found.

    What was made last is kept: occurrences are asked for in the order of the text. It holds nothing
    of this object, so that a model's files are closed when nobody asks any more.
    """

    folder: Path | Part
    places: NDArray[np.int64]  # (S,) where the first token of each sentence begins, in bytes
    offsets: NDArray[np.int64]  # (S+1,) where each sentence begins in ids
    documents: NDArray[np.int64]  # (D+1,) where each document begins in ids
    tokenizer: Tokenizer

    @cached_property
    def _pieces(self) -> NDArray[np.int64]:
        """(P+1, 2) where each piece begins, in the text and when it is packed."""
        pieces: NDArray[np.int64] = load(self.folder / PIECES)
        if pieces.ndim != 2 or not len(pieces):
            raise _damaged(self.folder / PIECES)
        return pieces

    @cached_property
    def _unpack(self) -> Callable[[int], bytes]:
        place = self.folder / COPY
        return lru_cache(KEPT)(partial(_unpack, place, self._pieces, load(place)))

    @cached_property
    def _find_tokens(self) -> Callable[[bytes], Spans]:
        return lru_cache(KEPT)(partial(_find_tokens, self.tokenizer))

    @property
    def size(self) -> int:
        """Bytes of text."""
        return int(self._pieces[-1, 0])

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes from one place to another."""
        first, last = np.searchsorted(self._pieces[:, 0], [begin, end - 1], side="right") - 1
        data = b"".join(map(self._unpack, range(int(first), int(last) + 1)))
        start = begin - int(self._pieces[first, 0])
        return data[start : start + end - begin]

    def around(self, token: int, size: int, width: int) -> tuple[str, str, str]:
        """Return what stands before some tokens of a sentence, they themselves, what is behind.

        Up to `width` characters to either side, across sentences but within the document; runs of
        spaces are one.
        """
        begin, end = self._spans(token, size)
        first, last = self._document(token)
        before = self.read(max(first, begin - 4 * width), begin) if width else b""
        behind = self.read(end, min(last, end + 4 * width)) if width and end < last else b""
        left, right = _flat(before), _flat(behind)
        hit = " ".join(self.read(begin, end).decode("utf-8", "replace").split())
        return (
            clip(left, width, whole=begin - first <= 4 * width),
            hit,
            clip(right[::-1], width, whole=last - end <= 4 * width)[::-1],
        )

    def _spans(self, token: int, size: int) -> tuple[int, int]:
        """Return where some tokens begin and end in the copy, in bytes."""
        sentence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        place = int(self.places[sentence])
        # A long sentence was split: its parts are counted from where it begins.
        first, behind = np.searchsorted(self.places, [place, place + 1]).tolist()
        end = int(self.places[behind]) if behind < len(self.places) else self.size
        text, spans = self._find_tokens(self.read(place, end))
        at = token - int(self.offsets[first])
        if at + size > len(spans):
            raise ModelError(
                f"{self.folder}: damaged (the text is not that of the index); train the model again"
            )
        start, stop = spans[at][0], spans[at + size - 1][1]
        return place + len(text[:start].encode()), place + len(text[:stop].encode())

    def _document(self, token: int) -> tuple[int, int]:
        """Return where the document of a token begins and ends, in bytes."""
        number = int(np.searchsorted(self.documents, token, side="right")) - 1
        first, last = np.searchsorted(self.offsets, self.documents[number : number + 2]).tolist()
        begin = self._opening(int(self.places[first]))
        return begin, self._opening(int(self.places[last])) if last < len(
            self.places
        ) else self.size

    def _opening(self, place: int) -> int:
        """Return where a document begins: at the marks, such as “, before its first token."""
        before = self.read(max(0, place - OPENING), place) if place else b""
        line = before.rfind(b"\n") + 1
        if (not line and len(before) < place) or _find_tokens(self.tokenizer, before[line:])[1]:
            return place
        return place - len(before) + line


def _unpack(
    place: Path | Part, pieces: NDArray[np.int64], packed: NDArray[np.uint8], piece: int
) -> bytes:
    (begin, first), (end, last) = pieces[piece : piece + 2].tolist()
    try:
        size = min(end - begin, PIECE)
        data = zlib.decompressobj().decompress(packed[first:last].tobytes(), size + 1)
    except (zlib.error, ValueError):  # a size below 0
        data = b""
    if len(data) != end - begin:
        raise _damaged(place)
    return data


def _damaged(place: Path | Part) -> ModelError:
    return ModelError(f"{place}: damaged; train the model again")


def _find_tokens(tokenizer: Tokenizer, data: bytes) -> Spans:
    text = data.decode("utf-8", "replace")
    return text, [(start, stop) for _, start, stop in tokenizer.tokens(text)]


def _flat(data: bytes) -> str:
    """Decode bytes whose ends may be torn, runs of spaces made one, those at the ends too."""
    text = data.decode("utf-8", "ignore")
    inner = " ".join(text.split())
    return f"{' ' * text[:1].isspace()}{inner}{' ' * text[-1:].isspace()}" if inner else ""


def clip(text: str, width: int, whole: bool = True) -> str:
    """Return the end of a text, no longer than so many characters, from a word's first letter on.

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
    files: Sequence[dict[str, Any]], beside: Path, made: float
) -> Iterator[tuple[str, str]]:
    """Yield the files of a corpus that have moved or changed since an index was made of them."""
    for file in files:
        name = file["name"]
        if name == "-" or "://" in name or not file.get("sha256"):
            continue
        path = next((p for p in (Path(name), beside / name) if p.is_file()), None)
        if path is None:
            yield name, "is no longer there"
        elif path.stat().st_mtime > made and _digest(path) != file["sha256"]:
            yield name, "has changed since"


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file as it was read: unpacked."""
    from hashlib import sha256

    from ctxembed.text.streams import damage_told, open_bytes

    digest = sha256()
    with damage_told(str(path)), open_bytes(str(path)) as stream:
        while data := stream.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()
