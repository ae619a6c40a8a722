"""The language of patterns: bank|banks, "war ? poverty", /re/, lemma=go, bank&pos=NOUN."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ctxembed.errors import UsageError
from ctxembed.text.records import LAYERS

MAX_EXPANSIONS = 64  # of a pattern with optional words
MAX_REGEX, MAX_REPEATS = 200, 4  # letters, and * or + or {n,} in it
MAX_REPEAT = 65_535  # what re calls no limit is larger
_LAYER = re.compile(rf"({'|'.join(LAYERS)})=(.+)")


@dataclass(frozen=True)
class Element:
    """A word of a pattern: it is one of several, and its lemma and part of speech fit."""

    words: tuple[str, ...] = ()  # a word, word* or /regex/; none is any word
    layers: tuple[tuple[str, tuple[str, ...]], ...] = ()  # name, values
    optional: bool = False

    def __str__(self) -> str:
        parts = ["|".join(self.words)] if self.words else []
        return "&".join([*parts, *(f"{name}={'|'.join(of)}" for name, of in self.layers)]) or "*"


def is_pattern(query: str) -> bool:
    """Return whether a query is more than words in a row.

    >>> [is_pattern(query) for query in ("New York", "bank*", "a|b", "war ? peace", "and/or")]
    [False, True, True, True, False]
    """
    parts = query.split()
    return "*" in query or any(
        "|" in part or part == "?" or _is_regex(part)
        or any(_LAYER.fullmatch(piece) for piece in part.split("&"))
        or (len(parts) > 1 and len(part) > 1 and part.endswith("?"))
        for part in parts
    )  # fmt: skip


def parse_pattern(query: str) -> list[Element]:
    """Return the elements of a pattern, which are separated by spaces.

    >>> [str(element) for element in parse_pattern("war|wars on ? /pover.*/ lemma=end&pos=V*")]
    ['war|wars', 'on', '*', '/pover.*/', 'lemma=end&pos=V*']
    """
    return [_parse_element(part) for part in query.split()]


def expand(elements: Sequence[Element]) -> Iterator[list[Element]]:
    """Yield the pattern with and without each optional word, the longest first."""
    optional = sum(element.optional for element in elements)
    if 2**optional > MAX_EXPANSIONS:
        raise UsageError(f"at most 6 words of a pattern may be optional, not {optional}")
    choices = [(True, False) if element.optional else (True,) for element in elements]
    kept = [
        [element for element, keep in zip(elements, which, strict=True) if keep]
        for which in product(*choices)
    ]
    yield from sorted((one for one in kept if one), key=len, reverse=True)


def _parse_element(part: str) -> Element:
    if part in ("?", "*"):
        return Element(optional=part == "?")
    if part.endswith("?") and not _is_regex(part):
        return replace(_parse_element(part[:-1]), optional=True)
    words, layers = tuple[str, ...](), list[tuple[str, tuple[str, ...]]]()
    for piece in _split(part, "&"):
        match = _LAYER.fullmatch(piece)
        if match:
            layers.append((match[1], tuple(_split(match[2], "|"))))
        elif words:
            raise UsageError(f"{part!r}: two words joined by &; | is for one or the other")
        elif piece != "*":
            words = tuple(_split(piece, "|"))
    for text in (*words, *(value for _, values in layers for value in values)):
        if _is_regex(text):
            compile_regex(text)
    return Element(words, tuple(layers))


def _split(text: str, mark: str) -> list[str]:
    """Return the parts between marks that are not inside a /regex/; none may be empty."""
    if _is_regex(text) and "/" not in text[1:-1].replace("\\/", ""):
        return [text]
    parts, inside, current = list[str](), False, ""
    for at, letter in enumerate(text):
        begins = not inside and letter == "/" and not current
        ends = inside and letter == "/" and text[at - 1] != "\\"
        if begins or ends:
            inside = begins
        if letter == mark and not inside:
            parts.append(current)
            current = ""
        else:
            current += letter
    parts.append(current)
    if not all(parts):
        raise UsageError(f"{text!r}: nothing on one side of {mark}; write for example bank|banks")
    return parts


def _is_regex(text: str) -> bool:
    return len(text) > 2 and text[0] == text[-1] == "/"


def compile_regex(text: str) -> re.Pattern[str]:
    """Return the pattern of /regex/, for whole words; refuse what could take exponential time."""
    inner = text[1:-1]
    try:
        if len(inner) > MAX_REGEX:
            raise UsageError(f"{text[:40]}…: longer than {MAX_REGEX} letters")
        _check_regex(inner)
        return re.compile(inner, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{text}: not a regular expression: {error}") from None


def _check_regex(inner: str) -> None:
    """Refuse repeats within repeats, too many of them, and references to groups."""
    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_parse as parser

    repeats = 0

    def walk(items: Any, inside: bool) -> None:
        nonlocal repeats
        for kind, value in items:
            name = str(kind)
            if "GROUPREF" in name or "ASSERT" in name:
                raise UsageError(f"/{inner}/: references and conditions of groups are not taken")
            if name.endswith("_REPEAT"):
                low, high, body = value
                many = int(high) > 1
                repeats += many
                if (many and inside) or (int(low) > 100):
                    raise UsageError(f"/{inner}/: a repeat within a repeat may take forever")
                walk(body, inside or many)
            elif name == "SUBPATTERN":
                walk(value[-1], inside)
            elif name == "BRANCH":
                for branch in value[1]:
                    walk(branch, inside)
            elif name == "ATOMIC_GROUP":
                walk(value, inside)

    walk(parser.parse(inner), False)
    if repeats > MAX_REPEATS:
        raise UsageError(f"/{inner}/: more than {MAX_REPEATS} repeats; write a shorter one")
