"""Build the index of a corpus: one pass over the text, written in chunks."""

import mmap
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.progress import Progress
from ctxembed.storage.arrays import ArrayWriter
from ctxembed.text.corpus import Corpus
from ctxembed.text.document_table import make_columns
from ctxembed.text.index import CHUNK, Ids, choose_document_kind
from ctxembed.text.layers import drop_layers, finish_layers, layer_writer
from ctxembed.text.metadata import write_metadata
from ctxembed.text.numbering import BLOCK, DOCUMENT_KINDS, number_corpus, split_long
from ctxembed.text.original import BYTE_OFFSETS, COPY, PIECES, Ints
from ctxembed.text.tables import Row
from ctxembed.text.tokenizer import Tokenizer

MAX_UNITS = 10_000  # subwords or characters in a sentence; gensim cuts longer ones


@dataclass(frozen=True)
class Counted:
    """Word counts of a corpus."""

    types: list[str]  # distinct words, the most frequent first, ties in order of appearance
    counts: Ints  # (types,)
    sentences: int
    tokens: int
    files: list[dict[str, Any]]  # name, sha256, sentences
    document: str  # what a document is: file, block, line, or the pattern of its first line
    documents: int

    def kept(self, min_count: int) -> int:
        """Return the number of words with at least min_count occurrences; they come first."""
        return int(np.searchsorted(-self.counts, -min_count, side="right"))


