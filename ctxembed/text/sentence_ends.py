"""Where sentences end among the bytes of a text.

The two bytes behind a full stop nearly always decide; a pattern decides the rest, one by one.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.languages import ORDINALS, abbreviations
from ctxembed.text.tokenizer import CLOSING, FINAL, FRENCH, MARKS, OPENING, is_abbreviation

_SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
_WIDE_MARKS = "…" + FINAL


def _any_of(characters: Iterable[str]) -> bytes:
    """Write a pattern of one of several characters, in UTF-8."""
    return b"(?:" + b"|".join(re.escape(char.encode()) for char in characters) + b")"


_SPACE = _any_of(_SPACES)
_END = re.compile(
    _any_of(MARKS + FINAL) + b"+" + _any_of([*CLOSING, *(f"{space}»" for space in FRENCH)]) + b"*"
    b"(?=" + _SPACE + b"|" + b"|".join(b"(?<=" + char.encode() + b")" for char in FINAL) + b")"
    b"(?!" + _SPACE + b"*" + _any_of(OPENING) + b"*(?:[a-z]|\xc3[\x9f-\xb6\xb8-\xbf]))"
)
_LINE = re.compile(b"\\n")
_BLANK_LINE = re.compile(b"\\n(?:(?!\\n)" + _SPACE + b")*\\n" + _SPACE + b"*")
_NO, _YES, _ASK = range(3)


def _behind() -> NDArray[np.uint8]:
    """Tell (256, 256) whether a sentence ends at a full stop with these two bytes behind it."""
    codes = np.arange(256)
    wide = codes > 127
    space = np.isin(codes, [ord(char) for char in _SPACES]) & ~wide
    table = np.full((256, 256), _NO, np.uint8)
    table[space] = _YES
    table[space, ord("a") : ord("z") + 1] = _NO
    table[np.ix_(space, space | wide | np.isin(codes, list(b"\"'([")))] = _ASK
    table[wide | np.isin(codes, list(b".!?\"')]"))] = _ASK
    return table


_EDGE, _POINT, _DIGIT, _WIDE = 0, 28, 29, 31  # kinds of bytes: before a word, of a letter of many
_KIND = np.arange(256) & 31  # small and capital letters: 1 to 26
_KIND[ord(".")] = _POINT
_KIND[ord("0") : ord("9") + 1] = _DIGIT
_KIND[[ord(char) for char in [*_SPACES, *"(\"'["] if char.isascii()]] = _EDGE
_KIND[128:] = _WIDE
_BEHIND = _behind()


@cache
def _tails(language: str) -> NDArray[np.bool_]:
    """Mark (32, 32, 32) kinds of three bytes before a full stop that an abbreviation may have."""
    tails = np.zeros((32, 32, 32), np.bool_)
    for word in abbreviations(language):
        *first, second, third = _KIND[list(f" {word}".encode()[-3:])]
        edge = [_EDGE, _WIDE]  # a space may be of several bytes
        tails[edge if first in ([], [_EDGE]) else first, second, third] = True
    tails[:, [_EDGE, _WIDE, _POINT], 1:27] = True  # a single letter, the last one of U.S.
    tails[:, :, _WIDE] = True
    if language in ORDINALS:
        tails[:, :, _DIGIT] = True
    return tails


_LATER = np.zeros((256, 256), np.bool_)  # second and third byte of a mark of several bytes
for _mark in _WIDE_MARKS:
    _LATER[_mark.encode()[1], _mark.encode()[2] if len(_mark.encode()) > 2 else slice(None)] = True


def find_ends(data: bytes, language: str = "") -> NDArray[np.int64]:
    """List where sentences end in UTF-8 text, but for the last one.

    >>> find_ends(b"Dr. Who came. Yes! So").tolist()
    [13, 18]
    """
    letters = np.frombuffer(data + bytes(3), np.uint8)
    marks = np.flatnonzero((letters == ord(".")) | (letters == ord("!")) | (letters == ord("?")))
    verdict = _BEHIND[letters[marks + 1], letters[marks + 2]]
    wide = np.flatnonzero(letters >= min(_WIDE_MARKS).encode()[0])
    wide = wide[_LATER[letters[wide + 1], letters[wide + 2]]]
    asked = [*marks[verdict == _ASK].tolist(), *wide.tolist()]
    found = [match.end() for place in asked if (match := _END.match(data, place))]
    ends = np.sort(np.concatenate([marks[verdict == _YES] + 1, np.array(found, np.int64)]))
    ends = ends[np.diff(ends, prepend=0) > 0]
    a, b, c = (_KIND[letters[ends - before]] for before in (4, 3, 2))
    doubtful = (letters[ends - 1] == ord(".")) & (_tails(language)[a, b, c] | (ends < 4))
    wrong = [at for at in np.flatnonzero(doubtful) if _abbreviated(data, int(ends[at]), language)]
    return np.delete(ends, wrong)


def _abbreviated(data: bytes, end: int, language: str) -> bool:
    """Look at the letters around an end, many more than are needed."""
    before = data[max(0, end - 64) : end].decode("utf-8", "replace")
    behind = data[end : end + 128].decode("utf-8", "replace")
    return is_abbreviation(before + behind, len(before), language)


def sentence_spans(
    text: str, *, wrapped: bool = True, lines: bool = False, language: str = ""
) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; a blank line, or each line, ends one too.

    >>> list(sentence_spans("It rained.  We stayed\\nin."))
    [(0, 10), (12, 25)]
    """
    data, start = text.encode("utf-8", "surrogatepass"), 0
    ends = set() if lines else {*find_ends(data, language).tolist()}
    ends |= {match.end() for match in (_BLANK_LINE if wrapped else _LINE).finditer(data)}
    for first, last in pairwise(sorted({0, *ends, len(data)})):
        piece = data[first:last].decode("utf-8", "surrogatepass")
        if not piece.isspace():
            yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
        start += len(piece)
