"""From an index of words to one of smaller units; the corpus is not read again."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ctxembed.storage.arrays import ArrayWriter
from ctxembed.text.build_index import Counted, move_documents, sentence_chunks
from ctxembed.text.index import CHUNK
from ctxembed.text.numbering import split_long
from ctxembed.text.original import PLACES

LONGEST = 10_000  # units in a sentence; gensim cuts what is beyond


def divide(folder: Path, counted: Counted, units: Iterable[Sequence[str]]) -> Counted:
    """Turn an index of words into one of their units, given word by word."""
    numbers: dict[str, int] = {}
    made: list[int] = []  # the units of all words, one word behind the other
    sizes = np.zeros(len(counted.types), np.int64)
    for word, parts in enumerate(units):
        made += [numbers.setdefault(unit, len(numbers)) for unit in parts]
        sizes[word] = len(parts)
    rows = np.array(made, np.int32)
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
    moved = np.concatenate(before)
    split = split_long(moved, LONGEST)
    whole = np.searchsorted(moved, split[:-1], side="right") - 1  # the sentence each is part of
    move_documents(folder, moved)
    np.save(folder / "offsets.npy", split)
    for name in ("lines.npy", PLACES):
        if (folder / name).exists():
            np.save(folder / name, np.load(folder / name)[whole])
    last = moved[np.cumsum([file["sentences"] for file in counted.files])]
    number = np.diff(np.searchsorted(split, last), prepend=0).tolist()  # sentences of each file
    names = list(numbers)
    return replace(
        counted,
        types=[names[row] for row in order],
        counts=counts[order],
        sentences=len(split) - 1,
        tokens=int(counts.sum()),
        files=[{**file, "sentences": n} for file, n in zip(counted.files, number, strict=True)],
    )
