"""The probability of a word's part of speech from the words beside it: logistic regression."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ctxembed.context.parse import Written
from ctxembed.storage.arrays import load
from ctxembed.word_senses.dictionary import FILE, PARTS, Dictionary

NEIGHBORS = (-2, -1, 1, 2)  # places beside the target
EDGE = ""  # a place before the first or after the last word
UNSEEN = 0.5  # added to the count of a part of speech


def neighbor_words(written: Written) -> list[str]:
    """Return the words at the places of NEIGHBORS.

    >>> neighbor_words(Written(["a", "big", "bank"], range(2, 3)))
    ['a', 'big', '', '']
    """
    words, target = [word.lower() for word in written.words], written.target
    places = [target.start + n if n < 0 else target.stop + n - 1 for n in NEIGHBORS]
    return [words[i] if 0 <= i < len(words) else EDGE for i in places]


@dataclass(frozen=True, eq=False)
class PartsOfSpeech:
    """Weights of neighbouring words for each part of speech."""

    dictionary: Dictionary

    @classmethod
    def of(cls, dictionary: Dictionary) -> "PartsOfSpeech | None":
        """Return the weights in a dictionary; None if it has none."""
        if (fitted := dictionary.meta.get("parts")) is None:
            return None
        own: PartsOfSpeech | None = dictionary.parts_of_speech
        if own is not None:  # checked before
            return own
        try:
            numbers = np.array([*fitted["bias"], fitted["count"]], np.float64)
            sound = numbers.shape == (5,) and bool(np.isfinite(numbers).all())
            sound = sound and all(isinstance(word, str) for word in fitted["words"])
        except (KeyError, TypeError, ValueError):
            sound = False
        if not sound:
            raise dictionary.files.damage(FILE, "parts is wrong")
        own = dictionary.parts_of_speech = cls(dictionary)
        return own

    @cached_property
    def words(self) -> dict[str, int]:
        """The row of each neighbouring word."""
        return {word: row for row, word in enumerate(self.dictionary.meta["parts"]["words"])}

    @cached_property
    def weights(self) -> Any:
        """(4, W, 4): by place, word and part of speech."""
        weights, files = load(self.dictionary.files / "parts.npy"), self.dictionary.files
        expected = (len(NEIGHBORS), len(self.dictionary.meta["parts"]["words"]), len(PARTS))
        if weights.shape != expected or not np.isfinite(weights).all():
            raise files.damage("parts.npy", f"shape {weights.shape}, or not a number")
        return weights

    def scores(self, written: Written, counts: Mapping[str, float]) -> list[float]:
        """Return the score of each part of speech in counts: how often the word has it."""
        fitted = self.dictionary.meta["parts"]
        totals = list(fitted["bias"])
        for place, word in enumerate(neighbor_words(written)):
            if (row := self.words.get(word)) is not None:
                totals = [
                    a + float(b) for a, b in zip(totals, self.weights[place, row], strict=True)
                ]
        return [
            float(totals[list(PARTS).index(part)]) + fitted["count"] * math.log(count + UNSEEN)
            for part, count in counts.items()
        ]
