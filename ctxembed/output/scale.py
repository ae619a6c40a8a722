"""Where numbers lie between two places of a picture, and which are written beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10


@dataclass(frozen=True)
class Scale:
    """Where numbers lie between two places of a sheet."""

    low: float
    high: float
    start: float
    end: float
    tick: float = 0.0  # the distance of its ticks, where it is chosen

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.5
        return self.start + share * (self.end - self.start)

    @property
    def step(self) -> float:
        """The distance of its ticks: 1, 2 or 5 of some power of ten."""
        if self.tick:
            return self.tick
        rough = (self.high - self.low) / 5 or 1.0
        ten = 10.0 ** floor(log10(rough))
        return next(m * ten for m in (1, 2, 5, 10) if m * ten >= rough * 0.99)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Numbers to write beside it, and how."""
        step = self.step
        digits = max(0, -floor(log10(step) + 1e-9))
        first, last = -floor(-self.low / step + 1e-9), floor(self.high / step + 1e-9)
        return [(i * step, f"{i * step:.{digits}f}") for i in range(first, last + 1)]


def scale(
    values: Sequence[float], domain: tuple[float, float] | None = None, *, close: bool = False
) -> Scale:
    """Make a scale for values; without a domain it holds 0, and ends at a tick unless `close`.

    >>> made = scale([0.31, 0.07])
    >>> made.low, round(made.high, 9), made.ticks[1]
    (0.0, 0.4, (0.1, '0.1'))
    """
    if domain is not None:
        return Scale(*domain, 0, 1)
    low, high = min([0.0, *values]), max([0.0, *values])
    if low == high:
        high = 1.0
    if close:
        return Scale(low, high, 0, 1)
    step = Scale(low, high, 0, 1).step
    ends = step * floor(low / step + 1e-6), -step * floor(-high / step + 1e-6)
    return Scale(*ends, 0, 1, step)
