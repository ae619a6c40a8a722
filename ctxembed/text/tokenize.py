"""From text to sentences and words.

A word is a run of letters, digits and combining marks of any script; one apostrophe or hyphen
between two such runs belongs to the word. Everything else separates.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

CURLY = str.maketrans({"’": "'", "‐": "-", "‑": "-"})  # one spelling for each joiner


@dataclass(frozen=True)
class Tokenizer:
    """How text becomes words; saved with the model, so that questions are read the same way."""

    kind: str = "word"  # "word" or "whitespace"
    cased: bool = False

    def words(self, text: str) -> list[str]:
        """Split text into words.

        >>> Tokenizer().words("Don't panic: state-of-the-art, naïve!")
        ["don't", 'panic', 'state-of-the-art', 'naïve']
        """
        return [self.normalise(text[start:end]) for start, end in self.spans(text)]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where each word begins and ends in the text."""
        if self.kind == "whitespace":
            return (match.span() for match in re.finditer(r"\S+", text))
        return (match.span() for match in word_pattern().finditer(no_underscores(text)))

    def normalise(self, word: str) -> str:
        """Give a word the form it has in the vocabulary."""
        if self.kind == "word":
            word = word.translate(CURLY)
        return word if self.cased else word.lower()


@cache
def word_pattern() -> re.Pattern[str]:
    """Compile the pattern of a word; Python's \\w lacks the marks that Hindi or Thai words need.

    It takes the underscore for a letter: give it text from `no_underscores`.
    """
    unit = rf"[\w{_marks()}]"
    joiner = "['’‐‑\\-\u200c\u200d]"  # the last two join letters in Persian and Hindi words
    return re.compile(rf"{unit}+(?:{joiner}{unit}+)*")


def no_underscores(text: str) -> str:
    """Turn underscores into spaces; every place in the text stays the same."""
    return text.replace("_", " ")


def _marks() -> str:
    """List the combining marks as ranges for a character class."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x1F000):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# A full stop after these, or after a single capital letter, ends no sentence.
_ABBREVIATIONS = """
mr mrs ms dr prof st sr jr gen col capt lt sgt rev hon gov sen rep mt ft no vol fig vs cf
e.g i.e etc approx ca
"""
_NO_END = frozenset(_ABBREVIATIONS.split())
_END = re.compile(
    r"[.!?…।۔。！？]+[\"'”’)\]]*(?=\s|(?<=[।۔。！？]))"  # CJK writes no space behind it
    r"(?!\s*[\"'“‘(\[]*[a-zß-öø-ÿ])"  # the next sentence begins with no small letter
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]*\Z")


def mark_sentences(text: str, mark: str = "\x1e") -> str:
    """Put a mark behind each sentence; nothing else changes.

    >>> mark_sentences('Dr. Who came. "Ready?" she asked. Yes!', mark="|")
    'Dr. Who came.| "Ready?" she asked.| Yes!'
    """
    pieces = []
    place = 0
    for match in _END.finditer(text):
        start, end = match.span()
        if match[0] == "." and _is_abbreviation(text[max(0, start - 12) : start]):
            continue
        pieces.append(text[place:end])
        place = end
    pieces.append(text[place:])
    return mark.join(pieces)


def _is_abbreviation(before: str) -> bool:
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    return (len(word) == 1 and word.isupper()) or word.lower() in _NO_END


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences; a blank line always ends one.

    >>> split_sentences("It rained. We stayed in.")
    ['It rained.', 'We stayed in.']
    """
    pieces = mark_sentences(re.sub(r"\n\s*\n", "\n\n\x1e", text)).split("\x1e")
    return [piece.strip() for piece in pieces if piece.strip()]


@dataclass(frozen=True)
class Marked:
    """A sentence as words, and which of them were marked as targets."""

    words: tuple[str, ...]
    targets: tuple[range, ...]  # positions of each marked span, in reading order


_BRACKETS = re.compile(r"\[([^\[\]]+)\]")


def parse_marked(text: str, tokenizer: Tokenizer) -> Marked:
    """Read a sentence in which targets stand in brackets.

    >>> parse_marked("an [apple] pie", Tokenizer())
    Marked(words=('an', 'apple', 'pie'), targets=(range(1, 2),))
    """
    words: list[str] = []
    targets: list[range] = []
    place = 0
    for match in _BRACKETS.finditer(text):
        words += tokenizer.words(text[place : match.start()])
        first = len(words)
        words += tokenizer.words(match[1])
        if len(words) > first:
            targets.append(range(first, len(words)))
        place = match.end()
    words += tokenizer.words(text[place:])
    return Marked(tuple(words), tuple(targets))
