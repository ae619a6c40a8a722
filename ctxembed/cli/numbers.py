"""The one place where a number on the command line is read: finite, and within its range."""

import math
from typing import Any

import click

LARGEST = 2**31  # no option of ours has use for a larger number


class _Between:
    """A number from `min` to `max`; the message says which numbers there are."""

    kind: type[int] | type[float]
    kind_name: str
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
    """A whole number."""

    kind, kind_name = int, "whole number"


class Real(_Between, click.FloatRange):
    """A finite number."""

    kind, kind_name = float, "number"
