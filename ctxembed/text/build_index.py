"""From a corpus to its index: read once, written a chunk at a time."""

import mmap
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.progress import Progress
from ctxembed.storage.arrays import ArrayWriter, load
from ctxembed.text.corpus import Corpus
from ctxembed.text.documents import BLOCK, KINDS, choose
from ctxembed.text.index import CHUNK, Ids
from ctxembed.text.numbering import number_corpus
from ctxembed.text.original import COPY, PIECES, PLACES
from ctxembed.text.tokenizer import Tokenizer


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
    corpus: Corpus,
    tokenizer: Tokenizer,
    folder: Path,
    workers: int,
    progress: Progress,
    keep: bool = False,
) -> Counted:
    """Read the corpus once; write ids, sentence offsets and lines into the folder.

    keep: write a packed copy of the text too.
    """
    numbers = defaultdict[str, int](count().__next__)  # word -> provisional id, by appearance
    counts = np.zeros(1024, np.int64)
    by_file = [0] * len(corpus.sources)
    blocks = 0
    ends = [(0, 0)]  # of each piece of the copy, in the text and when it is packed
    with (
        sentences_written(folder) as add,
        ArrayWriter(folder / "begins.npy", "|u1") as begins_file,
        ArrayWriter(folder / COPY, "|u1") as copy,
        ArrayWriter(folder / PLACES, "<i8") as places,
        progress.stage("reading", corpus.size, "B") as stage,
    ):
        for part, begins, size in number_corpus(corpus, tokenizer, workers, keep):
            types = part.types
            rows = np.fromiter(map(numbers.__getitem__, types), np.int32, len(types))
            if len(numbers) > len(counts):
                counts = np.concatenate([counts, np.zeros(len(numbers), np.int64)])
            np.add.at(counts, rows, np.bincount(part.ids, minlength=len(rows)))
            add(rows[part.ids], part.lengths, part.lines)
            begins_file.write(begins)
            blocks += int(np.count_nonzero(begins & BLOCK))
            places.write(part.places + ends[-1][0])
            for length, packed in part.packed:
                copy.write(np.frombuffer(packed, np.uint8))
                ends.append((ends[-1][0] + length, copy.length))
            by_file[part.file] += len(part.lengths)
            stage.advance(size)
    np.save(folder / PIECES, np.array(ends, np.int64))
    for name in () if keep else (COPY, PIECES, PLACES):
        (folder / name).unlink()
    if not numbers:
        raise CorpusError(f"{', '.join(corpus.names)}: no words in it")
    counts = counts[: len(numbers)]
    order = np.argsort(-counts, kind="stable")
    renumber_for(folder, np.argsort(order).tolist(), len(order))
    words = list(numbers)
    files = [
        {"name": source.name, "sha256": source.sha256, "sentences": number}
        for source, number in zip(corpus.sources, by_file, strict=True)
    ]
    kind = choose(corpus.document, sum(number > 0 for number in by_file), blocks)
    documents = _write_documents(folder, KINDS.get(kind, BLOCK))
    (folder / "begins.npy").unlink()
    types, tokens = [words[row] for row in order], int(counts.sum())
    return Counted(types, counts[order], sum(by_file), tokens, files, kind, documents)


@contextmanager
def sentences_written(folder: Path) -> Iterator[Callable[[Ids, Ids, Ids], None]]:
    """Write sentences as they come: their words, how long each is, and on which line it begins."""
    with (
        ArrayWriter(folder / "ids.npy", "<i4") as ids,
        ArrayWriter(folder / "offsets.npy", "<i8") as offsets,
        ArrayWriter(folder / "lines.npy", "<i4") as lines,
    ):
        offsets.write([0])

        def add(words: Ids, lengths: Ids, at: Ids) -> None:
            offsets.write(ids.length + np.cumsum(lengths))
            ids.write(words)
            lines.write(at)

        yield add


def _write_documents(folder: Path, bit: int) -> int:
    """Write where documents begin in ids, and where the last one ends; return how many they are."""
    offsets, begins = load(folder / "offsets.npy"), load(folder / "begins.npy")
    with ArrayWriter(folder / "documents.npy", "<i8") as documents:
        for first in range(0, len(begins), CHUNK):
            some = begins[first : first + CHUNK]
            documents.write(offsets[first : first + len(some)][some & bit > 0])
        documents.write(offsets[-1:])
    return documents.length - 1


def move_documents(folder: Path, offsets: NDArray[np.int64]) -> None:
    """Let documents begin where their sentences are going to begin, by new offsets (S+1,)."""
    before, documents = load(folder / "offsets.npy"), load(folder / "documents.npy")
    np.save(folder / "documents.npy", offsets[np.searchsorted(before, documents)])


def renumber_for(folder: Path, rows: Sequence[int | None], vocabulary: int) -> NDArray[np.int64]:
    """Give the words of an index the rows of another vocabulary; return how often each occurs."""
    table = np.array([vocabulary if row is None else row for row in rows], np.int32)
    ids = np.lib.format.open_memmap(folder / "ids.npy", mode="r+")
    counts = np.zeros(vocabulary + 1, np.int64)
    for first in range(0, len(ids), CHUNK):
        some = table[ids[first : first + CHUNK]]
        ids[first : first + CHUNK] = some
        counts += np.bincount(some, minlength=vocabulary + 1)
        forget(ids)
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


def write_occurrences(
    folder: Path, counts: NDArray[np.int64], listed: NDArray[np.bool_] | None = None
) -> None:
    """Write where each word of the vocabulary occurs: a counting sort, a chunk at a time.

    listed: (tokens,) which of them; without, all. counts: (V,) of those that are listed.
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
        within = np.flatnonzero(known if listed is None else known & listed[first : first + CHUNK])
        order = within[np.argsort(chunk[within], kind="stable")]
        words = chunk[order]
        number = np.bincount(words, minlength=len(counts))  # (V,) of each word in this chunk
        rank = np.arange(len(words)) - np.repeat(np.cumsum(number) - number, number)
        to = free[words] + rank
        for part in range(0, len(to), CHUNK // 8):  # each word has a page of its own to touch
            places[to[part : part + CHUNK // 8]] = first + order[part : part + CHUNK // 8]
            forget(places)
        free[:-1] += number
        forget(ids)


def forget(array: Any) -> None:
    """Give mapped pages back to the system, so that memory does not grow with the corpus."""
    if hasattr(mmap, "MADV_DONTNEED"):
        array._mmap.madvise(mmap.MADV_DONTNEED)


def sentence_chunks(
    folder: Path, tokens: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the ids of whole sentences, about so many, and where each begins and the last ends."""
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    offsets = np.load(folder / "offsets.npy", mmap_mode="r")
    first = 0
    while first < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[first] + tokens, side="right")) - 1
        bounds = np.array(offsets[first : max(end, first + 1) + 1])
        yield ids[bounds[0] : bounds[-1]].astype(np.int64), bounds - bounds[0]
        first += len(bounds) - 1
        forget(ids)
        forget(offsets)
