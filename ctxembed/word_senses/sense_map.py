"""A word's occurrences as points, and where a sentence of one's own lies among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctxembed.context.hits import find_hits
from ctxembed.context.occurrences import Places, corpus_of, quote, sample
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations, representations_of, vectors_at
from ctxembed.errors import CtxembedError
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Row, Table
from ctxembed.word_senses.assign import current_senses, judge, sense_here
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_space import evidence, make_space

DIRECTIONS = 6  # in which neighbours are looked for; the first two are drawn
MOST = 5000  # points that are drawn; more are a blot
MARKERS = 6  # words that name a sense
FEW = 200  # occurrences below which a map is a hint
SENSE_MAP = (
    Column("x", "the direction in which the occurrences vary most"),
    Column("y", "and the next"),
    Column("sense", "number of the sense", "label"),
    Column("markers", "context words that tell the sense from the others", "label"),
    Column("occurrence", "the word with its neighbours", "text"),
    Column("place", "the place of the occurrence in the corpus, from 0", "aside"),
)
SENSE = Column("sense", "number of the sense, 1 for the most frequent", "label")
X = Column("x", "along the direction in which the occurrences vary most")
Y = Column("y", "along the direction in which the rest varies most")
POINTS = (
    SENSE,
    X,
    Y,
    Column("sentence", "the occurrence with a few words to either side", "text"),
    Column("near", "tenths along the first directions, for finding neighbours", "vector"),
)
LEGEND = (
    SENSE,
    Column("share", "its share of the occurrences", "share"),
    Column("count", "how many of those looked at have it"),
    Column("markers", "context words that tell it from the others", "long"),
    X,
    Y,
)
PLACED = (
    Column("target", "the word", "label"),
    X,
    Y,
    SENSE,
    Column("margin", "distance to the border of the next sense, in standard deviations"),
)


@dataclass(frozen=True)
class WordMap:
    """A word's occurrences, and how any other one would be placed among them."""

    senses: SavedSenses
    matrix: Floats  # (d, directions) a vector of length 1 goes to unit @ matrix - middle
    middle: Floats  # (directions,)
    points: Floats  # (n, directions)
    labels: Sequence[int]  # (n,) from 1
    quotes: Sequence[str]  # (n,)
    notes: Sequence[str]
    of_occurrences: bool = True  # else each point is the centre of a sense

    def thinned(self, most: int) -> "WordMap":
        """Return the map with at most so many points, drawn evenly, which it says."""
        number = len(self.quotes)
        if number <= most:
            return self
        rows = np.linspace(0, number - 1, most).astype(int).tolist()
        told = f"{most} of {number} points are drawn, to keep the page small"
        return replace(
            self,
            points=self.points[rows],
            labels=[self.labels[row] for row in rows],
            quotes=[self.quotes[row] for row in rows],
            notes=[*self.notes, told],
        )

    def drawn(self) -> Table:
        """Return the points."""
        rows: list[Row] = [
            (label, round(float(p[0]), 2), round(float(p[1]), 2), text, np.rint(10 * p).astype(int))
            for label, p, text in zip(self.labels, self.points, self.quotes, strict=True)
        ]
        return Table(POINTS, rows, list(self.notes))

    def legend(self) -> Table:
        """Return the senses, each at the middle of its points."""
        labels, rows = np.array(self.labels), list[Row]()
        for number, share in enumerate(self.senses.shares.tolist(), 1):
            mine = self.points[labels == number, :2]
            middle = mine.mean(axis=0) if len(mine) else np.zeros(2)
            markers = " ".join(self.senses.markers[number - 1][:MARKERS])
            count = int(self.senses.counts[number - 1])
            rows.append((number, share, count, markers, float(middle[0]), float(middle[1])))
        return Table(LEGEND, rows)

    def place(self, model: Model, sentence: str) -> Table:
        """Place the targets of a sentence among the points."""
        representations = representations_of(model)
        items = parse(model, sentence).occurrences
        name = self.senses.attention
        way = evidence(representations, name) if self.of_occurrences else representations.get(name)
        placed = unit(way.vectors(items)).astype(np.float64) @ self.matrix - self.middle
        labels, margins = sense_here(representations, self.senses, items)
        rows: list[Row] = [
            (self.senses.word, float(p[0]), float(p[1]), int(label) + 1, float(margin))
            for p, label, margin in zip(placed, labels, margins, strict=True)
        ]
        return Table(PLACED, rows)


