"""The one place where a number on the command line is read: finite, and within its range."""

import math
from typing import Any

import click

LARGEST = 2**31  # no option of ours has use for a larger number


class _Between:
    """A number from `min` to `max`; the message says which numbers there are."""

    kind: type[int] | type[float]
    kind_name = "number"
    min: Any
    max: Any
    min_open: bool

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = self.kind(value)
        except (ValueError, OverflowError, TypeError):  # int refuses 5,000 digits
            number = math.nan
        low = number > self.min if self.min_open else number >= self.min
        if not (low and number <= self.max):  # NaN is not
            told = str(value) if len(str(value)) <= 40 else f"{str(value)[:40]}…"
            raise click.BadParameter(f"{told} is not {self.describe()}.", ctx, param)
        return number

    def describe(self) -> str:
        """Say which numbers are taken."""
        least = f"above {self.min:g}, up to" if self.min_open else f"from {self.min:g} to"
        return f"a {self.kind_name} {least} {self.max:,}"


class Whole(_Between, click.IntRange):
    """A whole number from `least` to `most`."""

    kind = int
    kind_name = "whole number"

    def __init__(self, least: int, most: int = LARGEST) -> None:
        click.IntRange.__init__(self, least, most)


class Real(_Between, click.FloatRange):
    """A finite number from `least` (or above it) to `most`."""

    kind = float

    def __init__(self, least: float, most: float, *, above: bool = False) -> None:
        click.FloatRange.__init__(self, least, most, min_open=above)
