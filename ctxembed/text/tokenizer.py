"""Split text into words; tell content words from function words; other forms of a word.

A word is a run of letters, digits and combining marks of any script; one apostrophe or hyphen
between two such runs belongs to the word, and so does a point or comma between two digits.
Everything else separates words.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ctxembed.text.languages import words_of

# 1: numbers end at a point or comma; 2: é of one and of two characters differ; 3: l'homme is one
# word in French and istanbul'da in Turkish, Bürger:innen is two
RULES = 4
DOTTED_I = ("tr", "az")  # languages in which I and i are two letters, in lowercase ı and i
INNER = "##"  # before a subword that continues a word
BEGINS_SENTENCE = r'[.!?:;"“”(\n]'  # between two words
CURLY = str.maketrans({"’": "'", "‐": "-", "‑": "-"})  # one spelling for each joiner


@dataclass(frozen=True)
class Tokenizer:
    """How text is split into words; saved with the model, so that queries are split alike."""

    kind: str = "word"  # "word" or "whitespace"
    cased: bool = False
    unit: str = "word"  # "subword" and "character" are in subword.py
    language: str = ""  # for lowercase letters and sentence ends; empty if unknown
    rules: int = RULES

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that model.json stores."""
        return {name: getattr(self, name) for name in Tokenizer.__dataclass_fields__}

    def words(self, text: str) -> list[str]:
        """Return the words of a text, or its subwords, characters or phrases.

        >>> Tokenizer().words("Don't panic: state-of-the-art, naïve!")
        ["don't", 'panic', 'state-of-the-art', 'naïve']
        >>> Tokenizer().words("1,881,135 at $3.50.")
        ['1,881,135', 'at', '3.50']
        """
        if type(self) is not Tokenizer:
            return [unit for unit, _, _ in self.tokens(text)]
        pattern, text = self._pattern(text)
        words = pattern.findall(text)
        return self.normalise("\n".join(words)).split("\n") if words else []

    def split_lines(self, text: str) -> list[str]:
        """Return the words of each line, a line break after each word; no line contains NUL."""
        pattern, text = self._pattern(text.replace("\n", "\0"))
        words = re.findall("\0|" + pattern.pattern, text)
        return (self.normalise("\n".join(words)) + "\n").split("\0\n")[:-1]

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each unit with its start and end in the text."""
        pattern, text = self._pattern(text)
        for match in pattern.finditer(text):
            yield self.normalise(match[0]), *match.span()

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where each unit begins and ends in a text.

        >>> Tokenizer().spans("An apple.")
        [(0, 2), (3, 8)]
        """
        if type(self) is not Tokenizer:
            return [(start, stop) for _, start, stop in self.tokens(text)]
        pattern, text = self._pattern(text)
        return [match.span() for match in pattern.finditer(text)]

    def normalise(self, word: str) -> str:
        """Return the form of a word in the vocabulary.

        >>> Tokenizer(language="tr").normalise("Işık İstanbul"), Tokenizer().normalise("İstanbul’a")
        ('ışık istanbul', "istanbul'a")
        >>> Tokenizer().normalise("Cafe\\u0301"), len(Tokenizer(rules=2).normalise("Cafe\\u0301"))
        ('café', 5)
        """
        if word.isascii() and self.language not in DOTTED_I:
            return word if self.cased else word.lower()
        if self.rules > 2:
            word = unicodedata.normalize("NFC", word)
        if self.kind == "word":
            word = word.translate(CURLY)
        if self.cased:
            return word
        if self.rules > 1:
            word = word.replace("İ", "i")  # Python would add a combining dot after the i
        if self.rules > 1 and self.language in DOTTED_I:
            word = word.replace("I", "ı")
        if self.rules < 3:
            return word.lower()
        # Small letters may compose where capitals do not: ǰ. A dot on an i, as of İ, says nothing.
        return unicodedata.normalize("NFC", word.lower().replace("i\u0307", "i"))

    def _pattern(self, text: str) -> tuple[re.Pattern[str], str]:
        """Return the pattern of a word, and the text to search."""
        if self.kind == "whitespace":
            return re.compile(r"[^\s\0]+"), text
        plain = text.isascii() or re.fullmatch(_MARKLESS, text)
        choose = _markless_pattern if plain else word_pattern
        return choose(self.rules, self.language if self.rules > 3 else ""), text.replace(
            "_", " "
        )  # \w would match it


