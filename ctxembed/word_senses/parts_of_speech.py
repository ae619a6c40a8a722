"""The probability of a word's part of speech from three words on either side: a small network.

x = embedding of each word and FEATURES of it, and which parts of speech the target may have
scores = relu(x W1 + b1) W2 + b2 + count · log(how often the target has each)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ctxembed.context.parse import Written
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import load
from ctxembed.word_senses.dictionary import FILE, PARTS, Dictionary

NEIGHBORS = (-3, -2, -1, 1, 2, 3)  # places beside the target
EDGE = ""  # a place before the first or after the last word
ENDINGS = ("ing", "ed", "ly", "s")
FEATURES = len(PARTS) + 2 + len(ENDINGS)
DIM, HIDDEN = 16, 64  # of the embedding and of the hidden layer
UNSEEN = 0.5  # added to the count of a part of speech


def neighbor_words(written: Written) -> list[str]:
    """Return the words at the places of NEIGHBORS.

    >>> neighbor_words(Written(["a", "big", "bank"], range(2, 3)))
    ['', 'a', 'big', '', '', '']
    """
    words, target = [word.lower() for word in written.words], written.target
    places = [target.start + n if n < 0 else target.stop + n - 1 for n in NEIGHBORS]
    return [words[i] if 0 <= i < len(words) else EDGE for i in places]


def describe_word(word: str, dictionary: Dictionary) -> list[float]:
    """Return (FEATURES,) the shares of its senses by part of speech, none, edge, and its ending."""
    senses = dictionary.count_parts(word)
    total = sum(senses)
    shares = [number / total if total else 0.0 for number in senses]
    ends = [float(word.endswith(ending)) for ending in ENDINGS]
    return [*shares, float(not total and word != EDGE), float(word == EDGE), *ends]


@dataclass(frozen=True)
class Network:
    """The weights; the last row of each layer is its bias."""

    embedding: Floats  # (1 + W, DIM): the first row is any other word's
    hidden: Floats  # (places * (DIM + FEATURES) + 4 + 1, HIDDEN)
    output: Floats  # (HIDDEN + 1, 4)

    @classmethod
    def shapes(cls, words: int) -> list[tuple[int, int]]:
        """Return the shapes of the weights for so many words."""
        size = len(NEIGHBORS) * (DIM + FEATURES) + len(PARTS) + 1
        return [(1 + words, DIM), (size, HIDDEN), (HIDDEN + 1, len(PARTS))]

    @classmethod
    def split(cls, numbers: Floats, words: int) -> "Network":
        """Return the network whose weights are these numbers, one matrix after the other."""
        shapes = cls.shapes(words)
        ends = np.cumsum([rows * columns for rows, columns in shapes])
        parts = np.split(numbers.astype(np.float32), ends[:-1])
        return cls(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))

    def join(self) -> Floats:
        """Return the numbers of all weights."""
        return np.concatenate([self.embedding.ravel(), self.hidden.ravel(), self.output.ravel()])

    def inputs(self, rows: Floats, features: Floats, may: Floats) -> Floats:
        """Return x (n, ...) of words' rows (n, places), their features and parts (n, 4)."""
        words = np.concatenate([self.embedding[rows], features], axis=2)
        return np.concatenate([words.reshape(len(words), -1), may], axis=1)


@dataclass(frozen=True, eq=False)
class PartsOfSpeech:
    """A network in a dictionary."""

    dictionary: Dictionary
    known: dict[str, tuple[int, list[float]]] = field(default_factory=dict)  # by word

    @classmethod
    def of(cls, dictionary: Dictionary) -> "PartsOfSpeech | None":
        """Return the network in a dictionary; None if it has none."""
        if (fitted := dictionary.meta.get("parts")) is None:
            return None
        own: PartsOfSpeech | None = dictionary.parts_of_speech
        if own is not None:  # checked before
            return own
        try:
            sound = bool(np.isfinite(float(fitted["count"])))
            sound = sound and all(isinstance(word, str) for word in fitted["words"])
        except (KeyError, TypeError, ValueError):
            sound = False
        if not sound:
            raise dictionary.files.damage(FILE, "parts is wrong")
        own = dictionary.parts_of_speech = cls(dictionary)
        return own

    @cached_property
    def words(self) -> dict[str, int]:
        """The row of each word of the embedding."""
        return {word: row for row, word in enumerate(self.dictionary.meta["parts"]["words"], 1)}

    @cached_property
    def network(self) -> Network:
        """The weights, checked."""
        numbers, files = load(self.dictionary.files / "parts.npy"), self.dictionary.files
        words = len(self.dictionary.meta["parts"]["words"])
        size = sum(rows * columns for rows, columns in Network.shapes(words))
        if numbers.shape != (size,) or not np.isfinite(numbers).all():
            raise files.damage("parts.npy", f"shape {numbers.shape}, or not a number")
        return Network.split(numbers, words)

    def scores(self, written: Written, counts: Mapping[str, float]) -> list[float]:
        """Return the score of each part of speech in counts: how often the word has it."""
        network, own = self.network, list(map(self._describe, neighbor_words(written)))
        rows, features = np.array([[row for row, _ in own]]), np.array([[f for _, f in own]])
        x = network.inputs(rows, features, np.array([[float(part in counts) for part in PARTS]]))
        hidden = np.maximum(x @ network.hidden[:-1] + network.hidden[-1], 0)
        (totals,) = (hidden @ network.output[:-1] + network.output[-1]).tolist()
        by_part = dict(zip(PARTS, totals, strict=True))
        weight = float(self.dictionary.meta["parts"]["count"])
        logs = log_counts(list(counts.values()))
        return [by_part[part] + weight * log for part, log in zip(counts, logs, strict=True)]

    def _describe(self, word: str) -> tuple[int, list[float]]:
        """Return the row of a word in the embedding, and its features."""
        if word not in self.known:
            self.known[word] = self.words.get(word, 0), describe_word(word, self.dictionary)
        return self.known[word]


def log_counts(counts: Sequence[float]) -> list[float]:
    """Return the logarithms of how often a word has each part of speech."""
    logs: list[float] = np.log(np.maximum(counts, 0.0) + UNSEEN).tolist()
    return logs
