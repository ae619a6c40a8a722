"""What may be asked over the wire: every value has its type and its size."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ctxembed.errors import UsageError

LETTERS = 2000  # of a sentence
WORDS = 120
SENTENCES = 4
AXES = 6


def check(asked: Mapping[str, Any]) -> None:
    """Refuse what is of another type, or larger, than a page would send."""
    for name, value in asked.items():
        if name not in CHECKS:
            raise UsageError(f"nothing takes {name!r}")
        if not CHECKS[name](value):
            raise UsageError(f"{name}: this cannot be asked so")


def _sentence(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    if len(value) > LETTERS or len(value.split()) > WORDS:
        raise UsageError(f"the sentence is too long: {WORDS} words are the most here")
    return True


def _sentences(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= SENTENCES and all(map(_sentence, value))


def _name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 100


def _axes(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= AXES
        and all(map(_name, value))
        and all(isinstance(words, list) and 0 < len(words) <= 20 for words in value.values())
        and all(_name(word) for words in value.values() for word in words)
    )


def _weights(value: Any) -> bool:
    if isinstance(value, str):  # the name of an example
        return _name(value)
    return (
        isinstance(value, dict)
        and len(value) <= WORDS
        and all(re.fullmatch(r"\d{1,4}", str(place)) for place in value)
        and all(isinstance(weight, int | float) and 0 <= weight <= 1 for weight in value.values())
    )


CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "sentence": _sentence,
    "sentences": _sentences,
    "words": _sentences,
    "word": _name,
    "attention": _name,
    "general": lambda value: bool(re.fullmatch(r"(textbook|scaled|cosine)(:[\d.]{1,6})?", value)),
    "head": lambda value: bool(re.fullmatch(r"\d{1,2}", value)),
    "over": _sentence,
    "method": lambda value: value in ("one-hot", "bow", "tfidf"),
    "encoding": lambda value: value in ("none", "sinusoidal"),
    "vectors": _name,
    "axes": _axes,
    "weights": _weights,
}
