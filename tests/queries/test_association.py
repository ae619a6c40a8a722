"""Groups of words and axes: published tests, own words, words in sentences."""

import json

import numpy as np
import pytest

import ctxembed
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import open_model
from ctxembed.queries.association import published_lists
from tests.conftest import Run, mentions

OWN = [
    "--targets", "fruit=apple,banana,cherry", "--targets", "tool=hammer,saw,drill",
    "--axis", "food=eat,sweet,fresh", "--axis", "work=steel,build,repair",
]  # fmt: skip
PUBLISHED = [f"weat{number}" for number in range(1, 11)]


@pytest.mark.parametrize("test", ["weat1", "weat2", "weat6", "weat7", "weat8"])
def test_effects_have_the_published_sign_and_size(test: str) -> None:
    (row,) = ctxembed.association("english", test).records()
    assert row["effect"] == pytest.approx(row["published"], abs=0.5)
    assert row["p_value"] < 0.01


def test_the_table_fits_a_terminal(run: Run) -> None:
    line = ("association", "weat6", "-m", "english", "-f", "table")
    shown = run(*line, env={"COLUMNS": "80"}).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown


@pytest.mark.parametrize("test", PUBLISHED)
def test_published_lists_are_complete(test: str) -> None:
    lists = published_lists(test)
    x, y = map(len, lists.targets.values())
    a, b = map(len, lists.axes.values())
    assert x == y >= 6
    assert a == b >= 7
    assert lists.effect is not None and lists.effect > 1


def test_the_effect_follows_from_the_rows_of_words(run: Run) -> None:
    words = json.loads(run("association", *OWN, "--words", "-m", "english", "-f", "json").stdout)
    (test,) = json.loads(run("association", *OWN, "-m", "english", "-f", "json").stdout)
    scores = {g: [r["association"] for r in words if r["group"] == g] for g in ("fruit", "tool")}
    every = [score for group in scores.values() for score in group]
    difference = np.mean(scores["fruit"]) - np.mean(scores["tool"])
    assert test["effect"] == pytest.approx(difference / np.std(every, ddof=1), abs=1e-6)
    assert test["p_value"] == pytest.approx(1 / 20)
    for row in words:
        assert row["association"] == pytest.approx(row["cos_a"] - row["cos_b"], abs=2e-6)


def test_templates_add_a_row_for_each_representation(run: Run) -> None:
    line = [*OWN, "--template", "the [word] is here", "-m", "english"]
    rows = json.loads(run("association", *line, "-f", "json").stdout)
    names = Representations.of(open_model("english")).names()
    assert [row["representation"] for row in rows] == names
    effects = {row["representation"]: row["effect"] for row in rows}
    assert effects["bag"] == pytest.approx(0, abs=1e-6)  # the context is the same for every target
    assert effects["learned"] > 0.5


@pytest.mark.parametrize(
    ("options", "title", "labels"),
    [
        ((), "fruit with food, tool with work: effect", ("static", "effect above 0")),
        (("--words",), "nearer to food (right) or to work (left)", ("fruit apple", "tool saw")),
    ],
)
def test_pictures(options: tuple[str, ...], title: str, labels: tuple[str, ...], run: Run) -> None:
    done = run("association", *OWN, *options, "-m", "english", "-f", "svg")
    assert done.returncode == 0, done.stderr
    assert all(text in done.stdout for text in (title, *labels))


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (["weat11"], "weat1 to weat10"),
        ([], "--targets"),
        ([*OWN[:4], "--axis", "food=eat,sweet"], "--axis"),
        (["--targets", "x=apple", *OWN[2:]], "x"),
        ([*OWN, "--template", "no target here"], "[word]"),
        (["--targets", "fruit", *OWN[2:]], "--targets"),
    ],
)
def test_wrong_groups_are_refused(run: Run, line: list[str], key: str) -> None:
    result = run("association", *line, "-m", "english")
    assert result.returncode == 2
    assert mentions(result.stderr, key)


def test_unknown_words_of_a_group_are_the_reason(run: Run) -> None:
    result = run("association", "--targets", "x=apple,zzqqx", *OWN[2:], "-m", "english")
    assert result.returncode == 4
    assert mentions(result.stderr, "x: 1~word~is~known")
