"""What queries take: ranges of numbers, the same as those of the command line, and texts."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from ctxembed.errors import UsageError

MAX_NUMBER = 1 << 31
TEXTS = ("word", "words", "without", "sentences", "word1", "word2")  # a text, or several
COUNT = (Integral, 1, MAX_NUMBER)
# By parameter, or by query and parameter where they differ; a Real is above the first number.
RANGES: dict[str, tuple[type[Any], int, int]] = {
    **dict.fromkeys(("number", "min_count", "min_documents", "top", "most", "permutations"), COUNT),
    "compare.number": (Integral, 1, 100),
    "substitutes.number": (Integral, 1, 200),
    **dict.fromkeys(
        ("senses.most", "senses_by.most", "senses_labelled.most"), (Integral, 20, MAX_NUMBER)
    ),
    "senses_by.bin": (Real, 0, 1_000_000_000),
    "shift.most": (Integral, 10, MAX_NUMBER),
    **dict.fromkeys(
        ("shift.permutations", "collocates_by.permutations", "nearest_by.permutations"),
        (Integral, 1, 1_000_000),
    ),
    "shrink.words": COUNT,
    "evaluate.pairs": (Integral, 1, 1000),
    "fit_task.epochs": (Integral, 1, 1000),
    "learn_attention.epochs": (Real, 0, 1000),
    "learn_attention.rate": (Real, 0, 1000),
    "minutes": (Real, 0, 1440),
    "min_score": (Real, 0, 100),
    "heads": (Integral, 1, 64),
    "learn_attention.layers": (Integral, 1, 4),
    "explain.layer": COUNT,
    "wordlist.length": (Integral, 1, 5),
    "window": (Integral, 1, 1000),
    "width": (Integral, 0, 10_000),
    "nearest": (Integral, 0, 1000),
    "occurrences": (Integral, 0, 1000),
    "frames": (Integral, 0, MAX_NUMBER),
    "seed": (Integral, 0, MAX_NUMBER),
}


def check_numbers(query: str, values: Mapping[str, Any]) -> None:
    """Refuse a number of the wrong kind or out of its range; None is the default."""
    for name, value in values.items():
        limits = RANGES.get(f"{query}.{name}") or RANGES.get(name)
        if limits is None or value is None:
            continue
        kind, low, high = limits
        above = kind is Real
        right = isinstance(value, kind) and (low < value if above else low <= value)
        if not (right and value <= high):  # NaN is not
            what, first = ("number above", "up") if above else ("whole number from", "")
            between = f"{what} {low} {first} to".replace("  ", " ")
            raise UsageError(f"{name}={str(value)[:40]} is not a {between} {high:,}")


def check_text(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse words or sentences that are not text; the lines of an iterator are not read."""
    several = isinstance(value, Iterable) and not isinstance(value, bytes | Mapping)
    items = value if isinstance(value, Sequence) else ()
    if not ((optional and value is None) or (several and all(isinstance(i, str) for i in items))):
        raise UsageError(f"{name}={str(value)[:40]} is not a text, or a list of texts")
