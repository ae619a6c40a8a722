"""Frames: which frequent words stand directly before and behind a word.

A wide window tells what a word is about, and verb, noun and plural lie side by side in it. What
stands next to a word tells which of them it is: *the ... of* takes a noun, *to ... the* a verb.
"""

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Ids

FREQUENT = 100  # words that make up a frame: the first of the vocabulary
FEWEST = 20  # occurrences below which a frame would be guesswork
ROWS = 100_000  # words that get a frame at most
PRIOR = 50  # occurrences of the usual word that are added to those of each
FULL = 255  # stands for a share of 1
AT_ONCE = 1 << 22  # places of the corpus counted at once

Frames = NDArray[np.uint8]  # (F, 2 K): √share · 255; K words before, the same K behind


def count_frames(
    ids: Ids, offsets: NDArray[np.int64], counts: NDArray[np.int64], most: int = FREQUENT
) -> Frames:
    """Count the frames of the frequent words of a corpus; words that follow have none.

    The root of a share makes the cosine of two frames what statistics calls their affinity
    (Bhattacharyya), in which no single word outweighs all others.
    """
    rows = min(ROWS, int(np.count_nonzero(counts >= FEWEST)))
    words = min(most, len(counts))
    frames = np.zeros((rows, 2 * words), np.uint8)
    usual = np.asarray(counts[:words]) / max(1, int(np.sum(counts)))  # (K,) how often anywhere
    for side, found in enumerate(_beside(ids, offsets, rows, words)):
        shares = (found + PRIOR * usual) / (np.asarray(counts[:rows])[:, None] + PRIOR)
        frames[:, side * words : (side + 1) * words] = np.rint(np.sqrt(shares) * FULL)
    return frames


def _beside(
    ids: Ids, offsets: NDArray[np.int64], rows: int, words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count (F, K) how often each frequent word stands before each word, and behind it."""
    before = np.zeros(rows * words, np.int64)
    behind = np.zeros(rows * words, np.int64)
    for first in range(1, len(ids), AT_ONCE):
        last = min(len(ids), first + AT_ONCE)
        left = np.asarray(ids[first - 1 : last - 1], np.int64)
        right = np.asarray(ids[first:last], np.int64)
        together = np.ones(last - first, np.bool_)  # two words of one sentence
        begin, end = np.searchsorted(offsets, [first, last])
        together[offsets[begin:end] - first] = False
        for counted, word, other in ((before, right, left), (behind, left, right)):
            kept = together & (word < rows) & (other < words)
            counted += np.bincount(word[kept] * words + other[kept], minlength=rows * words)
    return before.reshape(rows, words), behind.reshape(rows, words)


def affinity(frames: Frames, target: Floats, rows: NDArray[np.intp], usual: Floats) -> Floats:
    """Return (n,) how alike the frames of words are to the target's (2 K,); NaN without a frame.

    The cosine of what each has more, or less, than the `usual` word (2 K,).
    """
    alike = np.full(len(rows), np.nan)
    there = rows < len(frames)
    mine = frames[rows[there]].astype(np.float64) - usual
    own = target - usual
    lengths = np.sqrt((mine * mine).sum(axis=1) * (own @ own))
    alike[there] = mine @ own / np.where(lengths > 0, lengths, 1)
    return alike


def narrow_frames(frames: Frames, words: int) -> Frames:
    """Keep the first words of frames (F, 2 K), before and behind.

    >>> narrow_frames(np.array([[1, 2, 3, 4, 5, 6]], np.uint8), 2).tolist()
    [[1, 2, 4, 5]]
    """
    return np.concatenate([side[:, :words] for side in np.split(frames, 2, axis=1)], axis=1)
