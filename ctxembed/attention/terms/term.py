"""What a score term is, and what it sees of a batch."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Seen:
    """Who looks at whom: Tq words that ask, T words that they look at, in each of B sentences."""

    ids: NDArray[Any] | None  # (B, T) rows of the vocabulary
    queries: Places | None  # (B,) the one word that asks; None where each does
    length: int  # T of the sentence that asks
    crossed: bool = False  # whether the words looked at are another sentence's
    kept: dict[str, Floats] = field(default_factory=dict)  # what a term needs forward and back

    @cached_property
    def distance(self) -> Places | None:
        """(B or 1, Tq, T) how far to the right each word stands; None in another sentence."""
        if self.crossed:
            return None
        places = np.arange(self.length)
        asks = places[None] if self.queries is None else self.queries[:, None]
        return np.asarray(places - asks[:, :, None])


@dataclass(frozen=True)
class Term:
    """Adds a number to each score: something learned for a head times something known.

    A subclass has a name, `bias`, and `backward`: the gradient by what is learned.
    """

    name: ClassVar[str]
    by_head: Floats  # (H or 1, ...) what is learned, a row a head
    words: Floats | None = None  # (V, ...) what is known about each word

    def bias(self, seen: Seen, dtype: Any) -> Floats | None:
        """Return what is added, (B or 1, Tq or 1, H or 1, T); None where it has nothing to say."""
        raise NotImplementedError

    def backward(self, d_scores: Floats, seen: Seen) -> Floats:
        """Turn the gradient by the scores, (B, Tq, H, T), into that by `by_head`."""
        raise NotImplementedError

    def known(self, seen: Seen, dtype: Any) -> Floats | None:
        """Look the words of the batch up, (B, T, ...)."""
        if self.words is None or seen.ids is None:
            return None
        return np.asarray(self.words[seen.ids], dtype)
