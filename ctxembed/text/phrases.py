"""Phrases: new york becomes one token, new_york.

Two words are joined if they occur together far more often than by chance, by normalised pointwise
mutual information: ln(p(ab) / p(a)p(b)) / -ln p(ab), 1 for words that only occur together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.errors import ModelError
from ctxembed.storage.arrays import ArrayWriter
from ctxembed.storage.folder import Part
from ctxembed.text.build_index import Counted, move_documents, renumber, sentence_chunks
from ctxembed.text.index import CHUNK
from ctxembed.text.layers import drop_layers
from ctxembed.text.original import Ints
from ctxembed.text.tokenizer import MANY, Tokenizer, is_content

FILE = "phrases.txt"  # in a model directory: pass, first word, second word; one phrase a line
PASSES = 2  # phrases of two words, then of up to four
MIN_COUNT = 5  # occurrences
NPMI = 0.6
BUCKETS = 1 << 22  # pairs are counted by hash first, so memory does not grow with their number


@dataclass(frozen=True)
class Phrases(Tokenizer):
    """A tokenizer that joins the words of phrases with _."""

    passes: tuple[frozenset[tuple[str, str]], ...] = field(default=(), compare=False, repr=False)

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each word or phrase with its start and end in the text.

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


def open_phrases(options: dict[str, Any], path: Part) -> Phrases:
    """Return the tokenizer of a model with phrases."""
    passes: list[set[tuple[str, str]]] = [set() for _ in range(PASSES)]
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            number, first, second = line.split("\t")
            passes[int(number) - 1].add((first, second))
    except (ValueError, IndexError):
        raise ModelError(f"{path}: damaged; train the model again") from None
    return Phrases(**options, passes=tuple(map(frozenset, passes)))


def learn_phrases(
    folder: Path, counted: Counted, tokenizer: Tokenizer, min_count: int = MIN_COUNT
) -> tuple[Phrases, Counted]:
    """Find phrases in an index and join their words there; return tokenizer and counts."""
    passes = []
    for _ in range(PASSES):
        pairs = find_pairs(folder, counted, max(MIN_COUNT, min_count))
        passes.append(frozenset((counted.types[a], counted.types[b]) for a, b in pairs.tolist()))
        counted = join_pairs(folder, counted, pairs)
    return Phrases(**tokenizer.to_dict(), passes=tuple(passes)), counted


def write_phrases(path: Path, phrases: Phrases) -> int:
    """Write the phrases of a tokenizer; return their number."""
    passes = enumerate(phrases.passes, 1)
    lines = [f"{number}\t{a}\t{b}\n" for number, pairs in passes for a, b in sorted(pairs)]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(lines)


def join_known(folder: Path, counted: Counted, phrases: Phrases) -> Counted:
    """Join the words of known phrases in an index."""
    for pairs in phrases.passes:
        rows = {word: row for row, word in enumerate(counted.types)}
        known = [(rows[a], rows[b]) for a, b in pairs if a in rows and b in rows]
        counted = join_pairs(folder, counted, np.array(sorted(known), np.int64).reshape(-1, 2))
    return counted


def find_pairs(folder: Path, counted: Counted, min_count: int) -> Ints:
    """Return (n, 2) ids of words to join, sorted."""
    total, types = counted.tokens, len(counted.types)
    allowed = np.zeros(types, np.bool_)
    for row, word in enumerate(counted.types[: counted.kept(min_count)]):
        frequency = float(counted.counts[row]) / total if types > MANY else 0.0
        allowed[row] = is_content(word, frequency) and word[:1].isalpha()

    def pair_keys() -> Iterator[tuple[Ints, Ints]]:
        """Yield a key for each pair of neighbours that may be joined, and its bucket, by chunk."""
        for ids, bounds in sentence_chunks(folder, CHUNK):
            both = allowed[ids[:-1]] & allowed[ids[1:]]
            both[bounds[1:-1] - 1] = False  # two sentences
            at = np.flatnonzero(both)
            keys = ids[at] * types + ids[at + 1]
            mixed = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            yield keys, (mixed >> np.uint64(64 - BUCKETS.bit_length() + 1)).astype(np.int64)

    rough = np.zeros(BUCKETS, np.int64)
    for _, buckets in pair_keys():
        rough += np.bincount(buckets, minlength=BUCKETS)
    seen, number = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for keys, buckets in pair_keys():
        some, each = np.unique(keys[rough[buckets] >= min_count], return_counts=True)
        seen, back = np.unique(np.concatenate([seen, some]), return_inverse=True)
        number = np.bincount(back, np.concatenate([number, each])).astype(np.int64)
    seen, number = seen[number >= min_count], number[number >= min_count]
    pairs = np.stack(np.divmod(seen, types), axis=1)
    together, apart = number / total, (counted.counts[pairs] / total).prod(axis=1)
    return np.asarray(pairs[np.log(together / apart) >= -NPMI * np.log(together)])


def join_pairs(folder: Path, counted: Counted, pairs: Ints) -> Counted:
    """Join pairs (n, 2) of words, sorted, in every sentence, from left to right."""
    if not len(pairs):
        return counted
    types = len(counted.types)
    keys = pairs[:, 0] * types + pairs[:, 1]
    counts = np.concatenate([counted.counts, np.zeros(len(keys), np.int64)])
    moved = [np.zeros(1, np.int64)]  # where each sentence begins now
    with ArrayWriter(folder / "joined.npy", "<i4") as target:
        for ids, bounds in sentence_chunks(folder, CHUNK):
            at = ids[:-1] * types + ids[1:]
            row = np.minimum(np.searchsorted(keys, at), len(keys) - 1)
            meets = keys[row] == at
            meets[bounds[1:-1] - 1] = False
            # Of overlapping pairs the first, third, ... are joined, from the left.
            number = np.arange(len(meets))
            begins = meets & ~np.concatenate([[False], meets[:-1]])
            since = number - np.maximum.accumulate(np.where(begins, number, 0))
            first = meets & (since % 2 == 0)  # of a pair that is joined
            after = ids.copy()
            after[:-1][first] = types + row[first]
            after = after[~np.append(False, first)]
            before = np.append(0, np.cumsum(np.append(first, False)))  # joined before each id
            moved.append(target.length + (bounds - before[bounds])[1:])
            target.write(after)
            for sign, some in ((1, after), (-1, ids)):
                counts += sign * np.bincount(some, minlength=len(counts))
    (folder / "joined.npy").replace(folder / "ids.npy")
    offsets = np.concatenate(moved)
    move_documents(folder, offsets)
    drop_layers(folder)  # they are of single words
    np.save(folder / "offsets.npy", offsets)
    order = np.argsort(-counts, kind="stable")
    renumber(folder, np.argsort(order).tolist(), len(order))
    words = [*counted.types, *(f"{counted.types[a]}_{counted.types[b]}" for a, b in pairs.tolist())]
    types_now = [words[row] for row in order.tolist()]
    return replace(counted, types=types_now, counts=counts[order], tokens=int(offsets[-1]))
