"""Turn blocks of text into sentences of word numbers, in several processes for a large corpus."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import UsageError
from ctxembed.text.boundaries import find_blank_lines, find_ends
from ctxembed.text.corpus import Block, Corpus
from ctxembed.text.original import Ints, pack
from ctxembed.text.tokenizer import DOTTED_I, ELISION, Tokenizer, gender_ending

np.empty(1 << 24, np.uint8)  # once freed, the C library keeps the memory for the next blocks
MAX_SENTENCE = 1000  # words in a sentence; a longer one is split, never cut
DOCUMENT_KINDS = {"file": 1, "block": 2, "line": 4}  # what begins with a sentence, as bits
FILE, BLOCK, LINE = DOCUMENT_KINDS.values()
WIDE = 16  # bytes of a word that are compared; a longer one always counts as new
_LOW_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd, their bits mixed


@dataclass(frozen=True)
class Numbered:
    """The words of a block, and its text as rows of that list."""

    file: int
    text: bytes  # the words, a line break after each: faster to pass between processes than strings
    ids: NDArray[np.unsignedinteger]  # (tokens,) rows of types, as small as they fit
    lengths: NDArray[np.int32]  # (sentences,) tokens in each
    lines: NDArray[np.int32]  # (sentences,) line on which each begins
    begins_document: NDArray[np.bool_]  # (sentences,) whether a document begins with it
    ends_document: bool  # whether a document ends after the last sentence
    byte_offsets: Ints  # (sentences,) where each begins in the block
    packed: list[tuple[int, bytes]]  # the text itself, if it is kept
    rows: Ints | None = None  # (sentences,) the document of each, of a table or of XML
    layers: NDArray[np.int32] | None = None  # (tokens, 2) lemma and part of speech

    @property
    def types(self) -> list[str]:
        """Words by first appearance; a few may be there twice."""
        return self.text.decode("utf-8", "surrogatepass").split("\n")[:-1]


def number_words(
    block: Block, tokenizer: Tokenizer, lines: bool, opening: str | None = None, keep: bool = False
) -> Numbered:
    """Split a block into sentences and words, and number the words by first appearance.

    opening: the pattern of a document's first line; without it a blank line ends a document.
    keep: also return a compressed copy of the text.
    """
    records = block.packed
    lines |= records is not None and records.sentences
    ends = np.zeros(0, np.int64) if lines else find_ends(block.data, tokenizer.language)
    breaks = np.flatnonzero(np.frombuffer(block.data, np.uint8) == ord("\n"))
    documents = blank = find_blank_lines(block.data, breaks)
    if records is not None:
        documents = records.starts
    elif opening is not None:
        matches = re.finditer(b"^(?:" + opening.encode() + b")", block.data, re.MULTILINE)
        documents = np.array([match.start() for match in matches], np.int64)
    cuts = np.sort(np.concatenate([ends, documents, blank if block.wrapped else breaks]))
    letters, inserted = _separate(block.data, ends, tokenizer)
    chunks = find_chunks(letters)
    text, sizes = _split_chunks(chunks, tokenizer)
    ids, ends = _number_chunk_words(chunks, sizes)
    starts = chunks.starts
    if len(inserted):  # back to the block's own bytes
        starts = starts - np.searchsorted(inserted, starts)
    words = np.concatenate([[0], ends])  # (chunks+1,) before each chunk
    offsets = np.concatenate([[0], words[np.searchsorted(starts, cuts)], words[-1:]])
    offsets = split_long(offsets[np.diff(offsets, prepend=-1) > 0], MAX_SENTENCE)
    chunk = np.searchsorted(ends, offsets[:-1], side="right")
    byte_offsets = starts[chunk]
    before = np.searchsorted(documents, byte_offsets, side="right")  # (sentences,) documents
    # A part of a long sentence may begin inside a chunk: it gets the offset of the part before it.
    inside = words[chunk] < offsets[:-1]
    whole = np.maximum.accumulate(np.where(inside, 0, np.arange(len(byte_offsets))))
    first_lines = block.line + np.searchsorted(breaks, byte_offsets)
    rows, layers = None, None
    if records is not None:  # lines are counted in each document
        rows = records.first - 1 + before
        openings = np.searchsorted(breaks, np.append(0, documents))[before]
        first_lines = np.where(before > 0, 1, block.line) + (first_lines - block.line) - openings
        if records.layers is not None and records.token_starts is not None:
            token = np.searchsorted(records.token_starts, starts, side="right") - 1  # (chunks,)
            layers = np.repeat(records.layers[token], np.diff(words), axis=0)
    return Numbered(
        file=block.file, text=text, ids=ids, lengths=np.diff(offsets).astype(np.int32),
        lines=first_lines.astype(np.int32),
        begins_document=np.diff(before, prepend=0) > 0,
        ends_document=len(documents) > (before[-1] if len(before) else 0),
        byte_offsets=byte_offsets[whole], packed=pack(block.data) if keep else [],
        rows=rows, layers=layers,
    )  # fmt: skip


def _separate(data: bytes, ends: Ints, tokenizer: Tokenizer) -> tuple[NDArray[np.uint8], Ints]:
    """Return bytes with NUL for every ASCII separator, and lowercase for capital letters.

    Also return where one was inserted: a sentence ends there without a space, as in Chinese.
    """
    letters = np.frombuffer(data, np.uint8)
    joined = ends[ends < len(data)]
    joined = joined[~_SPACES[letters[joined]]]
    if tokenizer.kind == "word":  # full stops separate, except next to characters of several bytes
        joined = joined[(letters[joined - 1] > 127) | (letters[joined] > 127)]
    if len(joined):
        data = np.insert(letters, joined, 0x1E).tobytes()
    separated = b"\0" + data.translate(_byte_table(tokenizer)) + bytes(WIDE)
    letters = np.frombuffer(bytearray(separated), np.uint8)
    if tokenizer.kind == "word":
        joiners = np.flatnonzero(letters - np.uint8(1) < ord("0") - 1)  # ' - and, in numbers, , .
        before, joiner, after = (letters[joiners + step] for step in (-1, 0, 1))
        is_joined = _LETTERS[before] & _LETTERS[after]
        anywhere = _ANYWHERE[joiner]
        if tokenizer.rules > 3 and tokenizer.language in ELISION:
            today = [match.start() + 7 for match in _TODAY.finditer(separated)]
            anywhere &= (joiner != ord("'")) | np.isin(joiners, today)
        is_joined &= anywhere | (_DIGITS[before] & _DIGITS[after])
        letters[joiners[~is_joined]] = 0
        if tokenizer.rules > 3:
            for match in _gender_marks(tokenizer.language).finditer(data):
                for at in range(*match.span(1)):
                    letters[at + 1] = data[at]  # one NUL comes first
    return letters, joined + np.arange(len(joined))


@dataclass(frozen=True)
class Chunks:
    """Runs of bytes between separators."""

    starts: Ints  # (n,) where each begins, from the second byte
    first: Ints  # (n,) the first chunk with the same bytes
    new: Ints  # (types,) the first of each type; a long chunk is always new
    text: bytes  # the types, a line break after each
    ends: Ints  # (types,) where each ends in the text, after its line break


def find_chunks(data: NDArray[np.uint8]) -> Chunks:
    """Return the runs between NUL bytes; data has one NUL first and WIDE of them last."""
    inside = data != 0
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts = edges[0::2].copy()
    sizes = edges[1::2] - starts
    data = data[1:]
    eights = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
    low = eights[starts] & _LOW_BYTES.take(sizes, mode="clip")
    more = np.flatnonzero(sizes > 8)
    more, long = more[sizes[more] <= WIDE], more[sizes[more] > WIDE]
    both = low[more], eights[starts[more] + 8] & _LOW_BYTES[sizes[more] - 8]
    low[more] = low[long] = 0  # no short chunk is 0
    first = _first_alike(low)
    first[more] = more[_first_alike(*both)]
    first[long] = long
    new = np.flatnonzero(first == np.arange(len(first)))
    each = sizes[new] + 1
    ends = np.cumsum(each)
    text = data[np.repeat(starts[new] - ends + each, each) + np.arange(each.sum())]
    text[ends - 1] = ord("\n")
    return Chunks(starts, first, new, text.tobytes(), ends)


def _first_alike(*keys: NDArray[np.uint64]) -> Ints:
    """Return (n,) the index of the first row with the same keys; each key is (n,)."""
    bits = max(10, len(keys[0]).bit_length())
    slots = np.empty(1 << bits, np.int64)
    mixed = keys[0] * _SPREAD[0]
    if len(keys) > 1:
        mixed += keys[1] * _SPREAD[1]
    first = left = np.arange(len(mixed))
    own_keys = list(keys)
    while len(left):
        # The first row takes a slot, equal rows get its index, other rows try another slot.
        slot = (mixed >> np.uint64(64 - bits)).view(np.int64)
        slots[slot[::-1]] = left[::-1]
        rows = slots.take(slot)
        other = keys[0].take(rows) != own_keys[0]
        for key, own in zip(keys[1:], own_keys[1:], strict=True):
            other |= key.take(rows) != own
        if first is left:  # all rows: no copy needed
            first = rows
        else:
            first[left] = rows
        remaining = np.flatnonzero(other)
        left, own_keys = left[remaining], [key[remaining] for key in own_keys]
        mixed = (mixed[remaining] ^ (mixed[remaining] >> np.uint64(29))) * _SPREAD[1]
    return first


def _split_chunks(chunks: Chunks, tokenizer: Tokenizer) -> tuple[bytes, Ints]:
    """Return the words of the distinct chunks, one a line, and the number of words of each."""
    sizes = np.ones(len(chunks.new), np.int64)  # an ASCII chunk is one word
    letters = np.frombuffer(chunks.text, np.uint8)
    special = letters > 127
    if tokenizer.language in DOTTED_I and not tokenizer.cased:
        special |= letters == ord("I")  # two bytes in lowercase
    odd = np.searchsorted(chunks.ends, np.flatnonzero(special), side="right")
    odd = odd[np.diff(odd, prepend=-1) > 0]
    if not len(odd):
        return chunks.text, sizes
    edges = np.stack([np.append(0, chunks.ends)[odd], chunks.ends[odd]], axis=1).ravel().tolist()
    parts = [chunks.text[a:b] for a, b in pairwise([0, *edges, None])]
    text = b"".join(parts[1::2]).decode("utf-8", "surrogatepass")
    parts[1::2] = [line.encode("utf-8", "surrogatepass") for line in tokenizer.split_lines(text)]
    sizes[odd] = [part.count(b"\n") for part in parts[1::2]]
    return b"".join(parts), sizes


def _number_chunk_words(chunks: Chunks, sizes: Ints) -> tuple[NDArray[np.unsignedinteger], Ints]:
    """Return the number of every word's type, and how many words end with or before each chunk."""
    last = np.cumsum(sizes)
    row = np.empty(len(chunks.first), np.min_scalar_type(last[-1] if len(last) else 0))
    each = np.empty(len(row), np.uint32)
    row[chunks.new], each[chunks.new] = last - sizes, sizes
    ids, each = row[chunks.first], each[chunks.first]
    ends = np.cumsum(each, dtype=np.int64)
    ids = np.repeat(ids, each)
    multiple = np.flatnonzero(each > 1)
    n_words = each[multiple].astype(np.int64)
    within = np.arange(n_words.sum()) - np.repeat(np.cumsum(n_words) - n_words, n_words)
    ids[np.repeat(ends[multiple] - n_words, n_words) + within] += within.astype(ids.dtype)
    return ids, ends


