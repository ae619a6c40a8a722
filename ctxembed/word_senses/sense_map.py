"""The map of a word: its occurrences as points in two dimensions, coloured by sense."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctxembed.context.hits import find_hits
from ctxembed.context.occurrences import Positions, corpus_of, quote, sample_positions
from ctxembed.context.parse import parse
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Row, Table
from ctxembed.word_senses import sense_space
from ctxembed.word_senses.discover import find_senses

DIRECTIONS = 6  # principal directions kept; the first two are drawn
MAX_POINTS = 5000  # more points cannot be told apart
MARKERS = 6  # words that name a sense
RELIABLE = 200  # occurrences; with fewer, the map is a hint only
SENSE_MAP = ("x", "y", "sense", "markers", "occurrence", "place")
SENSE = Column("sense", "number of the sense, 1 for the most frequent", "label")
X = Column("x", "along the direction in which the occurrences vary most")
Y = Column("y", "along the direction in which the rest varies most")
POINTS = (
    SENSE, X, Y, Column("sentence", "the occurrence with a few words to either side", "text"),
    Column("near", "tenths along the first directions, for finding neighbours", "vector"),
)  # fmt: skip
LEGEND = (
    SENSE, Column("share", "its share of the occurrences", "share"),
    Column("count", "how many of those looked at have it"),
    Column("markers", "its name, or context words that tell it from the others", "long"), X, Y,
)  # fmt: skip
PROJECTED = (
    Column("target", "the word", "label"), X, Y, SENSE,
    Column("margin", "distance to the border of the next sense, in standard deviations"),
)  # fmt: skip


@dataclass(frozen=True)
class WordMap:
    """A word's occurrences as points, and the linear map that projects new ones."""

    senses: SavedSenses
    matrix: Floats  # (d, directions) a unit vector's point is vector @ matrix - middle
    middle: Floats  # (directions,)
    points: Floats  # (n, directions)
    labels: Sequence[int]  # (n,) from 1
    quotes: Sequence[str]  # (n,)
    notes: Sequence[str]
    of_occurrences: bool = True  # else each point is the centre of a sense

    def thinned(self, max_points: int) -> "WordMap":
        """Return the map with at most max_points points, evenly chosen, and a note about it."""
        number = len(self.quotes)
        if number <= max_points:
            return self
        rows = np.linspace(0, number - 1, max_points).astype(int).tolist()
        note = f"{max_points} of {number} points are drawn, to keep the page small"
        return replace(
            self, points=self.points[rows], labels=[self.labels[row] for row in rows],
            quotes=[self.quotes[row] for row in rows], notes=[*self.notes, note],
        )  # fmt: skip

    def drawn(self) -> Table:
        """Return a table of the points: sense, x, y, quoted text."""
        rows: list[Row] = [
            (label, round(float(p[0]), 2), round(float(p[1]), 2), text, np.rint(10 * p).astype(int))
            for label, p, text in zip(self.labels, self.points, self.quotes, strict=True)
        ]
        return Table(POINTS, rows, list(self.notes))

    def legend(self) -> Table:
        """Return a row for each sense, at the mean of its points."""
        labels, rows = np.array(self.labels), list[Row]()
        for number, share in enumerate(self.senses.shares.tolist(), 1):
            mine = self.points[labels == number, :2]
            x, y = (mine.mean(axis=0) if len(mine) else np.zeros(2)).tolist()
            own = self.senses.names[number - 1]
            markers = own or " ".join(self.senses.markers[number - 1][:MARKERS])
            rows.append((number, share, int(self.senses.counts[number - 1]), markers, x, y))
        return Table(LEGEND, rows)

    def project(self, model: Model, sentence: str) -> Table:
        """Return a row for each target of a sentence: its point and its sense."""
        known, name = Representations.of(model), self.senses.attention
        items = parse(model, sentence).occurrences
        get = sense_space.sense_representation if self.of_occurrences else Representations.get
        representation = get(known, name)
        points = unit(representation.vectors(items)).astype(np.float64) @ self.matrix - self.middle
        labels, margins = sense_space.assign_senses(known, self.senses, items)
        columns = points[:, 0], points[:, 1], labels + 1, margins
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return Table(PROJECTED, [(self.senses.word, *row) for row in rows])


