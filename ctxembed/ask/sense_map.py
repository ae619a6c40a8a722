"""A word's occurrences on a map: two dimensions, and how much they leave out."""

from collections.abc import Callable

import numpy as np

from ctxembed.ask.induce import judge
from ctxembed.ask.sense_space import make_space
from ctxembed.context.hits import find_hits
from ctxembed.context.occurrences import corpus_of, quote, sample
from ctxembed.context.representations import Representations, vectors_at
from ctxembed.static.space import Floats
from ctxembed.store.sense_store import SavedSenses
from ctxembed.table import Cell, Chart, Column, Table

MOST = 5000  # points; more are a blot
MARKERS = 6  # words that name a sense
SENSE_MAP = (
    Column("x", "the direction in which the occurrences vary most"),
    Column("y", "and the next"),
    Column("sense", "number of the sense", "label"),
    Column("markers", "context words that tell the sense from the others", "label"),
    Column("occurrence", "the word with its neighbours", "text"),
    Column("place", "the place of the occurrence in the corpus, from 0", "aside"),
)


def draw_map(word: str, attention: str, points: Callable[[], Table]) -> Chart:
    """Describe the map of a word's occurrences, whose points are only found to be drawn."""
    return Chart(
        "scatter",
        ["y"],
        "x",
        ["occurrence"],
        series=["sense", "markers"],
        title=f"{word}: its occurrences by {attention} attention",
        of=points,
    )


def map_senses(representations: Representations, senses: SavedSenses, seed: int = 1) -> Table:
    """Place a word's occurrences in two dimensions, each with its sense."""
    index = corpus_of(representations.model)
    hits = find_hits(representations.model, senses.word)
    everywhere = hits.places
    places = sample(everywhere, MOST, np.random.default_rng(seed))
    notes = []
    if len(places) < len(everywhere):
        notes.append(f"{MOST} of {len(everywhere)} occurrences are drawn, chosen at random")
    space = make_space(representations, senses.attention)
    vectors = vectors_at(representations.model, space.way, places, hits.size)
    labels, _ = judge(vectors, senses.weights, senses.bias)
    placed = space.place(vectors)
    directions, held = find_widest(placed, 2)
    flat = (placed - placed.mean(axis=0)) @ directions
    notes.append(f"the two dimensions hold {held:.0%} of the variance")
    if stability := senses.facts.get("stability"):
        notes.append(f"the senses of resamples agree to {stability:.2f} (adjusted Rand)")
    rows: list[tuple[Cell, ...]] = [
        (
            float(x),
            float(y),
            int(label) + 1,
            " ".join(senses.markers[label][:MARKERS]),
            quote(index, place, size=hits.size),
            place,
        )
        for place, label, (x, y) in zip(places.tolist(), labels, flat, strict=True)
    ]
    rows.sort(key=lambda row: row[2:3] + row[5:])  # by sense, then in the order of the text
    return Table(SENSE_MAP, rows, notes)


def find_widest(vectors: Floats, number: int) -> tuple[Floats, float]:
    """Return the directions (d, number) in which vectors (n, d) vary most, and the share of two.

    >>> apart = np.array([[3.0, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0]])
    >>> directions, held = find_widest(apart, 2)
    >>> (directions.round(6) + 0.0).tolist(), held
    ([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], 1.0)
    """
    centred = vectors - vectors.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)  # ascending
    widest = axes[:, ::-1][:, :number]
    # of the two signs, one
    signs = np.sign(widest[np.abs(widest).argmax(axis=0), np.arange(widest.shape[1])])
    total = float(values.sum())
    return widest * signs, float(values[-2:].sum()) / total if total else 1.0
