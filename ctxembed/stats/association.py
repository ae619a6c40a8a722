"""Association measures: log-likelihood and log ratio of two counts, dispersion over documents."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

BATCH_SIZE = 1 << 22  # words whose neighbors are counted at once


def log_likelihood(count_a: Floats, size_a: float, count_b: Floats, size_b: float) -> Floats:
    """Return Dunning's G² of counts (n,) in two texts of so many words.

    Twice the log of how much better two rates explain the counts than one rate for both.

    >>> float(log_likelihood(np.array([10.0]), 100, np.array([10.0]), 100).round(6)[0])
    0.0
    """
    both = (count_a + count_b) / (size_a + size_b)
    total = np.zeros(np.shape(count_a))
    for count, size in ((count_a, size_a), (count_b, size_b)):
        for part, rate in ((count, both), (size - count, 1 - both)):
            expected = size * rate
            at = part > 0
            total[at] += part[at] * np.log(part[at] / expected[at])
    return np.maximum(2 * total, 0.0)


def log_ratio(
    count_a: Floats, size_a: float | Floats, count_b: Floats, size_b: float | Floats
) -> Floats:
    """Return log2 of the ratio of two rates (n,); a count of 0 is taken as one half.

    >>> log_ratio(np.array([8.0, 0.0]), 100, np.array([1.0, 2.0]), 100).tolist()
    [3.0, -2.0]
    """
    rates = [np.where(c > 0, c, 0.5) / size for c, size in ((count_a, size_a), (count_b, size_b))]
    return np.asarray(np.log2(rates[0] / rates[1]))


def log_dice(both: Floats, node: float, collocates: Floats) -> Floats:
    """Return logDice (Rychlý 2008) of words (n,) from their counts together and apart.

    >>> log_dice(np.array([10.0, 5.0]), 10, np.array([10.0, 10.0])).tolist()
    [14.0, 13.0]
    """
    return np.asarray(14 + np.log2(2 * both / (node + collocates)))


def count_neighbors(
    ids: NDArray[Any], offsets: NDArray[Any], rows: int, words: int
) -> NDArray[np.int64]:
    """Return (2, rows, words + 1) how often the first words occur right before and after each word.

    The last column counts all other words and the ends of sentences, which begin at the offsets.

    >>> count_neighbors(np.array([0, 1, 0]), np.array([0, 2, 3]), 2, 1).tolist()
    [[[0, 2], [1, 0]], [[0, 2], [0, 1]]]
    """
    counts = np.zeros((2, rows * (words + 1)), np.int64)
    for first in range(0, int(offsets[-1]), BATCH_SIZE):
        last = min(int(offsets[-1]), first + BATCH_SIZE)
        word = np.asarray(ids[first:last], np.int64)
        left, right = np.full((2, len(word)), words)
        left[first == 0 :] = np.minimum(ids[max(0, first - 1) : last - 1], words)
        after = np.minimum(ids[first + 1 : last + 1], words)
        right[: len(after)] = after
        begin, end = np.searchsorted(offsets, [first, last + 1])
        bounds = offsets[begin:end] - first  # from 0 to the length
        left[bounds[bounds < len(word)]] = words
        right[bounds[bounds > 0] - 1] = words
        for counted, other in zip(counts, (left, right), strict=True):
            cells = (word * (words + 1) + other)[word < rows]
            counted += np.bincount(cells, minlength=len(counted))
    return counts.reshape(2, rows, words + 1)


class Spread:
    """The sizes of documents, to measure how evenly a word is spread over them."""

    def __init__(self, sizes: NDArray[np.int64]) -> None:
        self.total = int(sizes.sum())
        self.sizes, self.number = np.unique(sizes[sizes > 0], return_counts=True)

    def of(self, count: int, documents: int) -> float:
        """Return the number of documents with a word, divided by the number expected by chance.

        count: its occurrences; by chance they fall on random positions.

        >>> two = Spread(np.array([10, 10]))
        >>> round(two.of(2, 1), 3), round(two.of(2, 2), 3)
        (0.667, 1.333)
        """
        none = (1 - self.sizes / self.total) ** count  # (sizes,) chance that a document has none
        return documents / float((self.number * (1 - none)).sum())
