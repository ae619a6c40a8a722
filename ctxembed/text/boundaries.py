"""Find where sentences end, and blank lines, among the bytes of a text."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.languages import ORDINALS, words_of

MARKS = ".!?…"
FINAL = "।۔؟。！？"  # need no space after them
CLOSING = "\"'”’“»«)]"  # some also open a quotation, but not directly after a full stop
OPENING = "\"'“‘«»„¿¡(["
FRENCH = " \u00a0\u202f"  # one of these precedes a French »
_SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
_WIDE_MARKS = "…" + FINAL
_MAY_BE_BLANK = np.array([code > 127 or chr(code).isspace() for code in range(256)])


def _any_of(characters: Iterable[str]) -> bytes:
    """Return a regular expression for one of several characters in UTF-8."""
    return b"(?:" + b"|".join(re.escape(char.encode()) for char in characters) + b")"


_SPACE = _any_of(_SPACES)
_END = re.compile(
    _any_of(MARKS + FINAL) + b"+" + _any_of([*CLOSING, *(f"{space}»" for space in FRENCH)]) + b"*"
    b"(?=" + _SPACE + b"|" + b"|".join(b"(?<=" + char.encode() + b")" for char in FINAL) + b")"
    b"(?!" + _SPACE + b"*" + _any_of(OPENING) + b"*(?:[a-z]|\xc3[\x9f-\xb6\xb8-\xbf]))"
)
_BLANK_LINE = re.compile(b"\\n(?:(?!\\n)" + _SPACE + b")*\\n" + _SPACE + b"*")
# Whether a sentence ends at a full stop, by the two bytes after it; if unsure, _END decides.
_NO, _YES, _UNSURE = range(3)
_ENDS = np.full((256, 256), _NO, np.uint8)
_ASCII_SPACES = [ord(char) for char in _SPACES if char.isascii()]
_ENDS[_ASCII_SPACES] = _YES
_ENDS[_ASCII_SPACES, ord("a") : ord("z") + 1] = _NO
_ENDS[np.ix_(_ASCII_SPACES, [*_ASCII_SPACES, *range(128, 256), *b"\"'(["])] = _UNSURE
_ENDS[[*range(128, 256), *b".!?\"')]"]] = _UNSURE
_EDGE, _POINT, _DIGIT, _WIDE = 0, 28, 29, 31  # kinds of bytes; 1 to 26 is a letter of any case
_KIND = np.arange(256) & 31
_KIND[ord(".")] = _POINT
_KIND[ord("0") : ord("9") + 1] = _DIGIT
_KIND[[*_ASCII_SPACES, *b"(\"'["]] = _EDGE
_KIND[128:] = _WIDE


@cache
def _abbreviation_ends(language: str) -> NDArray[np.bool_]:
    """Return (32, 32, 32) whether an abbreviation may end with bytes of these three kinds."""
    table = np.zeros((32, 32, 32), np.bool_)
    for word in words_of("abbreviations", language):
        *first, second, third = _KIND[list(f" {word}".encode()[-3:])]
        edge = [_EDGE, _WIDE]  # a space may be of several bytes
        table[edge if first in ([], [_EDGE]) else first, second, third] = True
    table[:, [_EDGE, _WIDE, _POINT], 1:27] = True  # a single letter, the last one of U.S.
    table[:, :, _WIDE] = True
    if language in ORDINALS:
        table[:, :, _DIGIT] = True
    return table


_LATER = np.zeros((256, 256), np.bool_)  # second and third byte of a mark of several bytes
for _mark in _WIDE_MARKS:
    _LATER[_mark.encode()[1], _mark.encode()[2] if len(_mark.encode()) > 2 else slice(None)] = True


def find_ends(data: bytes, language: str = "") -> NDArray[np.int64]:
    """Return the byte offsets at which sentences of a UTF-8 text end, without the last one.

    >>> find_ends(b"Dr. Who came. Yes! So").tolist()
    [13, 18]
    """
    letters = np.frombuffer(data + bytes(3), np.uint8)
    marks = np.flatnonzero((letters == ord(".")) | (letters == ord("!")) | (letters == ord("?")))
    verdict = _ENDS[letters[marks + 1], letters[marks + 2]]
    wide = np.flatnonzero(letters >= min(_WIDE_MARKS).encode()[0])
    wide = wide[_LATER[letters[wide + 1], letters[wide + 2]]]
    unsure = [*marks[verdict == _UNSURE].tolist(), *wide.tolist()]
    matches = [match.end() for offset in unsure if (match := _END.match(data, offset))]
    ends = np.sort(np.concatenate([marks[verdict == _YES] + 1, np.array(matches, np.int64)]))
    ends = ends[np.diff(ends, prepend=0) > 0]
    a, b, c = (_KIND[letters[ends - before]] for before in (4, 3, 2))
    point = letters[ends - 1] == ord(".")
    doubtful = np.flatnonzero(point & (_abbreviation_ends(language)[a, b, c] | (ends < 4)))
    wrong = []
    for row, end in zip(doubtful.tolist(), ends[doubtful].tolist(), strict=True):
        before = data[max(0, end - 64) : end].decode("utf-8", "replace")
        after = data[end : end + 128].decode("utf-8", "replace")
        if is_abbreviation(before + after, len(before), language):
            wrong.append(row)
    return np.delete(ends, wrong)


def is_abbreviation(text: str, end: int, language: str = "") -> bool:
    """Return whether the full stop before `end` belongs to an abbreviation."""
    before = re.compile(r"[^\s(\[\"'“‘«„]*\Z").search(text, max(0, end - 13), end - 1)
    word = before[0] if before and text[end - 1] == "." else ""
    if len(word) == 1 and word.isupper():
        return True
    if language in ORDINALS and len(word) < 3 and word.isdecimal():
        return True
    initials = re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word)  # U.S
    if word.lower() not in words_of("abbreviations", language) and not initials:
        return False
    follows = re.compile(r"\W*([^\W\d_]+)").match(text, end, end + 20)
    return follows is None or follows[1].lower() not in words_of("starters", language)


def sentence_spans(
    text: str, *, wrapped: bool = True, lines: bool = False, language: str = ""
) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; a blank line, or each line, ends one too.

    >>> list(sentence_spans("It rained.  We stayed\\nin."))
    [(0, 10), (12, 25)]
    """
    data, start = text.encode("utf-8", "surrogatepass"), 0
    ends = set() if lines else {*find_ends(data, language).tolist()}
    ends |= {match.end() for match in re.finditer(_BLANK_LINE if wrapped else b"\n", data)}
    for first, last in pairwise(sorted({0, *ends, len(data)})):
        piece = data[first:last].decode("utf-8", "surrogatepass")
        if not piece.isspace():
            yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
        start += len(piece)


def find_blank_lines(data: bytes, breaks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the byte offsets of blank lines, from those of line breaks."""
    begins = np.append(0, breaks[:-1] + 1)[: len(breaks)]
    empty = begins == breaks
    letters = np.frombuffer(data, np.uint8)
    spaces = _MAY_BE_BLANK[letters[begins]] & _MAY_BE_BLANK[letters[breaks - 1]] & ~empty
    for row in np.flatnonzero(spaces).tolist():
        empty[row] = data[begins[row] : breaks[row]].decode("utf-8", "replace").isspace()
    return np.asarray(begins[empty])
