"""Where words occur in the corpus: their sentences, clipped and padded, ready for a layer."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms.distance import REACH
from ctxembed.errors import ModelError
from ctxembed.model.bundled import bundled_name
from ctxembed.model.model import Model
from ctxembed.text.index import Ids, Index
from ctxembed.text.original import clip

AT_ONCE = 1 << 13  # occurrences read from the index at once
WIDTH = 40  # characters shown to either side of an occurrence
WORDS = 1 << 13  # words in a batch: its vectors stay near the processor

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """Sentences of about one length, each with one target, as rows of the vocabulary."""

    ids: Ids  # (B, T) 0 where the mask is False
    mask: NDArray[np.bool_]  # (B, T) False for padding
    targets: NDArray[np.intp]  # (B,) where the target stands
    rows: NDArray[np.intp]  # (B,) which of the occurrences asked for each one is
    own: Ids | None = None  # (B, size) the rows of a target of several words; -1 without a vector


def no_corpus(model: Model) -> str:
    """Say that a model is vectors only, and how to see where words occur."""
    bundled = bundled_name(model.path)
    name = bundled or model.path
    other = "; or ask the bundled -m everyday" if bundled else ""
    return (
        f"{name} has no corpus to show where words occur; bring your own:"
        f" ctxembed index CORPUS -m {name} -o mine{other}"
    )


def corpus_of(model: Model) -> Index:
    """Return the corpus of a model that must have one."""
    if model.index is None:
        raise ModelError(no_corpus(model))
    return model.index


def sample(places: Places, most: int, rng: "np.random.Generator") -> Places:
    """Draw at most so many places, in the order of the text.

    >>> sample(np.arange(5), 9, np.random.default_rng(0))
    array([0, 1, 2, 3, 4])
    """
    if len(places) <= most:
        return places
    return np.sort(rng.choice(places, most, replace=False))


def read(model: Model, places: Places, reach: int = REACH, size: int = 1) -> Iterator[Windows]:
    """Read the words around each place, `reach` to either side and no farther than the sentence.

    Words without a vector are dropped, so that the others close up, as the layer expects. A target
    of several words (size) begins at its place, and stands as one word.
    """
    for first in range(0, len(places), AT_ONCE):
        some = places[first : first + AT_ONCE]
        own = None
        if size > 1:
            own = np.asarray(corpus_of(model).ids[some[:, None] + np.arange(size)])  # (n, size)
            own = np.where(own < len(model.vocabulary), own, -1)
        for batch in _batches(*_windows(model, some, reach, own), first):
            yield batch if own is None else replace(batch, own=own[batch.rows - first])


def _windows(
    model: Model, places: Places, reach: int, own: Ids | None
) -> tuple[Ids, NDArray[np.intp], NDArray[np.intp]]:
    """Return ids (n, 2R+1) closed up to the left, their lengths (n,) and the targets (n,)."""
    index = corpus_of(model)
    sentences = index.sentence_of(places)
    begin, end = index.offsets[sentences], index.offsets[sentences + 1]  # (n,)
    steps = np.arange(-reach, reach + 1)
    if own is not None:
        steps[reach + 1 :] += own.shape[1] - 1  # past the target's other words
    at = places[:, None] + steps  # (n, 2R+1)
    inside = (at >= begin[:, None]) & (at < end[:, None])
    around = index.ids[np.where(inside, at, places[:, None])]
    if own is not None:
        around[:, reach] = own.max(axis=1)  # any word of it: its vector is the mean of them
    known = inside & (around < len(model.vocabulary))
    ids = np.zeros_like(around)
    column = np.cumsum(known, axis=1) - 1
    row = np.broadcast_to(np.arange(len(places))[:, None], known.shape)
    ids[row[known], column[known]] = around[known]
    return ids, known.sum(axis=1), known[:, :reach].sum(axis=1)


def _batches(
    ids: Ids, lengths: NDArray[np.intp], targets: NDArray[np.intp], first: int
) -> Iterator[Windows]:
    """Cut windows into batches of about one length, so that little is padding."""
    order = np.argsort(lengths, kind="stable")
    at = 0
    while at < len(order):
        # The longest of a batch is its last one; guess from the first, then trim.
        rows = order[at : at + max(1, WORDS // int(lengths[order[at]]))]
        rows = rows[: max(1, WORDS // int(lengths[rows[-1]]))]
        width = int(lengths[rows[-1]])
        mask = np.arange(width) < lengths[rows, None]  # (B, T)
        yield Windows(ids[rows, :width], mask, targets[rows], rows + first)
        at += len(rows)


def around(index: Index, place: int, width: int = WIDTH, size: int = 1) -> tuple[str, str, str]:
    """Return what stands before an occurrence of some tokens, they themselves, what is behind.

    As it was written, up to `width` characters to either side; the words of its sentence, where the
    index keeps no text.
    """
    if index.original is not None:
        return index.original.around(place, size, width)
    sentence = int(index.sentence_of(np.array([place]))[0])
    begin, end = int(index.offsets[sentence]), int(index.offsets[sentence + 1])
    first, last = max(begin, place - width), min(end, place + size + width)  # a word has a letter
    words = index.words(np.asarray(index.ids[first:last]))
    at = place - first
    left, right = " ".join(words[:at]), " ".join(words[at + size :])
    return (
        clip(left + " " * (at > 0), width),
        " ".join(words[at : at + size]),
        clip((" " * (place + size < end) + right)[::-1], width)[::-1],
    )


def quote(index: Index, place: int, width: int = WIDTH, size: int = 1) -> str:
    """Quote an occurrence: ... in the [bank] earns ..., as it was written where text is kept."""
    left, hit, right = around(index, place, width, size)
    farther = around(index, place, width + 20, size)  # is there more than is shown?
    return (
        f"{'… ' * (len(farther[0]) > len(left))}{left.lstrip()}[{hit}]"
        f"{right.rstrip()}{' …' * (len(farther[2]) > len(right))}"
    )
