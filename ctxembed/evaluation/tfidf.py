"""TF-IDF of whole sentences, as a representation beside those of one word."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.context.parse import Occurrence
from ctxembed.stats.vectors import Floats


@dataclass(frozen=True)
class TfIdf:
    """Counts of a sentence's words, rare words counting more; the target is left out."""

    name: str = "tfidf"
    dim: int = 0  # as many as the sentences have words

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, words) counts times the inverse document frequency among these sentences.

        >>> one = Occurrence(np.array([5, 7, 7]), range(0, 1))
        >>> other = Occurrence(np.array([5, 8]), range(0, 1))
        >>> TfIdf().vectors([one, other]).astype(float).round(3).tolist()
        [[2.811, 0.0], [0.0, 1.405]]
        """
        contexts = [
            np.concatenate([item.ids[: item.target.start], item.ids[item.target.stop :]])
            for item in occurrences
        ]
        used, column = np.unique(
            np.concatenate([*contexts, np.zeros(0, np.intp)]), return_inverse=True
        )
        row = np.repeat(np.arange(len(contexts)), [len(context) for context in contexts])
        counts = np.zeros((len(contexts), max(1, len(used))), np.float32)
        np.add.at(counts, (row, column), 1)
        documents = (counts > 0).sum(axis=0)
        # Smoothed as in scikit-learn: as if one more sentence had every word.
        weights = np.log((1 + len(contexts)) / (1 + documents)) + 1
        return np.asarray(counts * weights, np.float32)

    def alone(self, rows: Sequence[int]) -> Floats:
        """Return (n, 1) zeros: a word without a sentence has no TF-IDF."""
        return np.zeros((len(rows), 1), np.float32)
