"""An index of drawn sentences: like that of a whole corpus, for whoever asks questions of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.borders import KINDS, LINE
from ctxembed.text.build_index import renumber, write_occurrences
from ctxembed.text.index import CHUNK, Ids
from ctxembed.text.sampling import INDEXED, TRAINED, Drawn, Plan, draw
from ctxembed.text.word_list import write_lines


@dataclass(frozen=True)
class Sampled:
    """What was drawn."""

    by_file: list[int]  # sentences in the index, of each file
    tokens: int  # in the index
    documents: int
    trained: NDArray[np.int64]  # (V,) how often each word is in the sample for training


def write_sampled(
    drawn: Iterable[tuple[int, Drawn]],
    names: list[str],
    plan: Plan,
    kind: str,
    folder: Path,
    training: Path,
) -> Sampled:
    """Write the index of drawn sentences, and beside it the even sample that word2vec reads.

    drawn: files by number, in order, and some of their sentences. kind: what a document is.
    """
    known = len(plan.words)
    rare: dict[str, int] = {}
    by_file = [0] * len(names)
    trained = np.zeros(known + 1, np.int64)
    index, even = _Raw(folder), _Raw(training)
    chances, begins = [np.zeros(0)], [np.zeros(0, np.bool_)]
    last = (-1, -1)
    for file, some in drawn:
        # a file's rare words are numbered by appearance among all
        table = [known + rare.setdefault(word, len(rare)) for word in some.rare]
        ids = some.ids.copy()
        past = ids >= known
        ids[past] = np.array(table, np.int32)[ids[past] - known] if table else ids[past]
        for_index = some.drawn_for & INDEXED > 0
        index.add(ids, some.lengths, some.lines, for_index)
        by_file[file] += int(np.count_nonzero(for_index))
        numbers = some.numbers[for_index]
        chances.append(draw(names[file], numbers, plan.seed))
        new, last = _beginnings(file, some, for_index, KINDS.get(kind, 0) == LINE, kind, last)
        begins.append(new)
        for_training = some.drawn_for & TRAINED > 0
        trained += np.bincount(
            np.minimum(even.add(ids, some.lengths, some.lines, for_training), known),
            minlength=known + 1,
        )
    index.finish(known + len(rare))
    even.finish(known + len(rare))
    write_lines(folder / "rare.txt", list(rare))
    offsets = np.load(folder / "offsets.npy")
    firsts = offsets[:-1][np.concatenate(begins)]
    np.save(folder / "documents.npy", np.append(firsts, offsets[-1:]))
    _list_occurrences(folder, offsets, np.concatenate(chances), plan)
    return Sampled(by_file, int(offsets[-1]), len(firsts), trained[:-1])


class _Raw:
    """Writes ids, lengths and lines as they come, then as arrays."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tokens, self.sentences = folder, 0, 0
        self.files = {name: (folder / name).open("wb") for name in ("ids", "lengths", "lines")}

    def add(self, ids: Ids, lengths: Ids, lines: Ids, mine: NDArray[np.bool_]) -> Ids:
        """Write the sentences that are mine; return their words."""
        words = ids[np.repeat(mine, lengths)]
        for name, array in (("ids", words), ("lengths", lengths[mine]), ("lines", lines[mine])):
            self.files[name].write(array.astype(np.int32).tobytes())
        self.tokens += len(words)
        self.sentences += int(np.count_nonzero(mine))
        return words

    def finish(self, words: int) -> None:
        """Turn the raw files into arrays."""
        for file in self.files.values():
            file.close()
        renumber(self.folder, np.arange(words), self.tokens, self.sentences)


def _beginnings(
    file: int, some: Drawn, mine: NDArray[np.bool_], by_line: bool, kind: str, last: tuple[int, int]
) -> tuple[NDArray[np.bool_], tuple[int, int]]:
    """Tell which of the sentences begin a document, and the last one's file and document."""
    if not mine.any():
        return np.zeros(0, np.bool_), last
    whole = np.zeros(len(mine), np.int64)
    within = some.lines if by_line else whole if kind == "file" else some.blocks
    within = within[mine].astype(np.int64)
    before = np.append(last[1] if last[0] == file else -1, within[:-1])
    return within != before, (file, int(within[-1]))


def _list_occurrences(
    folder: Path, offsets: NDArray[np.int64], chances: NDArray[np.float64], plan: Plan
) -> None:
    """List the occurrences of each word that were drawn evenly."""
    limits = np.append(plan.limits, 0.0)
    ids = np.load(folder / "ids.npy", mmap_mode="r")

    def listed(first: int, chunk: Ids) -> NDArray[np.bool_]:
        sentence = np.searchsorted(offsets, np.arange(first, first + len(chunk)), side="right") - 1
        return np.asarray(chances[sentence] < limits[np.minimum(chunk, len(plan.words))])

    counts = np.zeros(len(plan.words) + 1, np.int64)
    for first in range(0, len(ids), CHUNK):
        chunk = np.array(ids[first : first + CHUNK])
        there = np.minimum(chunk[listed(first, chunk)], len(plan.words))
        counts += np.bincount(there, minlength=len(counts))
    write_occurrences(folder, counts[:-1], listed)
