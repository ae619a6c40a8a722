"""The bundled English model on sentences that are not in its training text."""

import json

import pytest

import ctxembed
from bench.english import from_sentences
from bench.everyday import held_out, read_rows
from ctxembed.model.bundled import bundled_model, corpora_directory
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses
from ctxembed.word_senses.sense_space import current_senses
from tests.conftest import Run

BATS = "The [bat] flew out of the cave at dusk", "He swung the [bat] at the ball"


@pytest.fixture(scope="module")
def english() -> Model:
    return Model.open(bundled_model("english"))


def test_the_english_model_is_small_and_has_no_text(english: Model) -> None:
    size = sum(item.stat().st_size for item in english.path.rglob("*") if item.is_file())
    assert size < 20_000_000
    assert len(english.vocabulary.words) >= 80_000
    assert english.index is None
    assert english.attentions() == ["encoder", "learned", "recurrent"]
    assert not any(any(item.examples) for item in open_senses(english).values())
    # the everyday words of which the smaller vocabulary of everyday lacks many
    for word in ["google", "planet", "attention", "vector", "also", "most", "nail", "palm"]:
        assert english.vocabulary.find(word) is not None


def test_everyday_sentences(english: Model) -> None:
    rows = [row for row in read_rows() if row["part"] == "choose"]
    scores = from_sentences(english, "everyday", rows)
    assert scores["everyday", "unknown content words", ""] <= 0.005
    assert scores["everyday", "plain", "learned"] >= scores["everyday", "plain", "bag"] - 0.02
    assert scores["everyday", "distractor", "learned"] >= 0.75
    figures = {  # README.md and bench/README.md
        ("plain", "bag"): 0.844,
        ("plain", "general"): 0.811,
        ("plain", "learned"): 0.922,
        ("plain", "together"): 0.922,
        ("distractor", "bag"): 0.367,
        ("distractor", "general"): 0.500,
        ("distractor", "learned"): 0.767,
        ("distractor", "together"): 0.800,
    }
    for (kind, representation), value in figures.items():
        assert scores["everyday", kind, representation] == pytest.approx(
            value, abs=0.012
        )  # one sentence


def test_sentences_held_out_of_everyday(english: Model) -> None:
    scores = from_sentences(english, "heldout", held_out())
    assert scores["heldout", "unknown content words", ""] <= 0.01
    assert scores["heldout", "distractor", "learned"] >= 0.75
    assert scores["heldout", "distractor", "learned"] > scores["heldout", "distractor", "bag"] + 0.4


def test_senses_of_many_words_are_kept_and_named(english: Model, run: Run) -> None:
    kept = open_senses(english)
    assert len(kept) >= 1000
    assert all(item.number > 1 for item in kept.values())
    lines = (corpora_directory() / "english.left_out.txt").read_text().splitlines()
    left_out = {line for line in lines if not line.startswith("#")}
    assert left_out and not set(kept) & left_out
    assert current_senses(english, "apple") is not None
    done = run("senses", "apple", "-m", "english")
    assert done.returncode == 0, done.stderr


def test_two_bats_are_two(run: Run) -> None:
    done = run("compare", *BATS, "-m", "english", "-f", "json")
    assert done.returncode == 0, done.stderr
    rows = [row for row in json.loads(done.stdout) if row["representation"] == "together"]
    assert {"rodent", "carnivore", "bird", "birds"} & set(rows[0]["like"])
    animal = [row["sense_key"].startswith("bat%1:05") for row in rows]
    assert animal == [True, False]


def test_held_out_sentences_of_other_words() -> None:
    rows = ctxembed.analogy("english", "man", "king", "woman").records()
    assert "queen" in [row["word"] for row in rows[:2]]
    near = [row["neighbor"] for row in ctxembed.neighbors("english", "sad", 10).records()]
    assert {"unhappy", "sorrowful", "lonely"} & set(near) and "soundtrack" not in near
