"""Where in a corpus words occur."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits
from ctxembed.table import Chart, Column, Table
from ctxembed.text.index import Index

PARTS = 20  # equal parts of a corpus
DISPERSION = (
    Column("word", "what was asked for", "label"),
    Column("percent", "where the part ends: percent of the words of the corpus"),
    Column("count", "its occurrences in this part"),
)


def draw_dispersion(index: Index, matches: Sequence[Hits]) -> Chart:
    """Return the chart of how often words occur in each of 20 equal parts of a corpus."""
    percents = [100 * part // PARTS for part in range(1, PARTS + 1)]

    def count() -> Table:
        rows = [
            (hits.query, percent, number)
            for hits in matches
            for percent, number in zip(
                percents, count_in_parts(hits.positions, len(index.ids)).tolist(), strict=True
            )
        ]
        return Table(DISPERSION, rows)

    title = f"occurrences in each of {PARTS} equal parts of the corpus"
    return Chart("heat", ["count"], "percent", ["word"], title=title, of=count)


def count_in_parts(positions: NDArray[np.int64], words: int) -> NDArray[np.intp]:
    """Return (20,) how many of the positions are in each part of a corpus of so many words.

    >>> count_in_parts(np.array([0, 1, 99]), 100).tolist()
    [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    return np.bincount(positions * PARTS // max(1, words), minlength=PARTS)
