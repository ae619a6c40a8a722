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
from ctxembed.text.tokenize import BLANK_LINE, Tokenizer, mark_sentences

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
    text = block.text if lines else mark_sentences(block.text)
    if block.wrapped:
        text = BLANK_LINE.sub(_end_behind, text)
    data = text.encode("utf-8", "surrogatepass")
    table, marks = _tables(tokenizer)
    chunks = find_chunks(data.translate(table), marks)
    types, sizes = _split(chunks, tokenizer)
    each = sizes[chunks.ids]  # (chunks,) words in each
    ends = np.cumsum(each, dtype=np.int32)
    skip = np.cumsum(sizes, dtype=np.int32)[chunks.ids] - ends  # from a word's place to its type
    ids = np.repeat(skip, each) + np.arange(each.sum(), dtype=np.int32)
    offsets = _offsets(data, block.wrapped, chunks.starts, ends)
    places = chunks.starts[np.searchsorted(ends, offsets[:-1], side="right")]
    breaks = np.searchsorted(np.flatnonzero(np.frombuffer(data, np.uint8) == 10), places)
    return Encoded(
        block.file,
        "\n".join(types),
        ids,
        np.diff(offsets).astype(np.int32),
        (block.line + breaks).astype(np.int32),
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


def _offsets(
    data: bytes, wrapped: bool, starts: NDArray[np.int64], ends: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return where each sentence begins, counted in words, and behind them the number of words."""
    marks = np.frombuffer(data, np.uint8)
    marked = (marks == 0x1E) if wrapped else (marks == 0x1E) | (marks == 10)
    before = np.concatenate([[0], ends])  # (chunks+1,) words before each chunk
    cuts = np.searchsorted(starts, np.flatnonzero(marked))  # chunks before each mark
    offsets = np.concatenate([[0], before[cuts], before[-1:]])
    return split_long(offsets[np.diff(offsets, prepend=-1) > 0], LONGEST)


def split_long(offsets: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Add offsets (S+1,) so that no sentence has more than `most` words.

    >>> split_long(np.array([0, 2, 9]), 3).tolist()
    [0, 2, 5, 8, 9]
    """
    long = np.flatnonzero(np.diff(offsets) > most)
    more = [np.arange(offsets[i] + most, offsets[i + 1], most) for i in long]
    return np.sort(np.concatenate([offsets, *more]))


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


def _end_behind(match: re.Match[str]) -> str:
    return match[0] + "\x1e"


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
