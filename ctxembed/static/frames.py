"""Frames: which frequent words occur directly before and after a word.

They show its part of speech: *the ... of* takes a noun, *to ... the* a verb.
"""

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.association import count_neighbors
from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Ids

FREQUENT = 100  # words that make up a frame: the first of the vocabulary
MIN_COUNT = 20  # occurrences a frame needs
MAX_ROWS = 100_000  # words with a frame, at most
PRIOR = 50  # occurrences of the usual word that are added to those of each
FULL = 255  # a fraction of 1

Frames = NDArray[np.uint8]  # (F, 2 K): √fraction · 255; K words before, the same K after


def count_frames(
    ids: Ids, offsets: NDArray[np.int64], counts: NDArray[np.int64], max_words: int = FREQUENT
) -> Frames:
    """Return the frames (F, 2 K) of the frequent words of a corpus; rarer words have none.

    The root of a fraction makes the cosine of two frames what statistics calls their affinity
    (Bhattacharyya), in which no single word outweighs all others.
    """
    rows = min(MAX_ROWS, int(np.count_nonzero(counts >= MIN_COUNT)))
    words = min(max_words, len(counts))
    frames = np.zeros((rows, 2 * words), np.uint8)
    usual = np.asarray(counts[:words]) / max(1, int(np.sum(counts)))  # (K,) how often anywhere
    neighbors = count_neighbors(ids, offsets, rows, words)[:, :, :words]
    for side, counted in enumerate(neighbors):
        fractions = (counted + PRIOR * usual) / (np.asarray(counts[:rows])[:, None] + PRIOR)
        frames[:, side * words : (side + 1) * words] = np.rint(np.sqrt(fractions) * FULL)
    return frames


def affinity(frames: Frames, target: Floats, rows: NDArray[np.intp], usual: Floats) -> Floats:
    """Return (n,) cosines with the target's frame (2 K,), both less the usual one; NaN without."""
    cosines = np.full(len(rows), np.nan)
    framed = rows < len(frames)
    x, y = frames[rows[framed]].astype(np.float64) - usual, target - usual
    lengths = np.sqrt((x * x).sum(axis=1) * (y @ y))
    cosines[framed] = x @ y / np.where(lengths > 0, lengths, 1)
    return cosines


def truncate_frames(frames: Frames, words: int) -> Frames:
    """Return frames (F, 2 `words`) with the first words of (F, 2 K), before and after.

    >>> truncate_frames(np.array([[1, 2, 3, 4, 5, 6]], np.uint8), 2).tolist()
    [[1, 2, 4, 5]]
    """
    return np.concatenate([side[:, :words] for side in np.split(frames, 2, axis=1)], axis=1)
