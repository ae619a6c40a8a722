"""Exercises: each number can be worked out from those that are left, as the answer says."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from ctxembed.cli import quiz
from ctxembed.lesson.chapter import load_chapter
from ctxembed.lesson.exercises import Exercise, Grid, Place, choose, fill_marks, hide
from ctxembed.lesson.rules import find_exercises
from ctxembed.table import Table

QUICK = (1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16)  # the other chapters train models
TREND = Table(("word", "score", "scale", "sum", "exponential", "weight"), [
    ("a", 1.0, 0.5, 0.5, math.exp(0.5), math.exp(0.5) / (math.exp(0.5) + 1)),
    ("b", 0.0, 0.5, 0.0, 1.0, 1 / (math.exp(0.5) + 1)),
], title="a, head 1\nsum = 0.5 score; exponential = e^sum")  # fmt: skip


def work_out(how: str) -> float | None:
    """Calculate what an answer says before its result, or return None where words are counted."""
    formula = how.rpartition(" = ")[0]
    if "counted" in formula:
        return None
    formula = re.sub(r", the sum of .*,$", "", formula)
    for sign, python in (("²", "**2"), ("√", "sqrt"), ("·", "*"), ("e^", "E**")):
        formula = formula.replace(sign, python)
    assert re.fullmatch(r"[\d.+\-*/() Esqrtin]+", formula), formula
    formula = re.sub(r"sqrt2\b", "sqrt(2)", formula).replace("E**-", "1/E**")
    return float(eval(formula, {"sqrt": math.sqrt, "sin": math.sin, "E": math.e}))


@pytest.mark.parametrize("number", QUICK)
def test_every_answer_follows_from_the_printed_numbers(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CTXEMBED_MODEL", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    chapter = load_chapter(number)
    grids, _ = quiz.make_exercises(chapter, 1)
    found = find_exercises([grid for each in grids for grid in each])
    assert found
    for one in found:
        worked = work_out(one.how)
        if worked is not None:
            assert one.is_right(worked), one
    for seed in range(1, 6):
        chosen = choose(found, 6, np.random.default_rng(seed))
        hidden = {place for one in chosen for place in one.places}
        assert chosen
        for one in chosen:
            assert not one.needs & hidden
        shown = "\n".join(text for _, text in quiz.lay_out(chapter, grids, chosen, "table"))
        assert "7777." not in shown
        for at in range(1, len(chosen) + 1):
            assert f"____({at})" in shown.replace(" ", "")


def test_exercises_of_a_head_by_hand() -> None:
    grid = Grid.of(0, 0, TREND)
    found = {one.asked: one for one in find_exercises([grid])}
    assert found["sum of a"].how == "1 · 0.5000 = 0.5000"
    assert found["exponential of a"].answer == pytest.approx(1.6487)
    assert found["weight of b"].answer == pytest.approx(0.3775)  # 1 / (1 + e^0.5)
    assert "exponential of b" not in found  # it is 1
    assert found["weight of a"].needs == {Place(0, 0, 0, 3), Place(0, 0, 1, 3)}


def test_a_row_without_words_is_named_by_its_first_column() -> None:
    _, chosen = quiz.make_exercises(load_chapter(1), 1)
    assert {"mat of sentence 1", "rat of sentence 2"} <= {one.asked for one in chosen}


def test_an_answer_may_be_rounded() -> None:
    asked = Exercise(frozenset([Place(0, 0, 0, 0)]), frozenset(), 0.0097, "", "")
    assert [asked.is_right(typed) for typed in (0.0097, 0.01, 0.012, 0.0)] == [
        True, True, False, False,
    ]  # fmt: skip
    large = Exercise(frozenset([Place(0, 0, 0, 0)]), frozenset(), 291.6098, "", "")
    assert large.is_right(291.4) and not large.is_right(280)
    count = Exercise(frozenset([Place(0, 0, 0, 0)]), frozenset(), 2.0, "", "", whole=True)
    assert count.is_right(2) and not count.is_right(2.1)


def test_a_third_is_right_where_a_recipe_is_rounded_to_a_sum_of_1() -> None:
    table = Table(("target", "recipe"), [("x", "x = 0.34 a + 0.33 of + 0.33 c")])
    one, of, _ = find_exercises([Grid.of(0, 0, table)])
    assert of.asked == 'weight of "of" in x'
    assert [one.is_right(typed) for typed in (1 / 3, 0.34, 0.33, 0.35)] == [
        True,
        True,
        False,
        False,
    ]


def test_blanks_have_the_width_of_their_marks() -> None:
    grid = Grid.of(0, 0, TREND)
    chosen = [one for one in find_exercises([grid]) if one.asked == "weight of a"]
    (table,) = hide([grid], chosen)
    assert next(row[5] for row in table.rows) == "7777.01"
    assert fill_marks("| 7777.01 |", 1) == "| ____(1) |"


def test_ctrl_c_prints_the_score(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    class Stopped:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", Stopped())
    with pytest.raises(KeyboardInterrupt):
        quiz.ask(load_chapter(6), 1)
    assert "Score: 0 of 6 right, 6 not answered." in capsys.readouterr().out
