"""Words of several tokens where the model has no such word: each has one vector, and senses."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctxembed.context.hits import find_hits
from ctxembed.context.parse import parse
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.training.train import train
from tests.conftest import Run, write_tiny

LINES = ["New York has a bank", "they saw New York from the river", "a new york bank in York"]


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of words that knows new and york, not new_york."""
    folder = tmp_path_factory.mktemp("towns")
    (folder / "a.txt").write_text(".\n".join(LINES * 10) + ".\n")
    train(folder / "a.txt", folder / "m", attention=False, min_count=1, dim=5)
    return folder / "m"


@pytest.mark.parametrize("name", ["static", "bag", "general"])
def test_a_span_of_the_corpus_is_that_of_a_sentence(towns: Path, name: str) -> None:
    model = Model.open(towns)
    representation = Representations(model).get(name)
    hits = find_hits(model, "New York")
    assert (len(hits.positions), hits.size) == (30, 2)
    vectors = vectors_at(model, representation, hits.positions[:3], 2)
    marked = [
        "[New York] has a bank", "they saw [New York] from the river", "a [new york] bank in York",
    ]  # fmt: skip
    expected = representation.vectors([parse(model, line).occurrences[0] for line in marked])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_a_word_without_a_vector_is_no_part_of_the_mean(tmp_path: Path) -> None:
    text = ["the quay bank quay", "river bank quay"]
    model = Model.open(write_tiny(tmp_path / "rare", text))
    representation = Representations(model).get("static")
    for span, number in (("quay bank", 1), ("bank quay", 2)):
        hits = find_hits(model, span)
        assert hits.size == 2
        vectors = vectors_at(model, representation, hits.positions, 2)
        np.testing.assert_allclose(vectors, np.tile(model.vector("bank"), (number, 1)))


def test_questions_take_several_words(run: Run, towns: Path) -> None:
    at = ("-m", str(towns), "-f", "json")
    (sense,) = json.loads(run("senses", "New York", "--k", "1", *at).stdout)
    assert (sense["word"], sense["count"]) == ("new york", 30)
    assert all("[New York]" in x or "[new york]" in x for x in sense["examples"])
    assert not {"new", "york"} & set(sense["nearest"])
    both = json.loads(run("senses", "new york", "--k", "2", "--save", *at).stdout)
    assert sum(row["count"] for row in both) == 30
    rows = json.loads(run("kwic", "New York", *at).stdout)
    assert [sum(row["sense"] == k for row in rows) for k in (1, 2)] == [x["count"] for x in both]
    assert (
        len(json.loads(run("kwic", "New York", "--where", "sense=2", *at).stdout))
        == (both[1]["count"])
    )
    collocates = json.loads(
        run("collocates", "New York", "--by-sense", "--min-count", "1", *at).stdout
    )
    assert {row["sense"] for row in collocates} == {1, 2}
    (judged,) = json.loads(run("ambiguity", "New York", *at).stdout)
    assert (judged["word"], judged["count"]) == ("new york", 30)
    refused = run("kwic", "new yo*", "--where", "sense=1", "-m", str(towns))
    assert refused.returncode == 2 and "pattern" in refused.stderr


def test_characters(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zh.txt").write_text("他去了北京大学。\n北京的银行关门了！\n他在北海吗？\n" * 12)
    how = ("--unit", "character", "--static-only", "--min-count", "1", "--dim", "4", "-q")
    assert run("train", "zh.txt", "-o", "m", *how).returncode == 0
    (sense,) = json.loads(run("senses", "北京", "--k", "1", "-m", "m", "-f", "json").stdout)
    assert (sense["word"], sense["count"]) == ("北京", 24)
    assert all("[北京]" in quoted for quoted in sense["examples"])
    (judged,) = json.loads(run("ambiguity", "北京", "-m", "m", "-f", "json").stdout)
    assert judged["count"] == 24
    assert run("kwic", "北京", "--sort", "sense", "-m", "m").returncode == 0
    assert run("senses", "北京", "-m", "m", "-o", "map.svg").returncode == 0
