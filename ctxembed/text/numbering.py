"""A block of text as numbers: the step that runs in several processes at once."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.corpus import Block, Corpus
from ctxembed.text.distinct import WIDE, Chunks, find_chunks
from ctxembed.text.documents import BLOCK, FILE, LINE, check_kind, find_blank_lines, find_borders
from ctxembed.text.languages import DOTTED_I
from ctxembed.text.original import pack
from ctxembed.text.sentence_ends import find_ends
from ctxembed.text.tokenizer import Tokenizer

np.empty(1 << 24, np.uint8)  # once freed, it makes the C library keep memory for the next blocks
LONGEST = 1000  # words in a sentence; a longer one is split, never cut


@dataclass(frozen=True)
class Numbered:
    """The words of a block, and its text as rows of that list."""

    file: int
    text: bytes  # the words, a line break behind each: faster to hand over than many strings
    ids: NDArray[np.unsignedinteger]  # (tokens,) rows of types, as small as they fit
    lengths: NDArray[np.int32]  # (sentences,) tokens in each
    lines: NDArray[np.int32]  # (sentences,) line on which each begins
    borders: NDArray[np.bool_]  # (sentences,) whether a blank line, or another border, is before it
    border_behind: bool  # whether there is one behind the last sentence
    places: NDArray[np.int64]  # (sentences,) byte of the block at which each begins
    packed: list[tuple[int, bytes]]  # the text itself, where it is to be kept

    @property
    def types(self) -> list[str]:
        """Words by first appearance; a few may be there twice."""
        return self.text.decode("utf-8", "surrogatepass").split("\n")[:-1]


def number_words(
    block: Block, tokenizer: Tokenizer, lines: bool, border: str | None = None, keep: bool = False
) -> Numbered:
    """Split a block into sentences and words, and number the words by first appearance.

    border: the pattern of a line before which a document begins; else a blank line ends one.
    keep: pack a copy of the text.
    """
    ends = np.zeros(0, np.int64) if lines else find_ends(block.data, tokenizer.language)
    breaks = np.flatnonzero(np.frombuffer(block.data, np.uint8) == ord("\n"))
    blank = find_blank_lines(block.data, breaks)
    borders = blank if border is None else find_borders(block.data, border)
    cuts = np.concatenate([ends, borders, blank if block.wrapped else breaks])
    data, inserted = _part(block.data, ends, tokenizer)
    chunks = find_chunks(_separate(data, tokenizer))
    text, sizes = _split(chunks, tokenizer)
    ids, ends = _number(chunks, sizes)
    starts = chunks.starts
    if len(inserted):  # back to the block's own bytes
        starts = starts - np.searchsorted(inserted, starts)
    offsets = _offsets(np.sort(cuts), starts, ends)
    chunk = np.searchsorted(ends, offsets[:-1], side="right")
    places = starts[chunk]
    before = np.searchsorted(borders, places, side="right")  # (sentences,) borders before each
    # A part of a long sentence that begins within a chunk is found from the part before.
    inside = ends[chunk - 1] * (chunk > 0) < offsets[:-1]
    whole = np.maximum.accumulate(np.where(inside, 0, np.arange(len(places))))
    return Numbered(
        block.file,
        text,
        ids,
        np.diff(offsets).astype(np.int32),
        (block.line + np.searchsorted(breaks, places)).astype(np.int32),
        np.diff(before, prepend=0) > 0,
        len(borders) > (before[-1] if len(before) else 0),
        places[whole],
        pack(block.data) if keep else [],
    )


def _part(
    data: bytes, ends: NDArray[np.int64], tokenizer: Tokenizer
) -> tuple[bytes, NDArray[np.int64]]:
    """Put a separator where a sentence ends without one, as in Chinese; return where they are."""
    letters = np.frombuffer(data, np.uint8)
    joined = ends[ends < len(data)]
    joined = joined[~_SPACES[letters[joined]]]
    if tokenizer.kind == "word":  # full stops separate, but for those of several bytes
        joined = joined[letters[joined - 1] > 127]
    if not len(joined):
        return data, joined
    return np.insert(letters, joined, 0x1E).tobytes(), joined + np.arange(len(joined))


def _separate(data: bytes, tokenizer: Tokenizer) -> NDArray[np.uint8]:
    """Put NUL for all that separates words in ASCII, and small letters for capital ones."""
    letters = np.frombuffer(
        bytearray(b"\0" + data.translate(_table(tokenizer)) + bytes(WIDE)), np.uint8
    )
    if tokenizer.kind == "word":
        joiners = np.flatnonzero(letters - np.uint8(1) < ord("0") - 1)  # ' - and, in numbers, , .
        before, joiner, behind = (letters[joiners + step] for step in (-1, 0, 1))
        joins = _LETTERS[before] & _LETTERS[behind]
        joins &= _ANYWHERE[joiner] | (_DIGITS[before] & _DIGITS[behind])
        letters[joiners[~joins]] = 0
    return letters


def _split(chunks: Chunks, tokenizer: Tokenizer) -> tuple[bytes, NDArray[np.int64]]:
    """Return the words of the distinct chunks, a line break behind each, and how many each has.

    What is all ASCII is a word as it stands; the others are split once, not at each occurrence.
    """
    sizes = np.ones(len(chunks.new), np.int64)
    letters = np.frombuffer(chunks.text, np.uint8)
    special = letters > 127
    if tokenizer.language in DOTTED_I and not tokenizer.cased:
        special |= letters == ord("I")  # of two bytes when it is small
    wide = np.flatnonzero(special)
    odd = np.searchsorted(chunks.ends, wide, side="right")
    odd = odd[np.diff(odd, prepend=-1) > 0]
    if not len(odd):
        return chunks.text, sizes
    edges = np.stack([np.append(0, chunks.ends)[odd], chunks.ends[odd]], axis=1).ravel().tolist()
    parts = [chunks.text[a:b] for a, b in pairwise([0, *edges, None])]
    text = b"".join(parts[1::2]).decode("utf-8", "surrogatepass")
    parts[1::2] = [line.encode("utf-8", "surrogatepass") for line in tokenizer.split_lines(text)]
    sizes[odd] = [part.count(b"\n") for part in parts[1::2]]
    return b"".join(parts), sizes


def _number(
    chunks: Chunks, sizes: NDArray[np.int64]
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
    """Return the types of all words, and how many words there are up to the end of each chunk."""
    last = np.cumsum(sizes)
    row = np.empty(len(chunks.first), np.min_scalar_type(last[-1] if len(last) else 0))
    each = np.empty(len(row), np.uint32)
    row[chunks.new], each[chunks.new] = last - sizes, sizes
    ids, each = row[chunks.first], each[chunks.first]
    ends = np.cumsum(each, dtype=np.int64)
    ids = np.repeat(ids, each)
    several = np.flatnonzero(each > 1)
    many = each[several].astype(np.int64)
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    ids[np.repeat(ends[several] - many, many) + within] += within.astype(ids.dtype)
    return ids, ends


def _offsets(
    cuts: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]
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


_SPACES = np.array([chr(code).isspace() and code < 128 for code in range(256)])
_LETTERS = np.array([chr(code).isalnum() or code > 127 for code in range(256)])
_ANYWHERE = np.isin(np.arange(256), list(b"'-"))  # joiners between any letters
# A digit may be one of several bytes; the tokenizer then decides, as for all such chunks.
_DIGITS = np.array([chr(code).isdecimal() or code > 127 for code in range(256)])


@cache
def _table(tokenizer: Tokenizer) -> bytes:
    """Make a table from bytes to small letters, NUL for what separates."""
    word = tokenizer.kind == "word"
    joiners = "'-" if tokenizer.rules == 1 else "'-.,"
    inside = [
        char.isalnum() or char in joiners if word else not char.isspace()
        for char in map(chr, range(128))
    ]
    table = bytes(code if inside[code] else 0 for code in range(128))
    if not tokenizer.cased:
        table = table.lower()
        if tokenizer.language in DOTTED_I:
            table = table[: ord("I")] + b"I" + table[ord("I") + 1 :]
    return table + bytes(range(128, 256))


def number_all(
    blocks: Iterable[tuple[Block, int]],
    tokenizer: Tokenizer,
    lines: bool,
    workers: int,
    border: str | None = None,
    keep: bool = False,
) -> Iterator[tuple[Numbered, int]]:
    """Number the words of blocks in order, in several processes where that pays."""
    number = partial(number_words, tokenizer=tokenizer, lines=lines, border=border, keep=keep)
    stream = iter(blocks)
    start = list(islice(stream, 8))
    if workers < 2 or len(start) < 8:  # a small corpus is done before a second process is up
        for block, size in chain(start, stream):
            yield number(block), size
        return
    from concurrent.futures import Future, ProcessPoolExecutor

    from ctxembed.text.processes import follow

    with ProcessPoolExecutor(workers - 1, initializer=follow, initargs=(os.getpid(),)) as pool:
        pending: deque[tuple[Future[Numbered], int]] = deque()
        for block, size in chain(start, stream):
            if sum(not future.done() for future, _ in pending) < 2 * (workers - 1):
                future = pool.submit(number, block)
            else:  # the others have enough to do: this process is a worker too
                future = Future()
                future.set_result(number(block))
            pending.append((future, size))
            while pending and (pending[0][0].done() or len(pending) > 4 * workers):
                future, size = pending.popleft()
                yield future.result(), size
        for future, size in pending:
            yield future.result(), size


def number_corpus(
    corpus: Corpus, tokenizer: Tokenizer, workers: int = 1, keep: bool = False
) -> Iterator[tuple[Numbered, NDArray[np.uint8], int]]:
    """Yield a corpus part by part, what begins with each sentence, and how many bytes were read."""
    file, line, behind = -1, 0, False  # of the sentence before, and whether a border is behind it
    border = check_kind(corpus.document)
    for part, size in number_all(corpus.blocks(), tokenizer, corpus.lines, workers, border, keep):
        begins = np.where(part.borders, BLOCK, 0).astype(np.uint8)
        if len(begins):
            begins[part.lines != np.append(line, part.lines[:-1])] |= LINE
            if part.file != file:
                begins[0] = FILE | BLOCK | LINE
            elif behind:
                begins[0] |= BLOCK
            begins[begins & BLOCK > 0] |= LINE
            file, line, behind = part.file, int(part.lines[-1]), False
        behind |= part.border_behind
        yield part, begins, size
