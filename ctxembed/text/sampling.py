"""A sample of sentences that keeps enough of every word, drawn by hashing: no coin, no order.

A sentence has one number in [0, 1), made of its file's name, its place there and the seed. It is
kept if that number is below N / count of its rarest word, so a word of which N or fewer occur is
kept whole. A frequent word is then found more often beside rare ones than in the corpus; so only
those of its occurrences are listed whose sentence is below N / its own count: an even sample.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.corpus import Corpus
from ctxembed.text.documents import BLOCK
from ctxembed.text.numbering import number_corpus
from ctxembed.text.tokenizer import Tokenizer

INDEXED, TRAINED = 1, 2  # what a sentence was drawn for, as bits


def draw(name: str, sentences: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each sentence of a file, always the same (splitmix64).

    >>> draw("a.txt", np.arange(3), 1).round(3).tolist()
    [0.009, 0.106, 0.974]
    """
    key = blake2b(f"{seed}\n{name}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
    with np.errstate(over="ignore"):  # arithmetic modulo 2^64 is what is wanted
        x = np.uint64(int.from_bytes(key, "little")) + (
            sentences.astype(np.uint64) + 1
        ) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return np.asarray((x >> np.uint64(11)) * 2.0**-53)


@dataclass(frozen=True)
class Counts:
    """What one file holds: its words, in order of appearance."""

    words: list[str]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]  # the place of each word's first occurrence
    sentences: int
    blocks: int  # between blank lines, or other borders
    sha256: str


def count_file(corpus: Corpus, tokenizer: Tokenizer) -> Counts:
    """Count the words of a corpus of one file."""
    found: dict[str, list[int]] = {}
    tokens = sentences = blocks = 0
    for part, begins, _ in number_corpus(corpus, tokenizer):
        _, first, number = np.unique(part.ids, return_index=True, return_counts=True)
        for word, at, times in zip(part.types, first.tolist(), number.tolist(), strict=True):
            entry = found.setdefault(word, [0, tokens + at])
            entry[0] += times
        tokens += len(part.ids)
        sentences += len(part.lengths)
        blocks += int(np.count_nonzero(begins & BLOCK))
    table = np.array(list(found.values()), np.int64).reshape(-1, 2)
    (source,) = corpus.sources
    return Counts(list(found), table[:, 0], table[:, 1], sentences, blocks, source.sha256)


@dataclass(frozen=True)
class Plan:
    """What is drawn: `per_word` sentences of each word, and a share of all for word2vec."""

    words: Sequence[str]  # with a vector, the most frequent first
    counts: NDArray[np.int64]  # (V,) in the whole corpus
    per_word: int
    share: float  # of all sentences, for training
    seed: int

    @property
    def limits(self) -> NDArray[np.float64]:
        """(V,) a sentence below this number is listed for the word."""
        return np.minimum(1.0, self.per_word / np.maximum(1, self.counts))


@dataclass(frozen=True)
class Drawn:
    """Some sentences of a file; ids past the vocabulary are rows of `rare`."""

    ids: NDArray[np.int32]  # (tokens,)
    lengths: NDArray[np.int32]  # (S,)
    lines: NDArray[np.int32]  # (S,) on which each begins
    numbers: NDArray[np.int64]  # (S,) places among all sentences of the file
    blocks: NDArray[np.int32]  # (S,) in which block of the file each stands
    drawn_for: NDArray[np.uint8]  # (S,) INDEXED, TRAINED or both
    rare: list[str]


def draw_file(corpus: Corpus, tokenizer: Tokenizer, plan: Plan) -> Iterator[Drawn]:
    """Yield the sentences of a corpus of one file that are drawn, in their order."""
    (source,) = corpus.sources
    rows = {word: row for row, word in enumerate(plan.words)}
    limits = np.append(plan.limits, 0.0)  # a word without a vector keeps no sentence
    block_number, before = -1, 0
    for part, begins, _ in number_corpus(corpus, tokenizer):
        if not len(begins):
            continue
        types = part.types
        table = np.array([rows.get(word, -1) for word in types], np.int32)
        ids = table[part.ids]
        starts = np.concatenate([[0], np.cumsum(part.lengths)[:-1]]).astype(np.intp)
        numbers = before + np.arange(len(part.lengths))
        before += len(part.lengths)
        in_block = block_number + np.cumsum(begins & BLOCK > 0)
        block_number = int(in_block[-1])
        kept = draw(source.name, numbers, plan.seed) < np.maximum.reduceat(limits[ids], starts)
        even = draw(source.name, numbers, plan.seed + 1) < plan.share
        drawn_for = (INDEXED * kept + TRAINED * even).astype(np.uint8)
        some = np.flatnonzero(drawn_for)
        tokens = np.repeat(drawn_for > 0, part.lengths)
        unknown = np.flatnonzero(tokens & (ids < 0))
        names, place = np.unique(part.ids[unknown], return_inverse=True)
        ids[unknown] = len(plan.words) + place
        yield Drawn(
            ids[tokens],
            part.lengths[some],
            part.lines[some],
            numbers[some],
            in_block[some].astype(np.int32),
            drawn_for[some],
            [types[row] for row in names],
        )
