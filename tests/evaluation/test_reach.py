"""Reach on vectors by hand: x stands beside a, y beside b, and neutral words say nothing."""

from collections.abc import Sequence

import numpy as np
import pytest

from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Representations
from ctxembed.errors import CorpusError
from ctxembed.evaluation.evaluate import evaluate
from ctxembed.evaluation.reach import (
    DISTANCES,
    LENGTHS,
    ReachResult,
    build_words,
    measure_reach,
    measure_speed,
    move_clues,
    neutral_words,
)
from ctxembed.evaluation.senses import Labelled
from ctxembed.model.model import Model
from ctxembed.progress import SILENT
from ctxembed.stats.vectors import Floats
from tests.conftest import Run, mentions

A, B, X, Y, UP, DOWN = range(6)  # rows 4 to 23 are neutral: up and down by turns
NEUTRAL = range(4, 24)


@pytest.fixture(scope="module")
def model() -> Model:
    sides = [[1.0, 0], [-1, 0]] * 2 + [[0, 1], [0, -1]] * 10
    words = ["a", "b", "x", "y", *(f"n{i}" for i in NEUTRAL)]
    return Model.from_vectors("by hand", words, np.array(sides, np.float32))


def merged() -> Labelled:
    """x decides for a, y for b; of each word, every other sentence is for training."""
    items = [Occurrence.join([UP, clue], (A, B), [DOWN]) for clue in (X, Y) for _ in range(12)]
    return Labelled("a+b", items, np.repeat([0, 1], 12), np.tile([-1, 0], 12))


class Near:
    """A representation that sees five words to either side."""

    name, dim = "near", 2

    def __init__(self, model: Model) -> None:
        self.x = model.vectors

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        clipped = (item.clip(5) for item in occurrences)
        return np.array([self.x[np.delete(o.ids, o.target)].mean(axis=0) for o in clipped])

    def alone(self, rows: Sequence[int]) -> Floats:
        return np.asarray(self.x[rows])


@pytest.fixture(scope="module")
def result(model: Model) -> ReachResult:
    known = Representations.of(model)
    return measure_reach(
        model, [merged()], [known.get("static"), known.get("bag"), Near(model)], 1, SILENT
    )


def test_neutral_words_pull_to_neither_side(model: Model) -> None:
    assert sorted(neutral_words(model, np.array([A, B], np.int32))) == list(NEUTRAL)


def test_the_deciding_words_move_behind_filler(model: Model) -> None:
    items = [Occurrence.join([UP, X], (A, B), [DOWN, 7, 8, 9])] * 2
    moved = move_clues(model, items, np.random.default_rng(1))
    assert list(moved) == [1, 2, 4, 8, 16, 32]
    before, after = moved[1]
    assert before.ids.tolist() == [UP, X, DOWN, A, B]  # the first three words: x, and of equals
    assert after.ids.tolist() == [A, B, UP, X, DOWN]
    filler = [after.ids[2:-3].tolist() for _, after in moved.values()]
    for distance, some in zip(DISTANCES, filler, strict=True):
        assert len(some) == distance - 1
        assert set(some) <= set(NEUTRAL)
        assert some == filler[-1][: distance - 1]  # the same words, and more of them
    before = moved[4][0]
    assert before.ids[:3].tolist() == [UP, X, DOWN]
    assert before.target == range(6, 8)


def test_accuracy_by_hand(result: ReachResult) -> None:
    # x or y is one word behind the nearest deciding word: near sees it at distances 1, 2 and 4
    for distance in DISTANCES:
        seen = distance + 1 <= 5
        assert result.accuracy(distance, "static").value == 0.5
        assert result.accuracy(distance, "bag").value == 1
        assert result.accuracy(distance, "near").value == (1 if seen else 0.5)
        assert result.kept(distance, "static") is None
        assert result.kept(distance, "bag") == (1, 1, 1)
        kept = result.kept(distance, "near")
        assert kept is not None and kept[0] == (1 if seen else 0)


def test_the_table_has_a_row_for_each_distance_and_representation(result: ReachResult) -> None:
    rows = result.to_table().records()
    keys = [(row["distance"], row["representation"]) for row in rows]
    assert keys == [(d, name) for d in DISTANCES for name in ("static", "bag", "near")]
    assert {row["items"] for row in rows} == {12}
    assert [row["kept"] for row in rows if row["representation"] == "near"] == [1, 1, 1, 0, 0, 0]


def test_speed_has_a_row_for_each_length_and_representation(model: Model) -> None:
    table = measure_speed(model, [Representations.of(model).get("bag")], 1).to_table()
    rows = table.records()
    assert [row["words"] for row in rows] == list(LENGTHS)
    for row in rows:
        low, median, high = (row[name] for name in ("low", "milliseconds", "high"))
        assert 0 < float(str(low)) <= float(str(median)) <= float(str(high))


def test_a_model_with_few_words_and_no_text_is_refused(model: Model) -> None:
    with pytest.raises(CorpusError, match="no text"):
        next(build_words(model, 1, np.random.default_rng(1)))


def test_a_model_without_text_gets_sentences_of_near_words() -> None:
    table = evaluate("english", "reach", pairs=2)
    assert "no text" in table.notes[0]
    rows = {(row["distance"], row["representation"]): row["value"] for row in table.records()}
    assert rows[16, "static"] == 0.5
    assert rows[1, "learned"] == 1


def test_the_same_seed_prints_the_same_bytes(run: Run) -> None:
    line = "evaluate", "reach", "--pairs", "1", "-m", "everyday"
    done = run(*line)
    assert done.returncode == 0, done.stderr
    assert done.stdout == run(*line).stdout
    assert done.stdout.splitlines()[0].startswith("distance\tmetric\trepresentation\tvalue\tlow")
    assert run(*line, "-f", "svg").stdout.startswith("<svg")


def test_speed_belongs_to_reach(run: Run) -> None:
    done = run("evaluate", "pseudowords", "--speed", "-m", "everyday")
    assert done.returncode == 2
    assert mentions(done.stderr, "--speed reach")
    done = run("evaluate", "reach", "--speed", "-m", "everyday", "-f", "svg")
    assert done.returncode == 0 and "milliseconds" in done.stdout