def word_map(
    model: Model, word: str, *, attention: str | None = None, progress: Progress = SILENT,
    seed: int = 1,
) -> WordMap:  # fmt: skip
    """Return the map of a word's occurrences; without a corpus, of the centres of its senses."""
    known = Representations.of(model)
    name = attention or known.default()
    senses = sense_space.current_senses(model, word, name)
    if model.index is not None:
        senses = senses or find_senses(known, word, attention=name, seed=seed, progress=progress)
        return _lay_out(known, senses, seed)[0]
    if senses is None:
        raise CtxembedError(f"{model.path.name} has neither a corpus nor saved senses of {word!r}")
    static = model.vector(senses.word, known.get(senses.attention).inputs)
    points = unit(np.vstack([senses.vectors, static])).astype(np.float64)  # (k + 1, d)
    directions, projected, fraction = _project(points)
    middle = points.mean(axis=0) @ directions
    quotes = [senses.names[i] or " ".join(words) for i, words in enumerate(senses.markers)]
    notes = ["this model has no corpus: each point is the centre of a sense, not an occurrence"]
    notes.append(f"the map's two directions hold {fraction:.0%} of their variance")
    labels = range(1, senses.number + 1)
    return WordMap(
        senses, directions, middle, projected[:-1], labels, quotes, notes, of_occurrences=False
    )


def map_senses(representations: Representations, senses: SavedSenses, seed: int = 1) -> Table:
    """Return a row for each occurrence: its point, its sense, the quoted text."""
    layout, positions = _lay_out(representations, senses, seed)
    pairs = zip(senses.names, senses.markers, strict=True)
    names = [name or " ".join(markers[:MARKERS]) for name, markers in pairs]
    columns = layout.points.tolist(), layout.labels, layout.quotes, positions.tolist()
    rows: list[tuple[Cell, ...]] = [
        (p[0], p[1], label, names[label - 1], text, position)
        for p, label, text, position in zip(*columns, strict=True)
    ]
    rows.sort(key=lambda row: row[2:3] + row[5:])  # by sense, then in the order of the text
    return Table(SENSE_MAP, rows, layout.notes)


def draw_map(word: str, attention: str, points: Callable[[], Table]) -> Chart:
    """Return the chart of a word's occurrences; its points are computed when it is drawn."""
    title = f"{word}: its occurrences by {attention} attention"
    series = ["sense", "markers"]
    return Chart("scatter", ["y"], "x", ["occurrence"], series=series, title=title, of=points)


def _lay_out(
    representations: Representations, senses: SavedSenses, seed: int
) -> tuple[WordMap, Positions]:
    """Return the map of a word's occurrences, and their positions (n,) in the corpus."""
    model, hits = representations.model, find_hits(representations.model, senses.word)
    index, total = corpus_of(model), len(hits.positions)
    positions = sample_positions(hits.positions, MAX_POINTS, np.random.default_rng(seed))
    space = sense_space.make_space(representations, senses.attention)
    vectors = vectors_at(model, space.representation, positions, hits.size)
    labels, _ = sense_space.classify(vectors, senses.weights, senses.bias)
    points = space.project(vectors)  # (n, d)
    directions, projected, fraction = _project(points)
    quotes = [quote(index, at, size=hits.size) for at in positions.tolist()]
    held = f"the map's two directions hold {fraction:.0%} of the variance"
    notes = [f"{held}: see clouds, not points"]
    if len(positions) < total:
        notes.append(f"{len(positions)} of {total} occurrences are drawn, chosen at random")
    stability = senses.facts.get("stability")
    if senses.number == 1:
        notes.append("one sense: no split is clear enough")
    elif stability is not None:  # senses from labels have none
        notes.append(f"the senses of resamples agree to {stability:.2f} (adjusted Rand)")
    if total < RELIABLE:
        notes.append(f"only {total} occurrences: the map is a hint only")
    matrix, middle = space.matrix @ directions, points.mean(axis=0) @ directions
    numbers = (labels + 1).tolist()
    layout = WordMap(senses, matrix, middle, projected, numbers, quotes, notes)
    return layout, positions


def _project(points: Floats) -> tuple[Floats, Floats, float]:
    """Return principal directions (d, 6), points along them (n, 6), variance in the first two."""
    centred = points - points.mean(axis=0)
    directions = sense_space.principal_directions(centred, DIRECTIONS)
    projected, total = centred @ directions, float((centred**2).sum())
    return directions, projected, float((projected[:, :2] ** 2).sum()) / total if total else 1.0
