"""The corpus as word ids, and where each word occurs, memory-mapped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Part
from ctxembed.text.lines import read_lines
from ctxembed.text.tokenizer import Tokenizer

if TYPE_CHECKING:  # imported when they are used: most questions do not read the corpus
    from ctxembed.text.layers import Layer
    from ctxembed.text.metadata import Metadata
    from ctxembed.text.original import Original

Ids = NDArray[np.int32]
Ints = NDArray[np.int64]
CHUNK = 1 << 20  # tokens processed at once; bounds memory for a corpus of any size
MIN_DOCUMENTS = 20  # with fewer documents a smaller kind is chosen


def choose_document_kind(kind: str, files: int, blocks: int) -> str:
    """Return what a document is: file, block or line; auto is the largest with enough documents."""
    if kind != "auto":
        return kind
    return "file" if files >= MIN_DOCUMENTS else "block" if blocks >= MIN_DOCUMENTS else "line"


@dataclass(frozen=True)
class Index:
    """The index of a model: its corpus, sentence by sentence."""

    folder: Path | Part
    vocab: Sequence[str]
    files: Sequence[dict[str, Any]]
    tokenizer: Callable[[], Tokenizer] = Tokenizer  # returns the tokenizer of the model

    @cached_property
    def original(self) -> "Original | None":
        """The text as it was written, where the index keeps a copy."""
        from ctxembed.text.original import BYTE_OFFSETS, Original

        if not (self.folder / BYTE_OFFSETS).exists():
            return None
        byte_offsets = self._load(BYTE_OFFSETS, len(self.offsets) - 1)
        return Original(self.folder, byte_offsets, self.offsets, self.documents, self.tokenizer())

    @cached_property
    def ids(self) -> Ids:
        """Ids of the whole corpus; those past the vocabulary are words without a vector."""
        return self._load("ids.npy", self.offsets[-1])

    @cached_property
    def offsets(self) -> Ints:
        """(S+1,) where each sentence begins in ids."""
        return self._load("offsets.npy")

    @cached_property
    def lines(self) -> Ids:
        """(S,) the line on which each sentence begins."""
        return self._load("lines.npy", len(self.offsets) - 1)

    @cached_property
    def documents(self) -> Ints:
        """(D+1,) where each document begins in ids, and where the last one ends."""
        if (self.folder / "documents.npy").exists():
            array: Ints = self._load("documents.npy")
            self._expect("documents.npy", len(array) > 1 and array[-1] == self.offsets[-1])
            return array
        # In an old index a file is a document, or a line if there are few files.
        begins = np.zeros(len(self.lines) + 1, np.bool_)  # an empty file may be the last one
        begins[np.append(0, self._ends[:-1])] = True
        begins = begins[:-1]
        if choose_document_kind("auto", len(self.files), 0) == "line":
            begins[1:] |= np.diff(self.lines) != 0
        return np.append(self.offsets[:-1][begins], self.offsets[-1])

    @cached_property
    def metadata(self) -> "Metadata":
        """What is known of each document: its file, and the columns of --meta."""
        from ctxembed.text.metadata import FILE_COLUMN, MetadataColumn, open_metadata

        owners = self._ends.searchsorted(self.sentence_of(self.documents[:-1]), "right")
        names = [str(file["name"]) for file in self.files]
        files = MetadataColumn(FILE_COLUMN, "text", owners, names)
        return open_metadata(self.folder, files)

    @cached_property
    def layers(self) -> "dict[str, Layer]":
        """Lemma and part of speech of every token, where the corpus had them."""
        from ctxembed.text.layers import open_layers

        return open_layers(self.folder, len(self.ids))

    @cached_property
    def _positions(self) -> tuple[Ints, Ints]:
        """(V+1,) where the list of each word begins in the second array: the positions."""
        starts = self._load("starts.npy", len(self.vocab) + 1)
        return starts, self._load("positions.npy", starts[-1])

    @cached_property
    def _ends(self) -> Ints:
        return np.cumsum([file["sentences"] for file in self.files])

    @cached_property
    def rare(self) -> Sequence[str]:
        """The words without a vector; their ids follow those of the vocabulary."""
        return read_lines(self.folder / "rare.txt")

    def positions(self, word: int) -> Ints:
        """Return (n,) the positions of a word in ids, in text order."""
        starts, lists = self._positions
        positions = np.asarray(lists[starts[word] : starts[word + 1]], np.int64)
        fits = not len(positions) or 0 <= positions[0] <= positions[-1] < len(self.ids)
        self._expect("positions.npy", fits)
        return positions

    def sentence_of(self, positions: Ints) -> Ints:
        """Return the number of the sentence of each position."""
        return np.searchsorted(self.offsets, positions, side="right") - 1

    def document_of(self, positions: Ints) -> Ints:
        """Return the number of the document of each position, from 0."""
        return np.searchsorted(self.documents, positions, side="right") - 1

    def count_documents(self, positions: Ints) -> int:
        """Return how many documents contain these positions, which are in text order."""
        return int(np.count_nonzero(np.diff(self.document_of(positions), prepend=-1)))

    def sentence(self, number: int) -> Ids:
        """Return the ids of one sentence."""
        return np.asarray(self.ids[self.offsets[number] : self.offsets[number + 1]])

    def count_all(self) -> Ints:
        """Return the counts of all words: the vocabulary, then the rare words."""
        counts, known = np.zeros(len(self.vocab), np.int64), len(self.vocab)
        for first in range(0, len(self.ids), CHUNK):
            ids = self.ids[first : first + CHUNK]
            beyond = ids.max() >= known and ids.max() >= known + len(self.rare)
            self._expect("ids.npy", ids.min() >= 0 and not beyond)
            before, counts = counts, np.bincount(ids, minlength=len(counts))
            counts[: len(before)] += before
        return counts

    def words(self, ids: Ids) -> list[str]:
        """Return the words of ids, rare words included."""
        known, numbers = len(self.vocab), ids.tolist()
        if max(numbers, default=0) >= known:
            self._expect("rare.txt", max(numbers) < known + len(self.rare))
        vocab = getattr(self.vocab, "decoded", ()) or self.vocab  # a list is faster
        return [vocab[i] if i < known else self.rare[i - known] for i in numbers]

    def source_of(self, sentence: int) -> tuple[str, int]:
        """Return the file and line on which a sentence begins."""
        name = self.files[int(self._ends.searchsorted(sentence, "right"))]["name"]
        return name, int(self.lines[sentence])

    def _load(self, name: str, length: int | None = None) -> NDArray[Any]:
        """Map an array of integers; check its length, or that it is not empty."""
        array: NDArray[Any] = load(self.folder / name)
        self._expect(name, array.ndim == 1 and array.dtype.kind in "iu")
        self._expect(name, len(array) > 0 if length is None else len(array) == length)
        return array

    def _expect(self, name: str, fits: bool | np.bool_) -> None:
        if not fits:
            problem = "damaged (does not fit the rest); train the model again"
            raise ModelError(f"{self.folder / name}: {problem}")
