"""How much a word is looked at, whoever looks: frequent words say little."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms.term import Seen, Term
from ctxembed.stats.vectors import Floats

DAMPING = (1e-5, 1e-4, 1e-3)  # a of a/(a+p)


class WordBias(Term):
    """by_head: (H or 1, F) how much each feature counts. words: (V, F) features of each word."""

    name: ClassVar[str] = "word"

    def bias(self, seen: Seen, dtype: Any) -> Floats | None:
        """Weigh the features of each word."""
        features = self.known(seen, dtype)  # (B, T, F)
        if features is None:
            return None
        weighed = self.by_head.astype(dtype, copy=False) @ features.swapaxes(1, 2)  # (B, H, T)
        return np.asarray(weighed)[:, None]

    def backward(self, d_scores: Floats, seen: Seen) -> Floats:
        """Return (H, F)."""
        features = self.known(seen, d_scores.dtype)
        assert features is not None
        return np.asarray((d_scores.sum(axis=1) @ features).sum(axis=0))


def damping(frequency: Floats, half: float = 1e-3) -> Floats:
    """Return a feature that makes frequent words count less: log(a / (a + p)).

    >>> damping(np.array([0.0, 1e-3])).round(3)  # a word with p = a counts half
    array([ 0.   , -0.693])
    """
    return np.asarray(np.log(half / (half + frequency)))


def word_features(vectors: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return (V, F): log a/(a+p) for a few a, and the log length of the centred vector."""
    p = counts / max(1, counts.sum())
    length = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1).astype(np.float64)
    log_length = np.log(np.maximum(length, 1e-3) / max(float(length.mean()), 1e-3))
    return np.stack([*(damping(p, a) for a in DAMPING), log_length], axis=1).astype(vectors.dtype)
