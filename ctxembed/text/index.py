"""The corpus as word ids, and where each word occurs, memory-mapped."""

import mmap
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError, ModelError
from ctxembed.progress import Progress
from ctxembed.text.borders import BLOCK, FILE, KINDS, Beginnings, check_kind, choose
from ctxembed.text.folder import Part
from ctxembed.text.npy import load, write_header
from ctxembed.text.original import COPY, PIECES, PLACES, Copy, CopyWriter, Original
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.text.word_list import read_lines

if TYPE_CHECKING:
    from ctxembed.text.corpus import Corpus

Ids = NDArray[np.int32]
# What an index is made of; text/ writes them, whoever checks or copies a model reads it here.
FILES = ("ids.npy", "offsets.npy", "lines.npy", "documents.npy", "starts.npy", "positions.npy",
         "rare.txt", PLACES, PIECES, COPY)  # fmt: skip
CHUNK = 1 << 20  # tokens handled at once; bounds the memory, whatever the size of the corpus


@dataclass(frozen=True)
class Counted:
    """What one reading of the corpus gave."""

    types: list[str]  # distinct words, the most frequent first, ties in order of appearance
    counts: NDArray[np.int64]  # (types,)
    sentences: int
    tokens: int
    files: list[dict[str, Any]]  # name, sha256, sentences
    document: str  # what a document is: file, block, line, or the pattern of its first line
    documents: int

    def kept(self, min_count: int) -> int:
        """Tell how many words occur often enough; they are the first ones."""
        return int(np.searchsorted(-self.counts, -min_count, side="right"))


def build(
    corpus: "Corpus",
    tokenizer: Tokenizer,
    folder: Path,
    workers: int,
    progress: Progress,
    keep: bool = False,
) -> Counted:
    """Read the corpus once; write ids, sentence offsets and lines into the folder.

    keep: write a packed copy of the text too.
    """
    from ctxembed.text.numbering import number_all  # whoever only asks questions needs none of it

    numbers = defaultdict[str, int](count().__next__)  # word -> provisional id, by appearance
    counts = np.zeros(1024, np.int64)
    sentences = tokens = 0
    by_file = [0] * len(corpus.sources)
    begun = Beginnings()
    border = check_kind(corpus.document)
    with (
        (folder / "ids").open("wb") as ids_file,
        (folder / "lengths").open("wb") as lengths_file,
        (folder / "lines").open("wb") as lines_file,
        (folder / "begins").open("wb") as begins_file,
        (folder / COPY).open("wb") as copy_file,
        (folder / "places").open("wb") as places_file,
        progress.stage("reading", corpus.size, "B") as stage,
    ):
        copy = CopyWriter(folder, copy_file)
        for part, size in number_all(
            corpus.blocks(), tokenizer, corpus.lines, workers, border, keep
        ):
            types = part.types
            rows = np.fromiter(map(numbers.__getitem__, types), np.int32, len(types))
            if len(numbers) > len(counts):
                counts = np.concatenate([counts, np.zeros(len(numbers), np.int64)])
            np.add.at(counts, rows, np.bincount(part.ids, minlength=len(rows)))
            ids_file.write(rows[part.ids].tobytes())
            lengths_file.write(part.lengths.tobytes())
            lines_file.write(part.lines.tobytes())
            begins_file.write(begun.mark(part.file, part.lines, part.borders, part.border_behind))
            places_file.write((part.places + copy.size).tobytes())
            copy.add(part.packed)
            sentences += len(part.lengths)
            tokens += len(part.ids)
            by_file[part.file] += len(part.lengths)
            stage.advance(size)
        copy.finish()
    if not tokens:
        raise CorpusError(f"{', '.join(corpus.names)}: no words in it")
    counts = counts[: len(numbers)]
    order = np.argsort(-counts, kind="stable")
    words = list(numbers)
    files = [
        {"name": source.name, "sha256": source.sha256, "sentences": number}
        for source, number in zip(corpus.sources, by_file, strict=True)
    ]
    renumber(folder, order, tokens, sentences)
    if keep:
        _write_array(folder / PLACES, sentences, "<i8", _take(folder, "places", np.int64))
    else:
        (folder / COPY).unlink()
        (folder / PIECES).unlink()
        (folder / "places").unlink()
    kind = choose(corpus.document, begun.counts[FILE], begun.counts[BLOCK])
    bit = KINDS.get(kind, BLOCK)
    documents = begun.counts[bit]
    _write_array(folder / "documents.npy", documents + 1, "<i8", _documents(folder, bit))
    return Counted(
        [words[row] for row in order],
        counts[order],
        sentences,
        tokens,
        files,
        kind,
        documents,
    )


def _documents(folder: Path, bit: int) -> Iterator[NDArray[np.int64]]:
    """Yield where each document begins in ids, and behind them where the last one ends."""
    offsets = load(folder / "offsets.npy")
    for first in range(0, len(offsets) - 1, CHUNK):
        begins = np.fromfile(folder / "begins", np.uint8, CHUNK, offset=first)
        yield offsets[first : first + len(begins)][begins & bit > 0]
    yield offsets[-1:]
    (folder / "begins").unlink()


def renumber(folder: Path, order: NDArray[np.int64], tokens: int, sentences: int) -> None:
    """Turn provisional ids into ranks by frequency, a chunk at a time."""
    rank = np.argsort(order).astype(np.int32)
    _write_array(folder / "ids.npy", tokens, "<i4", (rank[c] for c in _take(folder, "ids")))
    _write_array(folder / "lines.npy", sentences, "<i4", _take(folder, "lines"))
    _write_array(folder / "offsets.npy", sentences + 1, "<i8", _ends(_take(folder, "lengths")))


