"""The corpus as word ids, and where each word occurs, memory-mapped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Part
from ctxembed.text.documents import choose
from ctxembed.text.original import PLACES, Original
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.text.word_list import read_lines

Ids = NDArray[np.int32]
# What an index is made of; text/ writes them, whoever checks or copies a model reads it here.
CHUNK = 1 << 20  # tokens handled at once; bounds the memory, whatever the size of the corpus


@dataclass(frozen=True)
class Index:
    """The index of a model: its corpus, sentence by sentence."""

    folder: Path | Part
    vocab: Sequence[str]
    files: Sequence[dict[str, Any]]
    tokenizer: Callable[[], Tokenizer] = Tokenizer  # makes what finds its tokens in the text

    @cached_property
    def original(self) -> Original | None:
        """The text as it was written, where the index keeps a copy."""
        if not (self.folder / PLACES).exists():
            return None
        places = self._load(PLACES, len(self.offsets) - 1)
        return Original(self.folder, places, self.offsets, self.documents, self.tokenizer())

    @cached_property
    def ids(self) -> Ids:
        """Ids of the whole corpus; those past the vocabulary are words without a vector."""
        return self._load("ids.npy", self.offsets[-1])

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """(S+1,) where each sentence begins in ids."""
        return self._load("offsets.npy")

    @cached_property
    def lines(self) -> NDArray[np.int32]:
        """(S,) the line on which each sentence begins."""
        return self._load("lines.npy", len(self.offsets) - 1)

    @cached_property
    def documents(self) -> NDArray[np.int64]:
        """(D+1,) where each document begins in ids, and where the last one ends.

        An index from before there were documents has a file as one, or a line where files are few.
        """
        if (self.folder / "documents.npy").exists():
            found: NDArray[np.int64] = self._load("documents.npy")
            self._expect("documents.npy", len(found) > 1 and found[-1] == self.offsets[-1])
            return found
        begins = np.zeros(len(self.lines) + 1, np.bool_)  # an empty file may be the last one
        begins[np.append(0, self._ends[:-1])] = True
        begins = begins[:-1]
        if choose("auto", len(self.files), 0) == "line":
            begins[1:] |= np.diff(self.lines) != 0
        return np.append(self.offsets[:-1][begins], self.offsets[-1])

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return self._load("starts.npy", len(self.vocab) + 1)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        return self._load("positions.npy", self._starts[-1])

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum([file["sentences"] for file in self.files])

    @cached_property
    def rare(self) -> Sequence[str]:
        """The words without a vector; their ids go on behind the vocabulary's."""
        return read_lines(self.folder / "rare.txt")

    def positions(self, word: int) -> NDArray[np.int64]:
        """Return the places of a word in ids, in the order of the text."""
        found = np.asarray(self._places[self._starts[word] : self._starts[word + 1]], np.int64)
        self._expect("positions.npy", not len(found) or 0 <= found[0] <= found[-1] < len(self.ids))
        return found

    def sentence_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sentence in which each place lies."""
        return np.searchsorted(self.offsets, positions, side="right") - 1

    def document_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the document in which each place lies, from 0."""
        return np.searchsorted(self.documents, positions, side="right") - 1

    def count_documents(self, positions: NDArray[np.int64]) -> int:
        """Count the documents in which these places, in the order of the text, lie."""
        return int(np.count_nonzero(np.diff(self.document_of(positions), prepend=-1)))

    def sentence(self, number: int) -> Ids:
        """Return the ids of one sentence."""
        return np.asarray(self.ids[self.offsets[number] : self.offsets[number + 1]])

    def count_all(self) -> NDArray[np.int64]:
        """Count every word, rare ones behind the vocabulary; none may be beyond those."""
        counts, known = np.zeros(len(self.vocab), np.int64), len(self.vocab)
        for first in range(0, len(self.ids), CHUNK):
            ids = self.ids[first : first + CHUNK]
            beyond = ids.max() >= known and ids.max() >= known + len(self.rare)
            self._expect("ids.npy", ids.min() >= 0 and not beyond)
            some = np.bincount(ids, minlength=len(counts))
            some[: len(counts)] += counts
            counts = some
        return counts

    def words(self, ids: Ids) -> list[str]:
        """Turn ids back into words, rare ones too."""
        known = len(self.vocab)
        numbers = ids.tolist()
        if max(numbers, default=0) >= known:
            self._expect("rare.txt", max(numbers) < known + len(self.rare))
        return [self.vocab[i] if i < known else self.rare[i - known] for i in numbers]

    def place(self, sentence: int) -> tuple[str, int]:
        """Return the file and line on which a sentence begins."""
        name = self.files[int(np.searchsorted(self._ends, sentence, side="right"))]["name"]
        return name, int(self.lines[sentence])

    def _load(self, name: str, length: int | None = None) -> NDArray[Any]:
        """Map whole numbers, one behind the other: as many as the rest says, or at least one."""
        found: NDArray[Any] = load(self.folder / name)
        self._expect(name, found.ndim == 1 and found.dtype.kind in "iu")
        self._expect(name, len(found) > 0 if length is None else len(found) == length)
        return found

    def _expect(self, name: str, fits: bool | np.bool_) -> None:
        if not fits:
            raise ModelError(
                f"{self.folder / name}: damaged (does not fit the rest); train the model again"
            )
