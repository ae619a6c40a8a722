"""Words of more than one token: new york becomes new_york, found by how well its words go together.

Two words are joined that stand together far more often than chance would have it, by normalised
pointwise mutual information: ln(p(ab) / p(a)p(b)) / -ln p(ab), 1 for words that never part.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError
from ctxembed.storage.arrays import ArrayWriter
from ctxembed.storage.folder import Part
from ctxembed.text.build_index import Counted, move_documents, renumber_for, sentence_chunks
from ctxembed.text.function_words import MANY, is_content
from ctxembed.text.index import CHUNK
from ctxembed.text.tokenizer import Tokenizer

FILE = "phrases.txt"  # in a model directory: the pass, the first word, the second, a phrase a line
PASSES = 2  # phrases of two words, then of up to four
LEAST = 5  # occurrences
NPMI = 0.6
BUCKETS = 1 << 22  # pairs are counted roughly first: memory does not grow with their number
Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Phrases(Tokenizer):
    """Words, some of which are several joined by _."""

    passes: tuple[Pairs, ...] = field(default=(), compare=False, repr=False)

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each word or phrase, and where it begins and ends in the text.

        >>> york = Phrases(passes=(frozenset({("new", "york")}),))
        >>> list(york.tokens("in New York"))
        [('in', 0, 2), ('new_york', 3, 11)]
        """
        tokens = list(super().tokens(text))
        for pairs in self.passes:
            joined: list[tuple[str, int, int]] = []
            apart = True  # whether the last word may still be joined
            for word, start, end in tokens:
                apart = not (joined and apart and (joined[-1][0], word) in pairs)
                if not apart:
                    first, start, _ = joined.pop()
                    word = f"{first}_{word}"
                joined.append((word, start, end))
            tokens = joined
        return iter(tokens)


def open_phrases(told: dict[str, Any], path: Part) -> Phrases:
    """Make the tokeniser of a model that has phrases."""
    passes: list[set[tuple[str, str]]] = [set() for _ in range(PASSES)]
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            number, first, second = line.split("\t")
            passes[int(number) - 1].add((first, second))
    except (ValueError, IndexError):
        raise ModelError(f"{path}: damaged; train the model again") from None
    return Phrases(**told, passes=tuple(map(frozenset, passes)))


def learn_phrases(
    folder: Path, counted: Counted, tokenizer: Tokenizer, least: int = LEAST
) -> tuple[Phrases, Counted]:
    """Find phrases in an index, and join their words in it."""
    passes = []
    for _ in range(PASSES):
        pairs = find_pairs(folder, counted, max(LEAST, least))
        passes.append(frozenset((counted.types[a], counted.types[b]) for a, b in pairs.tolist()))
        counted = join(folder, counted, pairs)
    return Phrases(**tokenizer.told(), passes=tuple(passes)), counted


def write_phrases(path: Path, phrases: Phrases) -> int:
    """Write the phrases of a tokeniser; return how many they are."""
    lines = [
        f"{number}\t{first}\t{second}\n"
        for number, pairs in enumerate(phrases.passes, 1)
        for first, second in sorted(pairs)
    ]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(lines)


def join_known(folder: Path, counted: Counted, phrases: Phrases) -> Counted:
    """Join the words of known phrases in an index."""
    for pairs in phrases.passes:
        rows = {word: row for row, word in enumerate(counted.types)}
        known = [(rows[a], rows[b]) for a, b in pairs if a in rows and b in rows]
        counted = join(folder, counted, np.array(sorted(known), np.int64).reshape(-1, 2))
    return counted