def word_map(
    model: Model,
    word: str,
    *,
    attention: str | None = None,
    progress: Progress = SILENT,
    seed: int = 1,
) -> WordMap:
    """Lay a word's occurrences out by their principal directions, with their senses.

    A model that has no corpus, but has kept the word's senses, shows the centre of each.
    """
    representations = representations_of(model)
    name = attention or representations.default()
    senses = current_senses(model, word, name)
    if model.index is None:
        if senses is None:
            raise CtxembedError(f"{model.path.name} has neither a corpus nor senses of {word!r}")
        return _centres(model, senses)
    if senses is None:
        senses = find_senses(
            representations, word, attention=name, seed=seed, progress=progress
        ).senses
    return _lay_out(representations, senses, seed)[0]


def map_senses(representations: Representations, senses: SavedSenses, seed: int = 1) -> Table:
    """Place a word's occurrences in two dimensions, each with its sense."""
    made, places = _lay_out(representations, senses, seed)
    names = [" ".join(markers[:MARKERS]) for markers in senses.markers]
    rows: list[tuple[Cell, ...]] = [
        (float(x), float(y), label, names[label - 1], text, place)
        for (x, y, *_), label, text, place in zip(
            made.points, made.labels, made.quotes, places.tolist(), strict=True
        )
    ]
    rows.sort(key=lambda row: row[2:3] + row[5:])  # by sense, then in the order of the text
    return Table(SENSE_MAP, rows, made.notes)


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


def _lay_out(
    representations: Representations, senses: SavedSenses, seed: int
) -> tuple[WordMap, Places]:
    """Lay a word's occurrences out by their principal directions; return where they stand too."""
    model, hits = representations.model, find_hits(representations.model, senses.word)
    index = corpus_of(model)
    places = sample(hits.places, MOST, np.random.default_rng(seed))
    space = make_space(representations, senses.attention)
    vectors = vectors_at(model, space.way, places, hits.size)
    labels, _ = judge(vectors, senses.weights, senses.bias)
    placed = space.place(vectors)  # (n, d)
    directions, held = find_widest(placed, DIRECTIONS)
    middle = placed.mean(axis=0)
    made = WordMap(
        senses,
        space.matrix @ directions,
        middle @ directions,
        (placed - middle) @ directions,
        (labels + 1).tolist(),
        [quote(index, place, size=hits.size) for place in places.tolist()],
        _notes(senses, held, len(places), len(hits.places)),
    )
    return made, places


def _centres(model: Model, senses: SavedSenses) -> WordMap:
    """Draw the centre of each sense, where nothing more is known."""
    static = model.vector(senses.word, representations_of(model).get(senses.attention).inputs)
    placed = unit(np.vstack([senses.vectors, static])).astype(np.float64)  # (k + 1, d)
    directions, held = find_widest(placed, DIRECTIONS)
    middle = placed.mean(axis=0) @ directions
    told = [
        "this model has no corpus: each point is the centre of a sense, not an occurrence",
        f"the map's two directions hold {held:.0%} of their variance",
    ]
    return WordMap(
        senses,
        directions,
        middle,
        placed[:-1] @ directions - middle,
        list(range(1, senses.number + 1)),
        [" ".join(words) for words in senses.markers],
        told,
        of_occurrences=False,
    )


def _notes(senses: SavedSenses, held: float, drawn: int, total: int) -> list[str]:
    """Say how far the map can be trusted."""
    notes = [f"the map's two directions hold {held:.0%} of the variance: see clouds, not points"]
    if drawn < total:
        notes.append(f"{drawn} of {total} occurrences are drawn, chosen at random")
    stability = senses.facts.get("stability")
    if stability is None:
        notes.append("one sense: no split is clear enough")
    else:
        notes.append(f"the senses of resamples agree to {stability:.2f} (adjusted Rand)")
    if total < FEW:
        notes.append(f"only {total} occurrences: the map is a hint, no finding")
    return notes


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
