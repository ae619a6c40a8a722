"""Read the occurrences of words in the corpus: their sentences, clipped and padded."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms import REACH
from ctxembed.errors import ModelError
from ctxembed.model.bundled import bundled_name
from ctxembed.model.model import Model
from ctxembed.text.index import Ids, Index
from ctxembed.text.original import clip

CHUNK_SIZE = 1 << 13  # occurrences read from the index at once
WIDTH = 40  # characters shown on either side of an occurrence
WORDS_PER_BATCH = 1 << 13  # vectors of a batch stay in the processor's cache

Positions = NDArray[np.int64]  # of tokens in the corpus, from 0


@dataclass(frozen=True)
class Windows:
    """Sentences of about one length, each with one target, as rows of the vocabulary."""

    ids: Ids  # (B, T) 0 where the mask is False
    mask: NDArray[np.bool_]  # (B, T) False for padding
    targets: NDArray[np.intp]  # (B,) position of the target in its window
    rows: NDArray[np.intp]  # (B,) the number of each occurrence among all that are read
    own: Ids | None = None  # (B, size) the rows of a target of several words; -1 without a vector


def no_corpus(model: Model) -> str:
    """Return a message that a model has no corpus, and how to add one."""
    bundled = bundled_name(model.path)
    name = bundled or model.path
    other = ", or use -m everyday" if bundled else ""
    return f"{name} has no corpus; add one: ctxembed index CORPUS -m {name} -o mine{other}"


def corpus_of(model: Model) -> Index:
    """Return the corpus of a model; without one, that is an error."""
    if model.index is None:
        raise ModelError(no_corpus(model))
    return model.index


def sample_positions(positions: Positions, most: int, rng: "np.random.Generator") -> Positions:
    """Return at most `most` positions, drawn at random, in the order of the text.

    >>> sample_positions(np.arange(5), 9, np.random.default_rng(0))
    array([0, 1, 2, 3, 4])
    """
    if len(positions) <= most:
        return positions
    return np.sort(rng.choice(positions, most, replace=False))


def spread_positions(positions: Positions, number: int) -> Positions:
    """Return at most `number` positions, evenly spread over all: the same ones each time."""
    last = len(positions) - 1
    return positions[np.linspace(0, last, min(number, last + 1)).astype(np.intp)]


def read_windows(
    model: Model, positions: Positions, reach: int = REACH, size: int = 1
) -> Iterator[Windows]:
    """Yield the words around each position: `reach` on either side, within the sentence.

    Words without a vector are dropped and the others close up, as the layer expects. A target of
    several words (size) begins at its position, and counts as one word.
    """
    for first in range(0, len(positions), CHUNK_SIZE):
        some = positions[first : first + CHUNK_SIZE]
        own = None
        if size > 1:
            own = np.asarray(corpus_of(model).ids[some[:, None] + np.arange(size)])  # (n, size)
            own = np.where(own < len(model.vocabulary), own, -1)
        for batch in _batches(*_windows(model, some, reach, own), first):
            yield batch if own is None else replace(batch, own=own[batch.rows - first])


def _windows(
    model: Model, positions: Positions, reach: int, own: Ids | None
) -> tuple[Ids, NDArray[np.intp], NDArray[np.intp]]:
    """Return ids (n, 2R+1) closed up to the left, their lengths (n,) and the targets (n,)."""
    index = corpus_of(model)
    sentences = index.sentence_of(positions)
    begin, end = index.offsets[sentences], index.offsets[sentences + 1]  # (n,)
    steps = np.arange(-reach, reach + 1)
    if own is not None:
        steps[reach + 1 :] += own.shape[1] - 1  # past the target's other words
    at = positions[:, None] + steps  # (n, 2R+1)
    inside = (at >= begin[:, None]) & (at < end[:, None])
    around = index.ids[np.where(inside, at, positions[:, None])]
    if own is not None:
        around[:, reach] = own.max(axis=1)  # any word of it: its vector is the mean of them
    known = inside & (around < len(model.vocabulary))
    ids = np.zeros_like(around)
    column = np.cumsum(known, axis=1) - 1
    row = np.broadcast_to(np.arange(len(positions))[:, None], known.shape)
    ids[row[known], column[known]] = around[known]
    return ids, known.sum(axis=1), known[:, :reach].sum(axis=1)


def _batches(
    ids: Ids, lengths: NDArray[np.intp], targets: NDArray[np.intp], first: int
) -> Iterator[Windows]:
    """Yield windows in batches of about one length, so that there is little padding."""
    order = np.argsort(lengths, kind="stable")
    at = 0
    while at < len(order):
        # The longest of a batch is its last one; guess from the first, then trim.
        rows = order[at : at + max(1, WORDS_PER_BATCH // int(lengths[order[at]]))]
        rows = rows[: max(1, WORDS_PER_BATCH // int(lengths[rows[-1]]))]
        width = int(lengths[rows[-1]])
        mask = np.arange(width) < lengths[rows, None]  # (B, T)
        yield Windows(ids[rows, :width], mask, targets[rows], rows + first)
        at += len(rows)


def text_around(
    index: Index, position: int, width: int = WIDTH, size: int = 1
) -> tuple[str, str, str]:
    """Return the text before an occurrence, itself, and after it; as written, if it is kept."""
    if index.original is not None:
        return index.original.around(position, size, width)
    sentence = int(index.offsets.searchsorted(position, "right")) - 1
    begin, end = index.offsets[sentence : sentence + 2].tolist()
    first, last = max(begin, position - width), min(end, position + size + width)
    words = index.words(np.asarray(index.ids[first:last]))  # a word has at least one character
    at = position - first
    left = " ".join(words[:at]) + " " * (at > 0)
    right = " " * (position + size < end) + " ".join(words[at + size :])
    return clip(left, width), " ".join(words[at : at + size]), clip(right[::-1], width)[::-1]


def quote(index: Index, position: int, width: int = WIDTH, size: int = 1) -> str:
    """Return an occurrence in its context: … in the [bank] earns …"""
    left, hit, right = text_around(index, position, width, size)
    farther = text_around(index, position, width + 20, size)  # is there more than is shown?
    before, after = "… " * (len(farther[0]) > len(left)), " …" * (len(farther[2]) > len(right))
    return f"{before}{left.lstrip()}[{hit}]{right.rstrip()}{after}"
