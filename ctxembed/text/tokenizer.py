"""From text to sentences and words.

A word is a run of letters, digits and combining marks of any script; one apostrophe or hyphen
between two such runs belongs to the word, and so does a point or comma between two digits.
Everything else separates.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ctxembed.text.languages import ORDINALS, abbreviations, make_small, starters

RULES = 2  # 1: models whose numbers end at a point or comma
INNER = "##"  # before a piece that goes on with a word, where units are smaller than words
CURLY = str.maketrans({"’": "'", "‐": "-", "‑": "-"})  # one spelling for each joiner


@dataclass(frozen=True)
class Tokenizer:
    """How text becomes words; saved with the model, so that questions are read the same way."""

    kind: str = "word"  # "word" or "whitespace"
    cased: bool = False
    unit: str = "word"  # "subword" and "character" are in subword.py
    language: str = ""  # small letters and sentence ends of a language, where it is told
    rules: int = RULES

    def told(self) -> dict[str, Any]:
        """Return what a model's description says of it."""
        return {name: getattr(self, name) for name in Tokenizer.__dataclass_fields__}

    def words(self, text: str) -> list[str]:
        """Split text into words, or into the smaller or larger units of a tokeniser of those.

        >>> Tokenizer().words("Don't panic: state-of-the-art, naïve!")
        ["don't", 'panic', 'state-of-the-art', 'naïve']
        >>> Tokenizer().words("1,881,135 at $3.50.")
        ['1,881,135', 'at', '3.50']
        """
        if type(self) is not Tokenizer:
            return [unit for unit, _, _ in self.tokens(text)]
        pattern, text = self._pattern(text)
        found = pattern.findall(text)
        return self.normalise("\n".join(found)).split("\n") if found else []

    def split_lines(self, text: str) -> list[str]:
        """Split each line into words, a line break behind each word; no line may hold a NUL.

        >>> Tokenizer().split_lines("It's “naïve”\\n—\\n")
        ["it's\\nnaïve\\n", '']
        """
        pattern, text = self._pattern(text.replace("\n", "\0"))
        found = re.compile("\0|" + pattern.pattern).findall(text)
        return (self.normalise("\n".join(found)) + "\n").split("\0\n")[:-1]

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each unit, and where it begins and ends in the text."""
        pattern, text = self._pattern(text)
        for match in pattern.finditer(text):
            start, end = match.span()
            yield self.normalise(match[0]), start, end

    def normalise(self, word: str) -> str:
        """Give a word the form it has in the vocabulary."""
        if self.kind == "word" and not word.isascii():
            word = word.translate(CURLY)
        if self.cased:
            return word
        return make_small(word, self.language) if self.rules > 1 else word.lower()

    def _pattern(self, text: str) -> tuple[re.Pattern[str], str]:
        """Return what finds the words, and the text in which it does."""
        if self.kind == "whitespace":
            return _compiled(_NO_SPACE), text
        plain = _compiled(_MARKLESS).fullmatch(text)
        pattern = _compiled(_MARKLESS_WORD[self.rules]) if plain else word_pattern(self.rules)
        return pattern, text.replace("_", " ")  # to \w it would be a letter


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed; a question about a word needs none of them."""
    return re.compile(pattern)


_NO_SPACE = r"[^\s\0]+"
# Most text holds none of the many combining marks, nor what joins letters in Persian and Hindi;
# a plain pattern is ten times faster there. These ranges, of common scripts, are free of both.
_MARKLESS = (
    "[\0-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u200b\u200e-\u20cf\u2100-\u2cee"
    "\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ud7ff\uff00-\uffff]*"
)
_IN_NUMBERS = r"(?<=\d)[.,٫٬](?=\d)"
_MARKLESS_WORD = {
    1: r"\w+(?:['’‐‑\-]\w+)*",
    2: rf"\w+(?:(?:['’‐‑\-]|{_IN_NUMBERS})\w+)*",
}


@cache
def word_pattern(rules: int = RULES) -> re.Pattern[str]:
    """Compile the pattern of a word; Python's \\w lacks the marks that Hindi or Thai words need."""
    unit = rf"[\w{_marks()}]"
    joiner = "['’‐‑\\-\u200c\u200d]"  # the last two join letters in Persian and Hindi words
    if rules > 1:
        joiner = f"(?:{joiner}|{_IN_NUMBERS})"
    return re.compile(rf"\w{unit}*(?:{joiner}\w{unit}*)*")  # no mark stands alone


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


MARKS = ".!?…"
FINAL = "।۔؟。！？"  # need no space behind them
CLOSING = "\"'”’“»«)]"  # some open elsewhere, but never right behind a full stop
OPENING = "\"'“‘«»„¿¡(["
FRENCH = " \u00a0\u202f"  # one of these stands before a French »
_LAST_WORD = r"[^\s(\[\"'“‘«„]*\Z"
_LETTERS = r"(?:[^\W\d_]\.)+[^\W\d_]"  # U.S
_NEXT_WORD = r"\W*([^\W\d_]+)"


def is_abbreviation(text: str, end: int, language: str = "") -> bool:
    """Tell whether what ends here is a full stop that belongs to the word before it."""
    before = _compiled(_LAST_WORD).search(text, max(0, end - 13), end - 1)
    word = before[0] if before and text[end - 1] == "." else ""
    if len(word) == 1 and word.isupper():
        return True
    if language in ORDINALS and len(word) < 3 and word.isdecimal():
        return True
    if word.lower() not in abbreviations(language) and not _compiled(_LETTERS).fullmatch(word):
        return False
    follows = _compiled(_NEXT_WORD).match(text, end, end + 20)
    return follows is None or follows[1].lower() not in starters(language)


@dataclass(frozen=True)
class Marked:
    """A sentence as words, and which of them were marked as targets."""

    words: tuple[str, ...]
    targets: tuple[range, ...]  # positions of each marked span, in reading order


_BRACKETS = r"\[([^\[\]]+)\]"


def parse_marked(text: str, tokenizer: Tokenizer) -> Marked:
    """Read a sentence in which targets stand in brackets.

    >>> parse_marked("an [apple] pie", Tokenizer())
    Marked(words=('an', 'apple', 'pie'), targets=(range(1, 2),))
    """
    if "[" not in text:
        return Marked(tuple(tokenizer.words(text)), ())
    words: list[str] = []
    targets: list[range] = []
    for number, part in enumerate(_compiled(_BRACKETS).split(text)):
        first = len(words)
        words += tokenizer.words(part)
        if number % 2 and len(words) > first:  # every second part stood in brackets
            targets.append(range(first, len(words)))
    return Marked(tuple(words), tuple(targets))
