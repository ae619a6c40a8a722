"""Which words lie nearest, and which of them a person believes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.context.nearest import nearest, vector_trust
from ctxembed.model.model import Model
from ctxembed.model.write import write_files
from ctxembed.queries.neighbors import analogy, neighbors
from tests.conftest import Run

WORDS = ["king", "queen", "throne", "sweyn", "far"]
ANGLES = np.radians([0, 20, 30, 10, 170])
COUNTS = np.array([4000, 3000, 2000, 5, 2])


def open_court(folder: Path, **meta: object) -> Model:
    """A corpus of a million words, where k is 20."""
    folder.mkdir()
    vectors = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1).astype(np.float32)
    description = {"tokens": 1_000_000, "tokenizer": {"kind": "word", "cased": False}, **meta}
    write_files(folder, WORDS, COUNTS, vectors, None, description)
    return Model.open(folder)


@pytest.fixture
def court(tmp_path: Path) -> Model:
    return open_court(tmp_path / "court")


def ranked(model: Model, **how: Any) -> list[tuple[object, ...]]:
    rows: list[Any] = list(neighbors(model, "king", 4, **how).rows)
    return [(neighbor, round(cosine, 3)) for _, neighbor, cosine, _ in rows]


def test_a_rare_word_counts_for_less(court: Model) -> None:
    """sweyn lies nearest, but 0.985 * (1 - exp(-5 / 20)) = 0.218 is less than 0.940 and 0.866."""
    assert ranked(court) == [("queen", 0.94), ("throne", 0.866), ("sweyn", 0.985), ("far", -0.985)]
    np.testing.assert_allclose(vector_trust(court), 1 - np.exp(-COUNTS / 20), rtol=1e-6)


def test_raw_ranks_by_cosine(court: Model) -> None:
    right = [("sweyn", 0.985), ("queen", 0.94), ("throne", 0.866), ("far", -0.985)]
    assert ranked(court, raw=True) == right


def test_a_note_explains_cosines_out_of_order(court: Model) -> None:
    assert neighbors(court, "king", 4).notes == [
        "rare words count for less, so the cosines are out of order; see --raw"
    ]
    assert neighbors(court, "king", 4, raw=True).notes == []
    assert neighbors(court, "king", 2).notes == []


def test_a_rare_opposite_word_ranks_low(court: Model) -> None:
    (names,) = nearest(court, court.vector("king"), 5)
    assert [word for word, _ in names] == ["king", "queen", "throne", "sweyn", "far"]


def test_min_count_leaves_rare_words_out(court: Model) -> None:
    assert ranked(court, min_count=5, raw=True)[-1][0] == "throne"
    assert ranked(court, min_count=6) == [("queen", 0.94), ("throne", 0.866)]


def test_an_imported_model_is_ranked_by_cosine(tmp_path: Path) -> None:
    model = open_court(tmp_path / "imported", counts_estimated=True)
    assert ranked(model) == ranked(model, raw=True)


def test_analogy_ranks_so_too(court: Model) -> None:
    first = [
        analogy(court, "throne", "king", "queen", raw=raw).records()[0] for raw in (False, True)
    ]
    assert [row["word"] for row in first] == ["sweyn", "sweyn"]  # -10 degrees: far from it
    assert analogy(court, "throne", "king", "queen", min_count=6).records() == []


def test_every_command_that_names_neighbours_has_both(run: Run, court: Model) -> None:
    env = {"CTXEMBED_MODEL": str(court.path)}
    for line in (
        ["neighbors", "king", "-n", "1", "--no-header"],
        ["show", "king", "-n", "1", "--occurrences", "0"],
    ):
        variants: list[list[str]] = [[], ["--raw"], ["--min-count", "2500"]]
        outputs = [run(*line, *how, env=env).stdout for how in variants]
        assert ["sweyn" in text for text in outputs] == [False, True, False], line
        assert ["queen" in text for text in outputs] == [True, False, True], line
    line = ["neighbors", "--analogy", "throne", "king", "queen"]
    assert "sweyn" in run(*line, "--raw", env=env).stdout
    assert "sweyn" not in run(*line, "--min-count", "6", env=env).stdout


@pytest.mark.parametrize("number", [1, 5, 40])
def test_leaving_the_rare_ones_out_changes_nothing(number: int, tmp_path: Path) -> None:
    """Where the rare words could not win they are not read; all words sorted say the same."""
    rng = np.random.default_rng(number)
    counts = np.sort(rng.zipf(1.3, 2000).clip(1, 10_000))[::-1].astype(np.int64)
    words = [f"w{i}" for i in range(2000)]
    vectors = rng.normal(size=(2000, 6)).astype(np.float32)
    meta = {"tokens": 50_000_000, "tokenizer": {"kind": "word", "cased": False}}
    (tmp_path / "m").mkdir()
    write_files(tmp_path / "m", words, counts, vectors, None, meta)
    model = Model.open(tmp_path / "m")
    queries = rng.normal(size=(70, 6)).astype(np.float32)
    trust = 1 - np.exp(-counts / (0.02 * 50_000_000**0.5))
    for space, mean in ((None, np.zeros(6)), (model.centred_space, vectors.mean(axis=0))):
        table = vectors - mean
        table /= np.linalg.norm(table, axis=1, keepdims=True)
        cosines = queries @ table.T / np.linalg.norm(queries, axis=1, keepdims=True)
        scores = cosines - np.abs(cosines) * (1 - trust)
        scores[:, 3] = -np.inf
        for row, near in enumerate(nearest(model, queries, number, [[3]] * 70, space)):
            order = np.argsort(-scores[row], kind="stable")[:number]
            assert [word for word, _ in near] == [words[i] for i in order]
            assert [cosine for _, cosine in near] == pytest.approx(cosines[row, order], abs=1e-5)