# Ranges of common scripts without combining marks and without the joiners of Persian and Hindi.
# For such text, which is most text, a plain pattern is ten times faster.
_MARKLESS = (
    "[\0-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u200b\u200e-\u20cf\u2100-\u2cee"
    "\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ud7ff\uff00-\uffff]*"
)
_IN_NUMBERS = r"(?<=\d)[.,٫٬](?=\d)"
ELISION = ("fr", "tr", "az")  # languages in which an apostrophe ends a word: l'homme, istanbul'da
_TODAY = "(?<=[aA][uU][jJ][oO][uU][rR][dD])['’](?=[hH][uU][iI])"  # aujourd'hui is one word


@cache
def _joiner(rules: int, language: str, others: str = "") -> str:
    """Return the pattern of what joins two parts of a word; others: more of such letters."""
    apostrophe = "" if language in ELISION else "'’"
    joiner = rf"[{apostrophe}‐‑\-{others}]"
    parts = [joiner, *([_IN_NUMBERS] if rules > 1 else [])]
    if language in ELISION:
        parts.append(_TODAY)
    if rules > 3:
        parts.append(f"(?:[:*]|/-)(?={gender_ending(language)})")
    return f"(?:{'|'.join(parts)})"


def gender_ending(language: str) -> str:
    """Return the pattern of an ending after a gender mark: Bürger:innen; in German also Bürger:in.

    What follows it must be no letter; any character beyond ASCII counts as one.
    """
    ending = "[iI][nN][nN][eE][nN]" if language != "de" else "[iI][nN](?:[nN][eE][nN])?"
    return rf"{ending}(?![A-Za-z0-9\x80-\U0010ffff])"


@cache
def _markless_pattern(rules: int, language: str = "") -> re.Pattern[str]:
    return re.compile(rf"\w+(?:{_joiner(rules, language)}\w+)*")


@cache
def word_pattern(rules: int = RULES, language: str = "") -> re.Pattern[str]:
    """Return the pattern of a word; Python's \\w lacks the combining marks of Hindi and Thai."""
    marks = {code for code in range(0x300, 0x1F000) if unicodedata.category(chr(code))[0] == "M"}
    first = sorted(code for code in marks if code - 1 not in marks)  # ranges are searched faster
    last = sorted(code for code in marks if code + 1 not in marks)
    unit = rf"[\w{''.join(f'{chr(a)}-{chr(b)}' for a, b in zip(first, last, strict=True))}]"
    # These two join letters in Persian and Hindi words.
    joiner = _joiner(rules, language, "\u200c\u200d")
    return re.compile(rf"\w{unit}*(?:{joiner}\w{unit}*)*")  # a mark follows a letter


@dataclass(frozen=True)
class Marked:
    """The words of a sentence, and its marked targets."""

    words: tuple[str, ...]
    targets: tuple[range, ...]  # positions of each marked span, in reading order


def parse_marked(text: str, tokenizer: Tokenizer) -> Marked:
    """Return the words and targets of a sentence with targets in brackets.

    >>> parse_marked("an [apple] pie", Tokenizer())
    Marked(words=('an', 'apple', 'pie'), targets=(range(1, 2),))
    """
    words: list[str] = []
    targets: list[range] = []
    for number, part in enumerate(re.split(r"\[([^\[\]]+)\]", text) if "[" in text else [text]):
        first = len(words)
        words += tokenizer.words(part)
        if number % 2 and len(words) > first:  # every second part was in brackets
            targets.append(range(first, len(words)))
    return Marked(tuple(words), tuple(targets))


