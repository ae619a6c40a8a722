"""A target as a sum of words, and the columns that name a target."""

from collections.abc import Sequence

from ctxembed.table import Column, round_to_total

SENTENCE = Column("sentence", "with several sentences: the number of its line, from 1", "label")
TARGET = Column("target", "the word explained; apple:2 is the second apple", "label")
RECIPE = Column("recipe", "with --recipe: the target as a sum of itself and its context", "long")


def write_recipe(target: str, tokens: list[str], weights: Sequence[float], digits: int = 2) -> str:
    """Return weights as a sum; the printed ones add up.

    >>> write_recipe("bank", ["money", "bank", "grows"], [0.25, 0.70, 0.05])
    'bank = 0.25 money + 0.70 bank + 0.05 grows'
    """
    terms = [
        f"{weight} {token}"
        for token, weight in zip(tokens, round_to_total(weights, digits), strict=True)
        if weight.strip("0.") or len(tokens) == 1
    ]
    return f"{target} = {' + '.join(terms)}"
