"""Check the type and size of every parameter that a request may have."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ctxembed.errors import UsageError

MAX_CHARACTERS = 2000  # of a sentence
MAX_WORDS = 120
MAX_SENTENCES = 4
MAX_AXES = 6


def check(parameters: Mapping[str, Any]) -> None:
    """Raise UsageError if a parameter is unknown, of a wrong type or too large."""
    for name, value in parameters.items():
        if name not in CHECKS:
            raise UsageError(f"Unknown parameter {name!r}.")
        if not CHECKS[name](value):
            raise UsageError(f"Invalid value of {name}.")


def _is_sentence(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    if len(value) > MAX_CHARACTERS or len(value.split()) > MAX_WORDS:
        raise UsageError(f"The sentence is too long. The limit is {MAX_WORDS} words.")
    return True


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 100


def _is_index(value: Any) -> bool:
    return type(value) is int and 0 <= value < MAX_CHARACTERS


def _all_are(value: Any, kind: Any, limit: int, check: Callable[[Any], bool]) -> bool:
    return isinstance(value, kind) and len(value) <= limit and all(map(check, value))


def _are_sentences(value: Any) -> bool:
    return value != [] and _all_are(value, list, MAX_SENTENCES, _is_sentence)


def _are_axes(value: Any) -> bool:
    return _all_are(value, dict, MAX_AXES, _is_name) and all(
        words != [] and _all_are(words, list, 20, _is_name) for words in value.values()
    )


def _are_weights(value: Any) -> bool:
    if isinstance(value, str):  # the name of an example
        return _is_name(value)
    return _all_are(value, dict, MAX_WORDS, _matches(r"\d{1,4}")) and all(
        isinstance(weight, int | float) and 0 <= weight <= 1 for weight in value.values()
    )


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: bool(re.fullmatch(pattern, value))


CHECKS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("sentence", "over"), _is_sentence),
    **dict.fromkeys(("sentences", "words"), _are_sentences),
    **dict.fromkeys(("word", "attention", "vectors"), _is_name),
    "general": _matches(r"(textbook|scaled|cosine)(:[\d.]{1,6})?"),
    "head": _matches(r"\d{1,2}"),
    "method": _matches("one-hot|bow|tfidf"),
    "encoding": _matches("none|sinusoidal"),
    "narrow": lambda value: isinstance(value, bool),
    "target": _is_index,
    "gone": lambda value: _all_are(value, list, MAX_WORDS, _is_index),
    "axes": _are_axes,
    "weights": _are_weights,
}