def find_capitals(text: str, tokenizer: Tokenizer) -> list[bool | None]:
    """Return for each word whether it begins with a capital; None where that says nothing.

    Any word begins a sentence with one, most have one in a headline, and none in a hasty message.

    >>> find_capitals("We ate [apple] pie at Apple. Great!", Tokenizer())
    [None, False, False, False, False, True, None]
    >>> find_capitals("Apple opens New York Shop", Tokenizer()), find_capitals("hi", Tokenizer())
    ([None, False, None, None, None], [None])
    """
    plain = re.sub(r"[\[\]]", " ", text)
    spans = [(start, end) for _, start, end in tokenizer.tokens(plain)]
    capitals = [plain[start].isupper() for start, _ in spans]
    total, end, says = sum(capitals), 0, list[bool | None]()
    for (start, next_end), capital in zip(spans, capitals, strict=True):
        first = not end or re.search(BEGINS_SENTENCE, plain[end:start]) is not None
        headline = 2 * (total - 1) > len(spans) - 1
        says.append((None if first or headline else True) if capital else False if total else None)
        end = next_end
    return says


def number_repeats(tokens: Sequence[str]) -> list[str]:
    """Return tokens with a number after each repeated one.

    >>> number_repeats(["apple", "and", "apple"])
    ['apple', 'and', 'apple:2']
    """
    seen: Counter[str] = Counter()
    names = []
    for token in tokens:
        seen[token] += 1
        names.append(token if seen[token] == 1 else f"{token}:{seen[token]}")
    return names


MANY = 1000  # words of a vocabulary; in a smaller one a frequent word may be any word
MIN_SINGULAR = 3  # letters of a singular: "as" is no plural of "a"
COMMON = 0.01  # fraction of the corpus; more frequent words are function words in any language


def is_content(word: str, frequency: float, function_words: Container[str] | None = None) -> bool:
    """Return whether a word carries content: no function word (English ones), not too frequent.

    >>> is_content("apple", 0.003), is_content("the", 0.06), is_content("und", 0.03)
    (True, False, False)
    """
    known = words_of("function", "en") if function_words is None else function_words
    return word.lower() not in known and frequency < COMMON


CONTRACTED = re.compile(r"'(?:s|ll|d|re|ve|m)?$", re.I)  # what follows the first word


def other_forms(word: str) -> Iterator[str]:
    """Yield other spellings and numbers of a word, the likeliest first; some may come twice.

    A contraction is its first word. Nothing is joined: he'll is not hell, 9-11 is not 911.

    >>> list(other_forms("E-mail"))
    ['e-mail', 'E-mail', 'E-MAIL', 'E-mail', 'E-mails', 'e-mails']
    >>> [list(other_forms(word))[3] for word in ("he'll", "apple's", "boys'")]
    ['he', 'apple', 'boys']
    """
    yield from (word.lower(), word.capitalize(), word.upper())
    yield CONTRACTED.sub("", word)
    yield from (*plural_or_singulars(word), *plural_or_singulars(word.lower()))


def plural_or_singulars(word: str) -> Iterator[str]:
    """Yield the English plural of a singular, or the possible singulars of a plural.

    >>> [list(plural_or_singulars(word)) for word in ("nail", "city", "boxes", "glass", "a")]
    [['nails'], ['cities'], ['boxe', 'box'], ['glasses'], []]
    """
    if len(word) > MIN_SINGULAR and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-3] + "y" if word.endswith("ies") else word[:-1]
        if word.endswith("es"):
            yield word[:-2]
    elif len(word) >= MIN_SINGULAR and word[-1].isalpha():
        if word.endswith("y") and word[-2] not in "aeiou":
            yield word[:-1] + "ies"
        else:
            yield word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
