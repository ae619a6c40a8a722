"""An index of drawn sentences: like that of a whole corpus, for whoever asks questions of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.build_index import sentences_written, write_occurrences
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
    limits = np.append(plan.limits, 0.0)  # a word without a vector is not listed
    rare: dict[str, int] = {}
    by_file = [0] * len(names)
    counts, trained = np.zeros((2, known + 1), np.int64)
    listed, begins = [np.zeros(0, np.bool_)], [np.zeros(0, np.bool_)]
    last = (-1, -1)  # the file and the document of the sentence before
    with sentences_written(folder) as index, sentences_written(training) as even:
        for file, some in drawn:
            # a file's rare words are numbered by appearance among all
            table = [known + rare.setdefault(word, len(rare)) for word in some.rare]
            ids = np.append(np.arange(known), table).astype(np.int32)[some.ids]
            rows = np.minimum(ids, known)
            mine, words = _take(some, INDEXED)
            index(ids[words], some.lengths[mine], some.lines[mine])
            by_file[file] += len(mine)
            chances = draw(names[file], some.numbers[mine], plan.seed)
            below = np.repeat(chances, some.lengths[mine]) < limits[rows[words]]
            listed.append(below)
            counts += np.bincount(rows[words][below], minlength=known + 1)
            if len(mine):
                whole = np.zeros_like(some.lines)
                document = {"line": some.lines, "file": whole}.get(kind, some.blocks)[mine]
                begins.append(
                    document != np.append(last[1] if last[0] == file else -1, document[:-1])
                )
                last = file, int(document[-1])
            mine, words = _take(some, TRAINED)
            even(ids[words], some.lengths[mine], some.lines[mine])
            trained += np.bincount(rows[words], minlength=known + 1)
    write_lines(folder / "rare.txt", list(rare))
    offsets = np.load(folder / "offsets.npy")
    firsts = offsets[:-1][np.concatenate(begins)]
    np.save(folder / "documents.npy", np.append(firsts, offsets[-1:]))
    write_occurrences(folder, counts[:-1], np.concatenate(listed))
    return Sampled(by_file, int(offsets[-1]), len(firsts), trained[:-1])


def _take(some: Drawn, bit: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return which sentences were drawn for a purpose, and which words are theirs."""
    mine = some.drawn_for & bit > 0
    return np.flatnonzero(mine), np.repeat(mine, some.lengths)
