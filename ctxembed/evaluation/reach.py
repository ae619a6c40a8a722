"""Reach: which of two merged words was here, as the deciding words move away from the target."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ctxembed.context.nearest import nearest_rows
from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation.figures import EVALUATE, Scores, average, tabulate
from ctxembed.evaluation.metrics import Figure, nearest_centroid, paired_p, proportion, resample
from ctxembed.evaluation.senses import Labelled
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.stats.k_means import Labels
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Chart, Column, Row, Table, answers
from ctxembed.text.index import Ids

DISTANCES = (1, 2, 4, 8, 16, 32)  # words from the target to the nearest deciding word
CLUES = 3  # deciding words of a sentence
FREQUENT, FILLERS = 100, 20  # filler: of the most frequent words, those that decide least
LENGTHS = (8, 16, 32, 64, 128, 256, 512)  # words of the sentences that are timed
RUNS = 30  # of each sentence; the first third warms up
NEAREST, BUILT = 20, 40  # without a text: words near each half, and sentences built of them

DISTANCE = Column("distance", "reach: words from the target to the nearest deciding word", "label")
KEPT = (
    Column("kept", "reach: the part that is left of the gain over static at distance 1"),
    Column("kept_low", "lower end of its 95 % interval", "aside"),
    Column("kept_high", "upper end", "aside"),
)
SPEED = (
    Column("words", "length of the sentence", "label"), EVALUATE[2],
    Column("milliseconds", "time for one target in it: the median of 20 runs"),
    Column("low", "lower quartile of the runs"), Column("high", "upper quartile"),
)  # fmt: skip


@dataclass(frozen=True)
class ReachResult:
    """The accuracy of each representation at each distance of the deciding words."""

    by_distance: dict[int, Scores]
    notes: Sequence[str] = ()

    def accuracy(self, distance: int, representation: str) -> Figure:
        """Return the accuracy of a representation at a distance."""
        return self.by_distance[distance].figures["accuracy"][representation]

    def kept(self, distance: int, representation: str) -> tuple[float, float, float] | None:
        """Return the part of the gain over static at distance 1 that is left, and its interval.

        None without a gain: a two-sided p over 0.05.
        """
        here, near = (self.accuracy(where, representation) for where in (distance, 1))
        static = self.accuracy(1, "static")
        gain = near.value - static.value
        if gain <= 0 or paired_p(near, static) > 0.05:
            return None
        spread = (here.spread - static.spread) / np.maximum(near.spread - static.spread, 1e-9)
        low, high = np.quantile(spread, [0.025, 0.975]).tolist()
        return (here.value - static.value) / gain, low, high

    def to_table(self) -> Table:
        """Return a row for each distance and representation, with a line for each as picture."""
        rows: list[Row] = []
        for distance, scores in self.by_distance.items():
            for row in tabulate("reach", [scores]).rows:
                kept = self.kept(distance, str(row[2])) or (None,) * len(KEPT)
                rows.append((distance, *row[1:8], *kept))
        title = "accuracy by distance of the deciding words, 95 % intervals"
        chart = Chart("lines", ["value"], "distance", series=["representation"], low="low",
                      high="high", title=title)  # fmt: skip
        return Table((DISTANCE, *EVALUATE[1:8], *KEPT), rows, self.notes, chart=chart)


@dataclass(frozen=True)
class SpeedResult:
    """How long each representation takes for one target, by the length of its sentence."""

    seconds: dict[tuple[int, str], Floats]  # (runs,) by words of the sentence, representation

    def to_table(self) -> Table:
        """Return a row for each length and representation, with a line for each as picture."""
        rows = [
            (*key, *(1000 * np.quantile(runs, [0.5, 0.25, 0.75])).tolist())
            for key, runs in self.seconds.items()
        ]
        title = "milliseconds for one target as its sentence grows"
        chart = Chart("lines", ["milliseconds"], "words", series=["representation"], low="low",
                      high="high", title=title)  # fmt: skip
        return Table(SPEED, rows, chart=chart)


def measure_reach(
    model: Model, words: Sequence[Labelled], scored: Sequence[Representation], seed: int,
    progress: Progress,
) -> ReachResult:  # fmt: skip
    """Return the accuracy on pseudowords at each distance, the mean over the pseudowords.

    The nearest of two centroids answers; they come from training occurrences in their sentences.
    """
    sets: dict[int, list[Scores]] = {distance: [] for distance in DISTANCES}
    with progress.stage("pseudowords", len(words), "pair") as stage:
        for number, word in enumerate(map(balance, words)):
            rng = np.random.default_rng([seed, number])
            is_test = word.folds >= 0
            gold, taught = word.labels[is_test], word.labels[~is_test]
            test, train = (
                [word.items[i] for i in np.flatnonzero(k).tolist()] for k in (is_test, ~is_test)
            )
            moved = move_clues(model, test, rng)
            weights = resample(len(test), rng)
            for distance, some in sets.items():
                some.append(Scores(str(distance), len(test)))
            for one in scored:
                centroids = unit(one.vectors(train))
                for distance, items in moved.items():
                    vectors = unit(one.vectors(items))
                    right = nearest_centroid(centroids, taught, vectors) == gold
                    figure = proportion(right, weights)
                    sets[distance][-1].add(one.name, {"accuracy": figure}, 0)
            stage.advance()
    return ReachResult({distance: average(str(distance), some) for distance, some in sets.items()})


def balance(word: Labelled) -> Labelled:
    """Return as many occurrences of both words, so that one answer for all is right half the time.

    Occurrences without context are left out. Every other one of each word is for training.
    """
    has_context = np.array([len(item.ids) > len(item.target) for item in word.items])
    halves = [np.flatnonzero(has_context & (word.labels == label)) for label in (0, 1)]
    size = min(map(len, halves))
    rows = np.concatenate([half[:size] for half in halves])
    folds = np.tile(np.arange(size) % 2 - 1, 2)
    return Labelled(word.name, [word.items[row] for row in rows.tolist()], word.labels[rows], folds)


def take_fold(word: Labelled, fold: int) -> tuple[list[Occurrence], Labels]:
    """Return the occurrences of a fold and their labels."""
    rows = np.flatnonzero(word.folds == fold)
    return [word.items[row] for row in rows.tolist()], word.labels[rows]


def move_clues(
    model: Model, items: Sequence[Occurrence], rng: np.random.Generator
) -> dict[int, list[Occurrence]]:
    """Return by distance d: the deciding words, d - 1 words of filler, and the target.

    A word decides by its pull, the difference of its cosines with the two words. The three with the
    largest are kept, in their order. The filler is drawn from neutral words, the same ones at all
    distances. In every other sentence the target comes first.
    """
    pair = items[0].own
    neutral = neutral_words(model, pair)
    moved: dict[int, list[Occurrence]] = {distance: [] for distance in DISTANCES}
    for number, item in enumerate(items):
        context = np.delete(item.ids, item.target)
        strongest = np.argsort(-np.abs(pulls(model, context, pair)), kind="stable")[:CLUES]
        clues, filler = context[np.sort(strongest)], rng.choice(neutral, max(DISTANCES) - 1)
        for distance, some in moved.items():
            between = filler[: distance - 1]
            if number % 2:
                some.append(Occurrence.join((), pair, np.concatenate([between, clues])))
            else:
                some.append(Occurrence.join(np.concatenate([clues, between[::-1]]), pair, ()))
    return moved


def neutral_words(model: Model, pair: Ids) -> Ids:
    """Return rows of frequent words that say least which of two words was here."""
    frequent: Ids = np.argsort(-model.seen, kind="stable")[: FREQUENT + 2].astype(np.int32)
    frequent = frequent[~np.isin(frequent, pair)]
    order = np.argsort(np.abs(pulls(model, frequent, pair)), kind="stable")
    return np.asarray(frequent[order[:FILLERS]])


def pulls(model: Model, rows: Ids, pair: Ids) -> Floats:
    """Return (n,) the cosine of each word with the first of two words, minus with the second."""
    one, other = model.centred_space[pair]
    return np.asarray(model.centred_space[rows] @ (one - other))


def build_words(model: Model, pairs: int, rng: np.random.Generator) -> Iterator[Labelled]:
    """Yield pseudowords for a model without a text: sentences of words near one of the two."""
    common = np.argsort(-model.seen, kind="stable")[FREQUENT : 100 * FREQUENT]
    if len(common) < 2 * NEAREST:
        few = f"only {len(model.vocabulary)} words and no text"
        raise CorpusError(f"{model.path}: {few}. Give a text: ctxembed evaluate reach CORPUS")
    words = rng.permutation(common)[: 2 * pairs]
    for pair in zip(words[::2].tolist(), words[1::2].tolist(), strict=False):
        near = nearest_rows(model, model.vectors[list(pair)], NEAREST, [pair, pair])
        items = []
        for half in near:
            drawn = (rng.choice([row for row, _ in half], 2 * CLUES) for _ in range(BUILT))
            items += [Occurrence.join(rows[:CLUES], pair, rows[CLUES:]) for rows in drawn]
        name = "+".join(model.vocabulary.words[row] for row in pair)
        yield Labelled(name, items, np.repeat([0, 1], BUILT), np.tile([-1, 0], BUILT))


@answers(*SPEED)
def measure_speed(model: Model, scored: Sequence[Representation], seed: int) -> SpeedResult:
    """Return the seconds of each run, for sentences of frequent words with the target in them."""
    rng, seconds = np.random.default_rng(seed), dict[tuple[int, str], Floats]()
    frequent = np.argsort(-model.seen, kind="stable")[: 20 * FREQUENT].astype(np.int32)
    for length in LENGTHS:
        ids = rng.choice(frequent, length)
        item = Occurrence(ids, range(length // 2, length // 2 + 1))
        for one in scored:
            runs = []
            for _ in range(RUNS):
                started = perf_counter()
                one.vectors([item])
                runs.append(perf_counter() - started)
            seconds[length, one.name] = np.array(runs[RUNS // 3 :])
    return SpeedResult(seconds)
