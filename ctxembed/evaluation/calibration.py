"""Calibration: of the answers that are 0.8 sure, are 0.8 right?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.evaluation import metrics
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Chart, Column, Table

BINS = 10
CALIBRATION = (
    Column("set", "the file or set", "label"),
    Column("above", "with --calibration: lower end of the bin; bins are 0.1 wide"),
    Column("sure", "with --calibration: mean of sure in the bin"),
    Column("right", "with --calibration: share of right answers in the bin"),
    Column("low", "lower end of its 95 % interval"),
    Column("high", "upper end"),
    Column("items", "how many answers are in the bin"),
)
DRAWN = tuple(Column(name) for name in ("set", "line", "sure", "right", "low", "high"))


@dataclass(frozen=True)
class Calibration:
    """How often the answers of each bin of `sure` are right."""

    name: str  # of the set
    error: float  # expected calibration error: mean of |sure - right|, weighted by items
    rows: Sequence[tuple[float, float, float, float, float, int]]  # CALIBRATION without set

    @classmethod
    def measure(
        cls, name: str, sure: Floats, right: NDArray[np.bool_], rng: np.random.Generator
    ) -> "Calibration":
        """Return the calibration of answers (n,).

        >>> right = np.array([True, True, True, False])
        >>> own = Calibration.measure("", np.array([0.95] * 4), right, np.random.default_rng(1))
        >>> round(own.error, 6), own.rows[0][:3]
        (0.2, (0.9, 0.95, 0.75))
        """
        bins = np.minimum((sure * BINS).astype(int), BINS - 1)
        rows, error = [], 0.0
        for number in np.unique(bins).tolist():
            own = bins == number
            mean, size = float(sure[own].mean()), int(own.sum())
            figure = metrics.proportion(right[own], metrics.resample(size, rng))
            error += abs(mean - figure.value) * size / len(sure)
            rows.append((number / BINS, mean, figure.value, *figure.interval(), size))
        return cls(name, error, rows)

    def lines(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the points of the chart: the answers, and the diagonal of perfect calibration."""
        for _, sure, right, low, high, _ in self.rows:
            yield self.name, "answers", sure, right, low, high
        for end in (0.0, 1.0):
            yield self.name, "sure = right", end, end, None, None


def tabulate_calibration(sets: Sequence[Calibration], notes: Sequence[str]) -> Table:
    """Return a row for each bin of each set."""
    rows = [(one.name, *row) for one in sets for row in one.rows]
    drawn = Table(DRAWN, [row for one in sets for row in one.lines()])
    chart = Chart(
        "lines", ["right"], "sure", series=["line"], panel=["set"], low="low", high="high",
        domain=(0.0, 1.0), title="how often an answer is right, by how sure it is",
        of=lambda: drawn,
    )  # fmt: skip
    return Table(CALIBRATION, rows, notes, chart=chart)
