"""Which words lie nearest?"""

from collections.abc import Sequence

import numpy as np

from ctxembed.model import Floats, Model, unit
from ctxembed.table import Table


def nearest(
    model: Model,
    vectors: Floats,
    number: int,
    without: Sequence[Sequence[int]] = (),
    space: Floats | None = None,
) -> list[list[tuple[str, float]]]:
    """Find the words nearest to each vector (n, d), leaving out the rows named for it.

    `space` (V, d) holds the words as the attention that made the vectors sees them.
    """
    units = model.units if space is None or space is model.vectors else unit(space)
    cosines = unit(np.atleast_2d(vectors)) @ units.T  # (n, V)
    for row, rows in zip(cosines, without, strict=False):
        row[list(rows)] = -np.inf
    found = []
    for row in cosines:
        most = min(number, len(row) - 1)
        best = np.argpartition(-row, most)[: most + 1]
        best = best[np.lexsort((best, -row[best]))][:number]  # ties: the more frequent word first
        found.append([(model.vocab[i], float(row[i])) for i in best if row[i] > -np.inf])
    return found


def neighbors(model: Model, words: Sequence[str], number: int = 10) -> Table:
    """Rank the nearest words of each word."""
    rows = [model.row(word) for word in words]
    found = nearest(model, model.vectors[rows], number, [[row] for row in rows])
    return Table(
        ("word", "rank", "neighbor", "cosine"),
        [
            (model.vocab[row], rank, word, cosine)
            for row, best in zip(rows, found, strict=True)
            for rank, (word, cosine) in enumerate(best, 1)
        ],
    )


def analogy(model: Model, a: str, b: str, c: str, number: int = 5) -> Table:
    """Rank the words nearest to b - a + c."""
    rows = [model.row(word) for word in (a, b, c)]
    ua, ub, uc = unit(model.vectors[rows])
    (found,) = nearest(model, ub - ua + uc, number, [rows])
    return Table(
        ("rank", "word", "cosine"),
        [(rank, word, cosine) for rank, (word, cosine) in enumerate(found, 1)],
    )
