"""A block of text as numbers: the step that runs in several processes at once."""

import os
import re
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.corpus import Block
from ctxembed.text.tokenize import CURLY, Tokenizer, mark_sentences, no_underscores, word_pattern

LONGEST = 1000  # words in a sentence; a longer one is split, never cut
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")

# ASCII text needs no pattern to find its words: small letters, spaces for the rest, split.
_KEEP = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'-\n\x1e"
_CASED = "".join(chr(c) if chr(c) in _KEEP else " " for c in range(128))
_LOOSE_JOINER = re.compile(r"['\-](?:['\-]+|(?![A-Za-z0-9])|(?<![A-Za-z0-9]['\-]))")


@dataclass(frozen=True)
class Encoded:
    """The words of a block, each distinct word once, and the text as rows of that list."""

    file: int
    types: list[str]
    ids: NDArray[np.int32]  # (tokens,) rows of types
    lengths: NDArray[np.int32]  # (sentences,) tokens in each
    lines: NDArray[np.int32]  # (sentences,) line on which each begins


def encode(block: Block, tokenizer: Tokenizer, lines: bool) -> Encoded:
    """Split a block into sentences and words, and number the words by first appearance."""
    text = block.text
    if not lines:
        text = mark_sentences(text)
    # A line break stays where it is, so that lines can be counted; the mark ends the sentence.
    text = _BLANK_LINE.sub(_end_behind, text) if block.wrapped else text.replace("\n", "\n\x1e")
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    tokens: list[str] = []
    lengths: list[int] = []
    starts: list[int] = []
    line = block.line
    for sentence in _split_words(text, tokenizer):
        words, breaks = sentence
        for first in range(0, len(words), LONGEST):
            lengths.append(min(LONGEST, len(words) - first))
            starts.append(line)
        tokens += words
        line += breaks
    ids = np.fromiter(map(numbers.__getitem__, tokens), np.int32, len(tokens))
    return Encoded(
        block.file,
        list(numbers),
        ids,
        np.array(lengths, np.int32),
        np.array(starts, np.int32),
    )


def _end_behind(match: re.Match[str]) -> str:
    return match[0] + "\x1e"


def _split_words(text: str, tokenizer: Tokenizer) -> Iterator[tuple[list[str], int]]:
    """Yield the words of each sentence, and the line breaks in it."""
    whitespace = tokenizer.kind == "whitespace"
    for piece in _plain_pieces(text, tokenizer):
        if piece.isascii() or whitespace:
            yield piece.split(), piece.count("\n")
        else:
            piece_words = word_pattern().findall(no_underscores(piece.translate(CURLY)))
            yield piece_words, piece.count("\n")


def _plain_pieces(text: str, tokenizer: Tokenizer) -> Iterable[str]:
    """Cut at the marks; ASCII text needs no pattern for its words, only spaces."""
    if not tokenizer.cased:
        text = text.lower()
    if tokenizer.kind == "whitespace":
        return text.split("\x1e")
    if text.isascii():
        return _LOOSE_JOINER.sub(" ", text.translate(_CASED)).split("\x1e")
    return _mixed(text.split("\x1e"))


def _mixed(pieces: list[str]) -> Iterator[str]:
    for piece in pieces:
        yield _LOOSE_JOINER.sub(" ", piece.translate(_CASED)) if piece.isascii() else piece


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
    with ProcessPoolExecutor(workers, initializer=_follow, initargs=(os.getpid(),)) as pool:
        pending = [(pool.submit(encode, block, tokenizer, lines), size) for block, size in start]
        while pending:
            future, size = pending.pop(0)
            result = future.result()
            for block, following in islice(stream, 1):
                pending.append((pool.submit(encode, block, tokenizer, lines), following))
            yield result, size


def _follow(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and don't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