def split_long(offsets: Ints, max_words: int) -> Ints:
    """Return offsets (S+1,), with more of them so that no sentence is longer than `max_words`."""
    long = np.flatnonzero(np.diff(offsets) > max_words)
    more = [np.arange(offsets[i] + max_words, offsets[i + 1], max_words) for i in long]
    return np.sort(np.concatenate([offsets, *more]))


_TODAY = re.compile(rb"[aA][uU][jJ][oO][uU][rR][dD]'[hH][uU][iI]")


@cache
def _gender_marks(language: str) -> re.Pattern[bytes]:
    """Return the pattern of a gender mark, group 1, between a letter and an ending."""
    ending = gender_ending(language).replace("\\x80-\\U0010ffff", "\\x80-\\xff")
    return re.compile(rf"(?<=[A-Za-z0-9\x80-\xff])([:*]|/-)(?={ending})".encode())


_SPACES = np.array([chr(code).isspace() and code < 128 for code in range(256)])
_LETTERS = np.array([chr(code).isalnum() or code > 127 for code in range(256)])
_ANYWHERE = np.isin(np.arange(256), list(b"'-"))  # joiners between any letters
# A non-ASCII byte may belong to a digit; the tokenizer decides for such chunks.
_DIGITS = np.array([chr(code).isdecimal() or code > 127 for code in range(256)])


