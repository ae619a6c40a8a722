"""A word's occurrences on a map: two dimensions, and how much they leave out."""

from collections.abc import Sequence

import numpy as np

from ctxembed.ask.induce import make_space
from ctxembed.context.occurrences import Places, corpus_of, quote, read
from ctxembed.context.representations import Representations
from ctxembed.static.k_means import Labels
from ctxembed.static.space import Floats
from ctxembed.table import Cell, Chart, Column, Table

MOST = 5000  # points; more are a blot
SENSE_MAP = (
    Column("x", "the direction in which the occurrences vary most"),
    Column("y", "and the next"),
    Column("sense", "number of the sense", "label"),
    Column("markers", "context words that tell the sense from the others", "label"),
    Column("occurrence", "the word with its neighbours", "text"),
    Column("place", "the place of the occurrence in the corpus, from 0", "aside"),
)


def draw_map(
    representations: Representations,
    word: str,
    attention: str,
    places: Places,
    labels: Labels,
    markers: Sequence[Sequence[str]],
    seed: int = 1,
) -> Chart:
    """Describe the map of occurrences (n,) of a word with their senses (n,), numbered from 0."""

    def points() -> Table:
        some = np.arange(len(places))
        notes = []
        if len(some) > MOST:
            rng = np.random.default_rng(seed)
            some = np.sort(rng.choice(len(places), MOST, replace=False))
            notes.append(f"{MOST} of {len(places)} occurrences are drawn, chosen at random")
        flat, held = _flatten(_vectors(representations, attention, places[some], seed))
        notes.append(f"the two dimensions hold {held:.0%} of the variance")
        index = corpus_of(representations.model)
        rows: list[tuple[Cell, ...]] = [
            (
                float(x),
                float(y),
                int(labels[row]) + 1,
                " ".join(markers[labels[row]]),
                quote(index, int(places[row])),
                int(places[row]),
            )
            for row, (x, y) in zip(some.tolist(), flat, strict=True)
        ]
        return Table(SENSE_MAP, rows, notes)

    return Chart(
        "scatter",
        ["y"],
        "x",
        ["occurrence"],
        series=["sense", "markers"],
        title=f"{word}: its occurrences by {attention} attention",
        of=points,
    )


def _vectors(representations: Representations, attention: str, places: Places, seed: int) -> Floats:
    """Return (n, d) the occurrences where senses are told apart."""
    space = make_space(representations, attention, seed)
    vectors = np.empty((len(places), representations.model.dim), np.float32)
    for batch in read(representations.model, places):
        vectors[batch.rows] = space.way.embed(batch)
    return space.place(vectors)


def _flatten(vectors: Floats) -> tuple[Floats, float]:
    """Return (n, 2) where vectors (n, d) lie along their two widest directions, and their share.

    >>> flat, held = _flatten(np.array([[3.0, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0]]))
    >>> (flat.round(6) + 0.0).tolist(), held
    ([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 1.0)
    """
    centred = vectors - vectors.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)  # ascending
    widest = axes[:, ::-1][:, :2]
    widest = widest * np.sign(widest[np.abs(widest).argmax(axis=0), (0, 1)])  # of the two, one sign
    total = float(values.sum())
    return centred @ widest, float(values[-2:].sum()) / total if total else 1.0