def find_pairs(folder: Path, counted: Counted, least: int) -> NDArray[np.int64]:
    """Return (n, 2) ids of words that go together, sorted."""
    total = counted.tokens
    enough = counted.kept(least)
    may = np.zeros(len(counted.types), np.bool_)
    for row, word in enumerate(counted.types[:enough]):
        share = float(counted.counts[row]) / total if len(counted.types) > MANY else 0.0
        may[row] = is_content(word, share) and word[:1].isalpha()
    rough = np.zeros(BUCKETS, np.int64)
    for keys in _pairs(folder, may):
        rough += np.bincount(_bucket(keys), minlength=BUCKETS)
    found, number = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for keys in _pairs(folder, may):
        some, each = np.unique(keys[rough[_bucket(keys)] >= least], return_counts=True)
        found, back = np.unique(np.concatenate([found, some]), return_inverse=True)
        number = np.bincount(back, np.concatenate([number, each])).astype(np.int64)
    found, number = found[number >= least], number[number >= least]
    first, second = np.divmod(found, len(may))
    together = number / total
    apart = counted.counts[first] / total * (counted.counts[second] / total)
    good = np.log(together / apart) >= -NPMI * np.log(together)
    return np.stack([first[good], second[good]], axis=1)


def _bucket(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    mixed = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(mixed >> np.uint64(64 - BUCKETS.bit_length() + 1), np.int64)


def _pairs(folder: Path, may: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Yield a number for each two words of a sentence that may be joined, a chunk at a time."""
    for ids, bounds in sentence_chunks(folder, CHUNK):
        both = may[ids[:-1]] & may[ids[1:]]
        both[bounds[1:-1] - 1] = False  # two sentences
        at = np.flatnonzero(both)
        yield ids[at] * len(may) + ids[at + 1]


def join(folder: Path, counted: Counted, pairs: NDArray[np.int64]) -> Counted:
    """Join pairs (n, 2) of words, sorted, wherever they meet in a sentence, from left to right."""
    if not len(pairs):
        return counted
    types = len(counted.types)
    keys = pairs[:, 0] * types + pairs[:, 1]
    names = [f"{counted.types[a]}_{counted.types[b]}" for a, b in pairs.tolist()]
    counts = np.concatenate([counted.counts, np.zeros(len(keys), np.int64)])
    moved = [np.zeros(1, np.int64)]  # where each sentence begins now
    with ArrayWriter(folder / "joined.npy", "<i4") as target:
        for ids, bounds in sentence_chunks(folder, CHUNK):
            mine, taken = _join(ids, bounds, keys, types)
            moved.append(target.length + (bounds - np.append(0, np.cumsum(taken))[bounds])[1:])
            target.write(mine)
            for sign, some in ((1, mine), (-1, ids)):
                counts += sign * np.bincount(some, minlength=len(counts))
    (folder / "joined.npy").replace(folder / "ids.npy")
    offsets = np.concatenate(moved)
    move_documents(folder, offsets)
    np.save(folder / "offsets.npy", offsets)
    order = np.argsort(-counts, kind="stable")
    renumber_for(folder, np.argsort(order).tolist(), len(order))
    words = [*counted.types, *names]
    return replace(
        counted,
        types=[words[row] for row in order.tolist()],
        counts=counts[order],
        tokens=int(offsets[-1]),
    )


def _join(
    ids: NDArray[np.int64], bounds: NDArray[np.int64], keys: NDArray[np.int64], types: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the ids after joining, and at which of the old ones a pair was joined with the next.

    >>> _join(np.array([0, 0, 0, 1]), np.array([0, 4]), np.array([0, 1]), 2)[0].tolist()
    [2, 3]
    """
    at = ids[:-1] * types + ids[1:]
    place = np.minimum(np.searchsorted(keys, at), len(keys) - 1)
    meets = keys[place] == at
    meets[bounds[1:-1] - 1] = False
    # Of pairs that overlap the first is joined, the third, and so on, from the left.
    number = np.arange(len(meets))
    begins = meets & ~np.concatenate([[False], meets[:-1]])
    since = number - np.maximum.accumulate(np.where(begins, number, 0))
    taken = np.append(meets & (since % 2 == 0), False)
    made = ids.copy()
    made[:-1][taken[:-1]] = types + place[taken[:-1]]
    return made[~np.concatenate([[False], taken[:-1]])], taken