@cache
def _byte_table(tokenizer: Tokenizer) -> bytes:
    """Return the table from bytes to lowercase letters, with NUL for separators."""
    joiners = "'-" if tokenizer.rules == 1 else "'-.,"
    is_word = tokenizer.kind == "word"
    table = bytearray(range(256))
    for code, char in enumerate(map(chr, range(128))):
        inside = char.isalnum() or char in joiners if is_word else not char.isspace()
        keep_case = tokenizer.cased or (char == "I" and tokenizer.language in DOTTED_I)
        table[code] = ord(char if keep_case else char.lower()) if inside else 0
    return bytes(table)


def number_corpus(
    corpus: Corpus, tokenizer: Tokenizer, workers: int = 1, keep: bool = False
) -> Iterator[tuple[Numbered, NDArray[np.uint8], int]]:
    """Yield parts of a corpus, what begins with each sentence (bits), and the bytes read."""
    opening = None if corpus.document in ("auto", *DOCUMENT_KINDS) else corpus.document
    try:
        re.compile((opening or "").encode())
    except re.error as error:
        kinds = "auto, file, block, line, or a regular expression for the first line of a document"
        raise UsageError(f"--document {opening!r}: {error}; give {kinds}") from None
    number = partial(
        number_words, tokenizer=tokenizer, lines=corpus.lines, opening=opening, keep=keep
    )
    file, line, ended = -1, 0, False  # of the previous sentence; whether its document ended
    for part, size in _number_blocks(number, corpus.blocks(), workers):
        begins = np.where(part.begins_document, BLOCK, 0).astype(np.uint8)
        if len(begins):
            begins[part.lines != np.append(line, part.lines[:-1])] |= LINE
            if part.file != file:
                begins[0] = FILE | BLOCK | LINE
            elif ended:
                begins[0] |= BLOCK
            begins[begins & BLOCK > 0] |= LINE
            file, line, ended = part.file, int(part.lines[-1]), False
        ended |= part.ends_document
        yield part, begins, size


def _number_blocks(
    number: Callable[[Block], Numbered], blocks: Iterator[tuple[Block, int]], workers: int
) -> Iterator[tuple[Numbered, int]]:
    """Yield number(block) and the bytes read, in order; in several processes for many blocks."""
    first = list(islice(blocks, 8))
    blocks = chain(first, blocks)
    if workers < 2 or len(first) < 8:  # a small corpus is done before a second process has started
        yield from ((number(block), size) for block, size in blocks)
        return
    from concurrent.futures import Future

    from ctxembed.text.processes import start_pool

    with start_pool(workers - 1) as pool:
        pending: deque[tuple[Future[Numbered], int]] = deque()
        for block, size in blocks:
            if sum(not future.done() for future, _ in pending) < 2 * (workers - 1):
                future = pool.submit(number, block)
            else:  # the workers are busy: this process works too
                future = Future()
                future.set_result(number(block))
            pending.append((future, size))
            while pending and (pending[0][0].done() or len(pending) > 4 * workers):
                future, size = pending.popleft()
                yield future.result(), size
        for future, size in pending:
            yield future.result(), size
