"""Weights of a corpus: how often each of its sources is read in an epoch of training."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import UsageError
from ctxembed.text.index import CHUNK, Index
from ctxembed.text.original import Ints

MIN_WEIGHT, MAX_WEIGHT = 0.001, 100
GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples fill 0 to 1 most evenly, also those of one part


def split_weight(name: str) -> tuple[str, float]:
    """Return a source without its weight, and the weight; a file of this very name has none.

    >>> split_weight("novels.xz*0.5"), split_weight("talk.txt")
    (('novels.xz', 0.5), ('talk.txt', 1.0))
    """
    source, star, number = name.rpartition("*")
    try:
        weight = float(number) if star and not os.path.exists(name) else None
    except ValueError:
        weight = None
    if weight is None:
        return name, 1.0
    if not MIN_WEIGHT <= weight <= MAX_WEIGHT:  # nan is refused too
        raise UsageError(f"{name}: the weight must be from {MIN_WEIGHT} to {MAX_WEIGHT}")
    return source, weight


@dataclass(frozen=True)
class Reading:
    """Consecutive sentences that are read, all or some of them, once in each epoch."""

    first: int  # sentence
    end: int
    weight: float
    number: int  # of the readings of these sentences in an epoch, from 0
    before: float  # sentences of an epoch that are read earlier

    @property
    def share(self) -> float:
        """The share of the sentences that is read."""
        return min(1.0, self.weight - self.number)

    @property
    def size(self) -> float:
        """The number of sentences that is read, about."""
        return self.share * (self.end - self.first)

    def draw(self, epoch: int, seed: int) -> NDArray[np.bool_]:
        """Return which sentences are read in this epoch, (end - first,).

        Over the epochs each sentence is read equally often, or once more.

        >>> half = Reading(0, 6, weight=0.5, number=0, before=0.0)
        >>> (half.draw(0, seed=1) ^ half.draw(1, seed=1)).tolist()
        [True, True, True, True, True, True]
        """
        phase = (np.arange(self.first, self.end) * GOLDEN + seed * math.e) % 1
        done, after = (np.floor(self.weight * n + phase) for n in (epoch, epoch + 1))
        drawn: NDArray[np.bool_] = after - done > self.number
        return drawn


def plan_readings(index: Index, size: int) -> list[Reading]:
    """Return the readings of an epoch, of at most `size` sentences each."""
    readings: list[Reading] = []
    before = 0.0
    for some in find_ranges(index):
        for number in range(math.ceil(some.weight)):
            for first in range(some.first, some.end, size):
                end = min(first + size, some.end)
                readings.append(Reading(first, end, some.weight, number, before))
                before += readings[-1].size
    return readings


def count_as_read(index: Index, counts: Ints) -> Ints:
    """Return (V,) how often each word is read in an epoch; counts: how often it occurs."""
    read = counts.astype(np.float64)
    for source in find_ranges(index):
        start = index.offsets[source.first]
        for first in range(start, start + source.tokens if source.weight != 1 else start, CHUNK):
            ids = index.ids[first : min(first + CHUNK, start + source.tokens)]
            read += (source.weight - 1) * np.bincount(ids, minlength=len(counts))[: len(counts)]
    return np.rint(read).astype(np.int64)


def add_weights(
    index: Index, weights: Sequence[float], files: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the files of model.json with their weights and their numbers of words."""
    ends = index.offsets[np.cumsum([file["sentences"] for file in files])]
    tokens = np.diff(ends, prepend=0).tolist()
    return [
        {**file, "tokens": number, "weight": weight}
        for file, number, weight in zip(files, tokens, weights, strict=True)
    ]


@dataclass(frozen=True)
class Range:
    """The sentences of neighbouring files that have the same weight."""

    weight: float
    first: int  # sentence
    end: int
    tokens: int


def find_ranges(index: Index) -> list[Range]:
    """Return the ranges of sentences with the same weight; without weights, one range."""
    offsets, files = index.offsets, index.files
    if not any("weight" in file for file in files):
        return [Range(1.0, 0, len(offsets) - 1, int(offsets[-1]))]
    ranges: list[Range] = []
    first = 0
    for weight, some in groupby(files, lambda file: float(file["weight"])):
        end = first + sum(file["sentences"] for file in some)
        ranges.append(Range(weight, first, end, int(offsets[end] - offsets[first])))
        first = end
    return ranges
