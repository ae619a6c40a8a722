"""From a corpus to its index: read once, written a chunk at a time."""

import mmap
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.progress import Progress
from ctxembed.text.borders import BLOCK, FILE, KINDS, Beginnings, check_kind, choose
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import CHUNK, Ids
from ctxembed.text.npy import load, write_header
from ctxembed.text.numbering import number_all
from ctxembed.text.original import COPY, PIECES, PLACES, CopyWriter
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