def build(
    corpus: Corpus, tokenizer: Tokenizer, folder: Path, workers: int, progress: Progress,
    keep: bool = False,
) -> Counted:  # fmt: skip
    """Read the corpus once; write ids, offsets and lines, with `keep` also a copy of the text."""
    numbers = defaultdict[str, int](count().__next__)  # word -> provisional id, by appearance
    counts = np.zeros(1024, np.int64)
    by_file = [0] * len(corpus.sources)
    blocks = 0
    ends = [(0, 0)]  # of each piece of the copy, in the text and compressed
    with (
        sentence_writer(folder) as add,
        ArrayWriter(folder / "begins.npy", "|u1") as begins_file,
        ArrayWriter(folder / COPY, "|u1") as copy,
        ArrayWriter(folder / BYTE_OFFSETS, "<i8") as byte_offsets,
        ArrayWriter(folder / "rows.npy", "<i8") as row_numbers,
        layer_writer(folder) as add_layers,
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
            row_numbers.write(np.full(len(begins), -1) if part.rows is None else part.rows)
            add_layers(part.layers, len(part.ids))
            blocks += int(np.count_nonzero(begins & BLOCK))
            byte_offsets.write(part.byte_offsets + ends[-1][0])
            for length, packed in part.packed:
                copy.write(np.frombuffer(packed, np.uint8))
                ends.append((ends[-1][0] + length, copy.length))
            by_file[part.file] += len(part.lengths)
            stage.advance(size)
    np.save(folder / PIECES, np.array(ends, np.int64))
    for name in () if keep else (COPY, PIECES, BYTE_OFFSETS):
        (folder / name).unlink()
    if not numbers:
        raise CorpusError(f"{', '.join(corpus.names)}: contains no words")
    counts = counts[: len(numbers)]
    order = np.argsort(-counts, kind="stable")
    renumber(folder, np.argsort(order).tolist(), len(order))
    words = list(numbers)
    pairs = zip(corpus.sources, by_file, strict=True)
    files = [{"name": s.name, "sha256": s.sha256, "sentences": number} for s, number in pairs]
    kind = "record" if corpus.has_records else corpus.document
    if kind == "auto" and corpus.table is not None:
        kind = "file"  # that is what the table describes
    kind = choose_document_kind(kind, sum(number > 0 for number in by_file), blocks)
    documents = _write_documents(folder, DOCUMENT_KINDS.get(kind, BLOCK))
    _write_metadata(folder, corpus, by_file)
    finish_layers(folder, corpus.layers)
    for name in ("begins.npy", "rows.npy"):
        (folder / name).unlink()
    types, tokens = [words[row] for row in order], int(counts.sum())
    return Counted(types, counts[order], sum(by_file), tokens, files, kind, documents)


@contextmanager
def sentence_writer(folder: Path) -> Iterator[Callable[[Ids, Ids, Ids], None]]:
    """Yield a function that writes sentences to an index: ids, lengths, first lines."""
    with (
        ArrayWriter(folder / "ids.npy", "<i4") as ids,
        ArrayWriter(folder / "offsets.npy", "<i8") as offsets,
        ArrayWriter(folder / "lines.npy", "<i4") as lines,
    ):
        offsets.write([0])

        def add(words: Ids, lengths: Ids, first_lines: Ids) -> None:
            offsets.write(ids.length + np.cumsum(lengths))
            ids.write(words)
            lines.write(first_lines)

        yield add


def _write_documents(folder: Path, bit: int) -> int:
    """Write where documents begin in ids, by a bit of begins.npy; return their number."""
    offsets, begins = (np.load(folder / f"{name}.npy", "r") for name in ("offsets", "begins"))
    with ArrayWriter(folder / "documents.npy", "<i8") as documents:
        for first in range(0, len(begins), CHUNK):
            some = begins[first : first + CHUNK]
            documents.write(offsets[first : first + len(some)][some & bit > 0])
        documents.write(offsets[-1:])
    return documents.length - 1


def _write_metadata(folder: Path, corpus: Corpus, by_file: Sequence[int]) -> None:
    """Write what is known of each document: its own record, and the table's row about it."""
    if corpus.table is None and not corpus.has_records:
        return
    table = {} if corpus.table is None else corpus.table.rows
    offsets, documents = (np.load(folder / f"{name}.npy") for name in ("offsets", "documents"))
    sentences = np.searchsorted(offsets, documents[:-1])  # (D,) the first of each
    owners = np.searchsorted(np.cumsum(by_file), sentences, side="right")
    records = np.load(folder / "rows.npy", "r")[sentences]
    ids, rows = list[str](), list[Row]()
    for file, record in zip(owners.tolist(), records.tolist(), strict=True):
        key = corpus.keys.get(file)
        about, cells = key or corpus.sources[file].name, table.get(key or "", {})
        if record >= 0:
            about, own = corpus.records[record]
            cells = {**cells, **own, **table.get(about, {})}
        ids.append(about)
        rows.append(cells)
    if table and not any(about in table for about in ids):
        first = f"{next(iter(table))!r} is not {ids[0]}"
        problem = f"no row is about a document of the corpus ({first})"
        name = corpus.table.name if corpus.table else ""
        raise CorpusError(f"{name}: {problem}; its first column must name them")
    write_metadata(folder, make_columns(ids, rows))


def move_documents(folder: Path, offsets: Ints) -> None:
    """Move the document offsets to new sentence offsets (S+1,)."""
    before, documents = np.load(folder / "offsets.npy"), np.load(folder / "documents.npy")
    np.save(folder / "documents.npy", offsets[np.searchsorted(before, documents)])


def renumber(folder: Path, rows: Sequence[int | None], vocabulary: int) -> Ints:
    """Replace the ids of an index by rows of another vocabulary; return (V,) counts."""
    table = np.array([vocabulary if row is None else row for row in rows], np.int32)
    ids = np.lib.format.open_memmap(folder / "ids.npy", mode="r+")
    counts = np.zeros(vocabulary + 1, np.int64)
    for first in range(0, len(ids), CHUNK):
        some = table[ids[first : first + CHUNK]]
        ids[first : first + CHUNK] = some
        counts += np.bincount(some, minlength=vocabulary + 1)
        release_pages(ids)
    ids.flush()
    return counts[:-1]


def put_first(folder: Path, counted: Counted, words: Collection[str]) -> tuple[Counted, int]:
    """Move these words to the first rows, most frequent first; return how many occur."""
    order = sorted(range(len(counted.types)), key=lambda row: counted.types[row] not in words)
    renumber(folder, np.argsort(order).tolist(), len(order))
    types = [counted.types[row] for row in order]
    kept = sum(word in words for word in types)
    return replace(counted, types=types, counts=counted.counts[order]), kept


def add_absent(
    folder: Path, counted: Counted, kept: int, words: Iterable[str]
) -> tuple[Counted, int]:
    """Add words that do not occur after the kept ones; return how many are kept then."""
    there = set(counted.types)
    absent = [word for word in words if word not in there]
    rows = np.arange(len(counted.types))
    rows[kept:] += len(absent)
    renumber(folder, rows.tolist(), len(rows) + len(absent))
    types = [*counted.types[:kept], *absent, *counted.types[kept:]]
    counts = np.insert(counted.counts, kept, np.zeros(len(absent), np.int64))
    return replace(counted, types=types, counts=counts), kept + len(absent)


def split_into_units(folder: Path, counted: Counted, units: Iterable[Sequence[str]]) -> Counted:
    """Turn an index of words into one of their units (subwords, characters), word by word."""
    numbers: dict[str, int] = {}
    units_of_words: list[int] = []  # the units of all words, one word after the other
    sizes = np.zeros(len(counted.types), np.int64)
    for word, parts in enumerate(units):
        units_of_words += [numbers.setdefault(unit, len(numbers)) for unit in parts]
        sizes[word] = len(parts)
    rows = np.array(units_of_words, np.int32)
    counts = np.bincount(rows, np.repeat(counted.counts, sizes), len(numbers)).astype(np.int64)
    order = np.argsort(-counts, kind="stable")
    rows, ends = np.argsort(order).astype(np.int32)[rows], np.cumsum(sizes)
    before = [np.zeros(1, np.int64)]  # units before each sentence
    with ArrayWriter(folder / "units.npy", "<i4") as target:
        for ids, bounds in sentence_chunks(folder, CHUNK):
            each = sizes[ids]
            last = np.cumsum(each)
            before.append(target.length + last[bounds[1:] - 1])
            target.write(rows[np.repeat(ends[ids] - last, each) + np.arange(each.sum())])
    (folder / "units.npy").replace(folder / "ids.npy")
    drop_layers(folder)  # they are of words
    moved = np.concatenate(before)
    split = split_long(moved, MAX_UNITS)
    whole = np.searchsorted(moved, split[:-1], side="right") - 1  # the sentence each is part of
    move_documents(folder, moved)
    np.save(folder / "offsets.npy", split)
    for name in ("lines.npy", BYTE_OFFSETS):
        if (folder / name).exists():
            np.save(folder / name, np.load(folder / name)[whole])
    last = moved[np.cumsum([file["sentences"] for file in counted.files])]
    number = np.diff(np.searchsorted(split, last), prepend=0).tolist()  # sentences of each file
    names = list(numbers)
    files = [{**file, "sentences": n} for file, n in zip(counted.files, number, strict=True)]
    return replace(
        counted, types=[names[row] for row in order], counts=counts[order],
        sentences=len(split) - 1, tokens=int(counts.sum()), files=files,
    )  # fmt: skip


def write_occurrences(folder: Path, counts: Ints, listed: NDArray[np.bool_] | None = None) -> None:
    """Write the positions of every word of the vocabulary: a counting sort in chunks.

    listed: (tokens,) which positions to write; None is all. counts: (V,) of the listed ones.
    """
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    free = np.concatenate([[0], np.cumsum(counts)])  # (V+1,) where each word's list begins
    np.save(folder / "starts.npy", free)
    dtype, shape = np.int32 if len(ids) < 2**31 else np.int64, (int(free[-1]),)
    path = folder / "positions.npy"
    positions = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):  # on a full disk a mapped write would crash
        with path.open("r+b") as file:
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
        for part in range(0, len(to), CHUNK // 8):  # each word touches its own page
            positions[to[part : part + CHUNK // 8]] = first + order[part : part + CHUNK // 8]
            release_pages(positions)
        free[:-1] += number
        release_pages(ids)


def release_pages(array: Any) -> None:
    """Release mapped pages, so that memory does not grow with the corpus."""
    if hasattr(mmap, "MADV_DONTNEED"):
        array._mmap.madvise(mmap.MADV_DONTNEED)


def sentence_chunks(folder: Path, tokens: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the ids of whole sentences, about `tokens` at a time, and their offsets (S+1,)."""
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    offsets = np.load(folder / "offsets.npy", mmap_mode="r")
    first = 0
    while first < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[first] + tokens, side="right")) - 1
        bounds = np.array(offsets[first : max(end, first + 1) + 1])
        yield ids[bounds[0] : bounds[-1]].astype(np.int64), bounds - bounds[0]
        first += len(bounds) - 1
        release_pages(ids)
        release_pages(offsets)
