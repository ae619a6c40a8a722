"""The conditions of --where: party=Dem and year>=1945. A small parser; nothing is evaluated."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import UsageError

MAX_LENGTH, MAX_DEPTH = 10_000, 50  # characters of a condition, parentheses in parentheses
EXAMPLE = "write for example party=Dem,Rep and year>=1945"
Mask = NDArray[np.bool_]
_TOKEN = re.compile(
    r"""\s*(?:(?P<operator><=|>=|!=|=|<|>)|(?P<mark>[(),])
    |'(?P<single>(?:[^']|'')*)'|"(?P<double>(?:[^"]|"")*)"
    |(?P<word>[^\s()=<>!,'"][^\s()=<>!,]*))""",
    re.X,
)


@dataclass(frozen=True)
class Comparison:
    """A column compared with a value, or with any of several."""

    name: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Joined:
    """Conditions joined by and, or or; not has one condition."""

    word: str
    parts: tuple["Condition", ...]


Condition = Comparison | Joined


def parse_where(text: str) -> Condition:
    """Return the condition that a text states.

    >>> parse_where("year>=1945")
    Comparison(name='year', operator='>=', values=('1945',))
    >>> parse_where("party=Dem,Rep and not state='New York'").word
    'and'
    """
    if len(text) > MAX_LENGTH:
        raise UsageError(f"--where: longer than {MAX_LENGTH:,} characters")
    reader = _Reader(text, [*_tokens(text)])
    condition = reader.read_or(0)
    if reader.at < len(reader.tokens):
        raise reader.failure("expected and, or, or the end")
    return condition


def join_conditions(texts: str | Sequence[str]) -> Condition | None:
    """Return the conditions of several texts, all of which must hold; None for no text."""
    parts = [parse_where(text) for text in ([texts] if isinstance(texts, str) else texts)]
    if len(parts) > 1:
        return Joined("and", tuple(parts))
    return parts[0] if parts else None


def conjuncts(condition: Condition | None) -> Iterator[Condition]:
    """Yield the conditions that must all hold."""
    if isinstance(condition, Joined) and condition.word == "and":
        for part in condition.parts:
            yield from conjuncts(part)
    elif condition is not None:
        yield condition


def names_in(condition: Condition) -> set[str]:
    """Return the names of the columns in a condition."""
    if isinstance(condition, Comparison):
        return {condition.name}
    return set[str]().union(*map(names_in, condition.parts))


def evaluate_condition(condition: Condition, compare: Callable[[Comparison], Mask]) -> Mask:
    """Return which items a condition holds for; compare says so for one comparison."""
    if isinstance(condition, Comparison):
        return compare(condition)
    masks = [evaluate_condition(part, compare) for part in condition.parts]
    if condition.word == "not":
        return ~masks[0]
    return reduce(np.logical_and if condition.word == "and" else np.logical_or, masks)


Token = tuple[str, str]  # kind: operator, mark, word or quoted; text


def _tokens(text: str) -> Iterator[Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].strip()[:20]
            raise UsageError(f"--where: cannot read {rest!r}; {EXAMPLE}")
        kind = match.lastgroup or ""
        part = match[kind]
        if kind in ("single", "double"):
            mark = {"single": "'", "double": '"'}[kind]
            kind, part = "quoted", part.replace(2 * mark, mark)
        yield kind, part
        at = match.end()


class _Reader:
    """Reads tokens by the grammar: or binds less than and, and less than not."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    def failure(self, problem: str) -> UsageError:
        before = " ".join(part for _, part in self.tokens[max(0, self.at - 3) : self.at])
        where = f" after {before[-60:]!r}" if before else ""
        return UsageError(f"--where {self.text[:60]!r}: {problem}{where}; {EXAMPLE}")

    def take(self, kind: str, *texts: str) -> str | None:
        """Return the next token and go on, if it is of this kind, or one of these texts."""
        if self.at < len(self.tokens):
            found, text = self.tokens[self.at]
            if found == kind and (not texts or text.lower() in texts):
                self.at += 1
                return text
        return None

    def read_or(self, depth: int) -> Condition:
        return self._read_joined("or", depth)

    def _read_joined(self, word: str, depth: int) -> Condition:
        parts: list[Condition] = []
        while not parts or self.take("word", word):
            inner = self._read_joined("and", depth) if word == "or" else self._read_one(depth)
            parts.append(inner)
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _read_one(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise self.failure(f"more than {MAX_DEPTH} conditions inside each other")
        if self.take("word", "not"):
            return Joined("not", (self._read_one(depth + 1),))
        if self.take("mark", "("):
            condition = self.read_or(depth + 1)
            if not self.take("mark", ")"):
                raise self.failure("expected )")
            return condition
        name = self.take("word")
        if name is None:
            raise self.failure("expected the name of a column")
        operator = self.take("operator")
        if operator is None:
            raise self.failure("expected =, !=, <, <=, > or >=")
        values = [self._read_value()]
        while self.take("mark", ","):
            values.append(self._read_value())
        if len(values) > 1 and operator not in ("=", "!="):
            raise self.failure(f"{operator} takes one value")
        return Comparison(name, operator, tuple(values))

    def _read_value(self) -> str:
        """Return a quoted value, or words up to the next and, or, comma or parenthesis."""
        if (value := self.take("quoted")) is not None:
            return value
        words = list[str]()
        while self.at < len(self.tokens):
            kind, text = self.tokens[self.at]
            if kind != "word" or (words and text.lower() in ("and", "or")):
                break
            words.append(text)
            self.at += 1
        if not words:
            raise self.failure("expected a value")
        return " ".join(words)