def renumber_for(folder: Path, rows: Sequence[int | None], vocabulary: int) -> NDArray[np.int64]:
    """Give the words of an index the rows of another vocabulary; return how often each occurs."""
    table = np.array([vocabulary if row is None else row for row in rows], np.int32)
    ids = np.lib.format.open_memmap(folder / "ids.npy", mode="r+")
    counts = np.zeros(vocabulary + 1, np.int64)
    for first in range(0, len(ids), CHUNK):
        some = table[ids[first : first + CHUNK]]
        ids[first : first + CHUNK] = some
        counts += np.bincount(some, minlength=vocabulary + 1)
    ids.flush()
    return counts[:-1]


def put_first(folder: Path, counted: Counted, words: Collection[str]) -> tuple[Counted, int]:
    """Let these words have the first rows, the most frequent first; tell how many are there."""
    order = sorted(range(len(counted.types)), key=lambda row: counted.types[row] not in words)
    rank = np.argsort(order)
    renumber_for(folder, rank.tolist(), len(order))
    types = [counted.types[row] for row in order]
    kept = sum(word in words for word in types)
    return replace(counted, types=types, counts=counted.counts[order]), kept


def _take(folder: Path, name: str, kind: type = np.int32) -> Iterator[NDArray[Any]]:
    """Yield the numbers in a file, a chunk at a time, and delete it."""
    with (folder / name).open("rb") as file:
        while data := file.read(8 * CHUNK):
            yield np.frombuffer(data, kind)
    (folder / name).unlink()


def _ends(lengths: Iterable[Ids]) -> Iterator[NDArray[np.int64]]:
    """Yield 0 and then where each stretch ends."""
    place = np.zeros(1, np.int64)
    yield place
    for chunk in lengths:
        ends = place[-1] + np.cumsum(chunk, dtype=np.int64)
        yield ends
        place = ends[-1:]


def _write_array(path: Path, length: int, kind: str, chunks: Iterable[NDArray[Any]]) -> None:
    """Write one .npy file piece by piece."""
    with path.open("wb") as file:
        write_header(file, (length,), kind)
        for chunk in chunks:
            file.write(chunk.tobytes())


Listed = Callable[[int, Ids], NDArray[np.bool_]]  # which words of a chunk, and where it begins


def write_occurrences(
    folder: Path, counts: NDArray[np.int64], listed: Listed | None = None
) -> None:
    """Write where each word of the vocabulary occurs: a counting sort, a chunk at a time.

    counts: (V,) of all its occurrences, or of those that are listed.
    """
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    free = np.concatenate([[0], np.cumsum(counts)])  # (V+1,) where each word's list begins
    np.save(folder / "starts.npy", free)
    dtype = np.int32 if len(ids) < 2**31 else np.int64
    places = np.lib.format.open_memmap(
        folder / "positions.npy", mode="w+", dtype=dtype, shape=(int(free[-1]),)
    )
    if hasattr(os, "posix_fallocate"):  # on a full disk a mapped write is a crash, not an error
        with (folder / "positions.npy").open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    for first in range(0, len(ids), CHUNK):
        chunk = np.array(ids[first : first + CHUNK])
        known = chunk < len(counts)
        within = np.flatnonzero(known if listed is None else known & listed(first, chunk))
        order = within[np.argsort(chunk[within], kind="stable")]
        words = chunk[order]
        number = np.bincount(words, minlength=len(counts))  # (V,) of each word in this chunk
        rank = np.arange(len(words)) - np.repeat(np.cumsum(number) - number, number)
        to = free[words] + rank
        for part in range(0, len(to), CHUNK // 8):  # each word has a page of its own to touch
            places[to[part : part + CHUNK // 8]] = first + order[part : part + CHUNK // 8]
            _forget(places)
        free[:-1] += number
        _forget(ids)


def _forget(array: Any) -> None:
    """Give mapped pages back to the system, so that memory does not grow with the corpus."""
    if hasattr(mmap, "MADV_DONTNEED"):
        array._mmap.madvise(mmap.MADV_DONTNEED)


def write_training_text(folder: Path, words: Sequence[str], target: Path) -> int:
    """Write the words that have a row, one sentence a line, for gensim; return how many words."""
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    offsets = np.load(folder / "offsets.npy", mmap_mode="r")
    table = np.array([*(word + " " for word in words), "\n"], dtype=object)
    written = first = 0
    with target.open("w", encoding="utf-8", newline="\n") as file:
        while first < len(offsets) - 1:
            end = int(np.searchsorted(offsets, offsets[first] + CHUNK // 4, side="right")) - 1
            bounds = np.array(offsets[first : max(end, first + 1) + 1])
            chunk = np.array(ids[bounds[0] : bounds[-1]])
            chunk[chunk >= len(words)] = -1
            written += int(np.count_nonzero(chunk >= 0))
            chunk = np.insert(chunk, bounds[1:] - bounds[0], len(words))  # a line break behind each
            file.write("".join(table[chunk[chunk >= 0]]))
            first += len(bounds) - 1
            _forget(ids)
            _forget(offsets)
    return written


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
        copy = Copy(self.folder)
        return Original(copy, places, self.offsets, self.documents, self.tokenizer())

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
        return len(np.unique(self.document_of(positions)))

    def sentence(self, number: int) -> Ids:
        """Return the ids of one sentence."""
        return np.asarray(self.ids[self.offsets[number] : self.offsets[number + 1]])

    def count_all(self) -> NDArray[np.int64]:
        """Count every word, rare ones behind the vocabulary."""
        counts = np.zeros(len(self.vocab), np.int64)
        for first in range(0, len(self.ids), CHUNK):
            some = np.bincount(self.ids[first : first + CHUNK], minlength=len(counts))
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
