"""The one look at the numbers that options are given: NaN and infinity pass every range."""

import math
from collections.abc import Iterable

import click

MOST = 2**31  # no option of ours has use for more


def check_numbers(ctx: click.Context, params: Iterable[click.Parameter]) -> None:
    """Refuse what is no number to calculate with."""
    for param in params:
        value = ctx.params.get(param.name or "")
        if isinstance(value, float) and not math.isfinite(value):
            raise click.BadParameter(f"{value} is no number to calculate with.", ctx, param)
        if isinstance(value, int) and abs(value) > MOST:
            raise click.BadParameter(f"{value} is too large.", ctx, param)
