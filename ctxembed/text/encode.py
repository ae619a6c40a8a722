"""A block of text as numbers: the step that runs in several processes at once."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.corpus import Block
from ctxembed.text.distinct import Chunks, find_chunks
from ctxembed.text.tokenize import (
    ABBREVIATIONS,
    BLANK_LINE,
    Tokenizer,
    is_abbreviation,
    possible_ends,
)

LONGEST = 1000  # words in a sentence; a longer one is split, never cut
_JOINED = re.compile(r"[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*")
_ASCII = re.compile(r"[\0-\x7f]+")


@dataclass(frozen=True)
class Encoded:
    """The words of a block, and its text as rows of that list."""

    file: int
    text: str  # the words, a line break between them: one string is faster to hand over than many
    ids: NDArray[np.int32]  # (tokens,) rows of types
    lengths: NDArray[np.int32]  # (sentences,) tokens in each
    lines: NDArray[np.int32]  # (sentences,) line on which each begins

    @property
    def types(self) -> list[str]:
        """Words by first appearance; a few may be there twice."""
        return self.text.split("\n") if self.text else []


def encode(block: Block, tokenizer: Tokenizer, lines: bool) -> Encoded:
    """Split a block into sentences and words, and number the words by first appearance."""
    data = block.text.encode("utf-8", "surrogatepass")
    data, sentence_ends = _find_ends(block.text, data, block.wrapped, lines)
    table, marks = _tables(tokenizer)
    chunks = find_chunks(data.translate(table), marks)
    types, sizes = _split(chunks, tokenizer)
    each = sizes[chunks.ids]  # (chunks,) words in each
    ends = np.cumsum(each, dtype=np.int32)
    skip = np.cumsum(sizes, dtype=np.int32)[chunks.ids] - ends  # from a word's place to its type
    ids = np.repeat(skip, each) + np.arange(each.sum(), dtype=np.int32)
    breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
    cuts = sentence_ends if block.wrapped else np.concatenate([sentence_ends, breaks])
    offsets = _offsets(np.sort(cuts), chunks.starts, ends)
    places = chunks.starts[np.searchsorted(ends, offsets[:-1], side="right")]
    return Encoded(
        block.file,
        "\n".join(types),
        ids,
        np.diff(offsets).astype(np.int32),
        (block.line + np.searchsorted(breaks, places)).astype(np.int32),
    )


def _split(chunks: Chunks, tokenizer: Tokenizer) -> tuple[list[str], NDArray[np.int32]]:
    """Return the words of the distinct chunks, one behind the other, and how many each has.

    Most chunks are a word as they stand; the others are split here once, not at each occurrence.
    """
    joined = (_JOINED if tokenizer.kind == "word" else _ASCII).fullmatch
    sizes = np.ones(len(chunks.types), np.int32)
    words: list[str] = []
    place = 0
    for odd in chunks.marked.tolist():
        chunk = chunks.types[odd]
        found = [chunk] if joined(chunk) else tokenizer.words(chunk)
        words += chunks.types[place:odd]
        words += found
        sizes[odd] = len(found)
        place = odd + 1
    words += chunks.types[place:]
    return words, sizes


def _find_ends(
    text: str, data: bytes, wrapped: bool, lines: bool
) -> tuple[bytes, NDArray[np.int64]]:
    """Return the bytes of a text, and where in them sentences end."""
    places = np.array([] if lines else possible_ends(text), np.int64)
    letters = np.frombuffer(data, np.uint8)
    # A letter of several bytes moves what is behind it: count its later bytes.
    later = np.flatnonzero((letters & 0xC0) == 0x80)
    later -= np.arange(len(later))
    moved = places + np.searchsorted(later, places, side="right")
    doubtful = np.flatnonzero(_TAILS[letters[moved - 3], letters[moved - 2]])
    wrong = [place for place in doubtful if is_abbreviation(text, int(places[place]))]
    moved = np.delete(moved, wrong)
    if wrapped:
        blank = np.array([match.start() for match in BLANK_LINE.finditer(text)], np.int64)
        moved = np.sort(
            np.concatenate([moved, blank + np.searchsorted(later, blank, side="right")])
        )
    # CJK writes no space behind a sentence: put a separator there.
    joined = moved[moved < len(letters)]
    joined = joined[~_SPACES[letters[joined]]]
    if len(joined):
        data = np.insert(letters, joined, 0x1E).tobytes()
        moved += np.searchsorted(joined, moved)
    return data, moved


def _offsets(
    cuts: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return where each sentence begins, counted in words, and behind them the number of words."""
    before = np.concatenate([[0], ends])  # (chunks+1,) words before each chunk
    offsets = np.concatenate([[0], before[np.searchsorted(starts, cuts)], before[-1:]])
    return split_long(offsets[np.diff(offsets, prepend=-1) > 0], LONGEST)


def split_long(offsets: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Add offsets (S+1,) so that no sentence has more than `most` words.

    >>> split_long(np.array([0, 2, 9]), 3).tolist()
    [0, 2, 5, 8, 9]
    """
    long = np.flatnonzero(np.diff(offsets) > most)
    more = [np.arange(offsets[i] + most, offsets[i + 1], most) for i in long]
    return np.sort(np.concatenate([offsets, *more]))


def _tails() -> NDArray[np.bool_]:
    """Mark (256, 256) two bytes before a full stop that may belong to an abbreviation."""
    tails = np.zeros((256, 256), np.bool_)
    tails[:, 128:] = tails[:, ord("A") : ord("Z") + 1] = True  # a single capital letter does
    for word in ABBREVIATIONS:
        for pair in (word[-2:].encode(), word[-2:].title().encode()):
            tails[pair[0], pair[1]] = True
    return tails


_TAILS = _tails()
_SPACES = np.array([chr(code).isspace() and code < 128 for code in range(256)])


@cache
def _tables(tokenizer: Tokenizer) -> tuple[bytes, NDArray[np.bool_]]:
    """Make a table from bytes to small letters, NUL for what separates, and mark what is odd."""
    word = tokenizer.kind == "word"
    inside = [
        char.isalnum() or char in "'-" if word else not char.isspace()
        for char in map(chr, range(128))
    ]
    table = bytes(code if inside[code] else 0 for code in range(128))
    marks = np.array([code > 127 or (word and chr(code) in "'-") for code in range(256)])
    return (table if tokenizer.cased else table.lower()) + bytes(range(128, 256)), marks


def encode_all(
    blocks: Iterable[tuple[Block, int]], tokenizer: Tokenizer, lines: bool, workers: int
) -> Iterator[tuple[Encoded, int]]:
    """Encode blocks in order, in several processes where that pays."""
    stream = iter(blocks)
    start = list(islice(stream, 8))
    if workers < 2 or len(start) < 8:  # a small corpus is done before a second process is up
        for block, size in start:
            yield encode(block, tokenizer, lines), size
        for block, size in stream:
            yield encode(block, tokenizer, lines), size
        return
    from concurrent.futures import ProcessPoolExecutor

    from ctxembed.processes import follow

    with ProcessPoolExecutor(workers, initializer=follow, initargs=(os.getpid(),)) as pool:
        pending = [(pool.submit(encode, block, tokenizer, lines), size) for block, size in start]
        while pending:
            future, size = pending.pop(0)
            result = future.result()
            for block, following in islice(stream, 1):
                pending.append((pool.submit(encode, block, tokenizer, lines), following))
            yield result, size
