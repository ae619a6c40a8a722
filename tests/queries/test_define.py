"""ctxembed define: sentences, entries, batches, phrases and dictionaries of one's own."""

import json
from pathlib import Path

import pytest

import ctxembed
from tests.conftest import Run, mentions

OWN = "bank\tn\tmoney\tthe money\tbank money phone\nbank\tn\triver\tthe river\tthe river bank\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own.tsv").write_text(OWN)
    return tmp_path / "own.tsv"


def test_all_senses_of_a_target(run: Run, own: Path) -> None:
    done = run("define", "the river [bank]", "--dictionary", "own.tsv", "-f", "json")
    rows = json.loads(done.stdout)
    assert [row["sense_key"] for row in rows] == ["bank%river", "bank%money"]
    assert sum(row["sure"] for row in rows) == pytest.approx(1)
    assert rows[0]["definition"] == "the river"
    assert (rows[0]["sentence"], rows[0]["target"], rows[0]["position"]) == (1, "bank", 3)
    assert "rough guide" in done.stderr  # a model without labelled senses
    lead = run("define", "the river [bank]", "--dictionary", "own.tsv", "-f", "table").stdout
    assert lead.startswith("bank: the river, 0.99 sure\n")


def test_scores_sum_up(run: Run) -> None:
    """Within one part of speech, sure is the softmax of the sum of the three parts."""
    table = ctxembed.define("english", "the river [bank]", part="n").records()
    assert len(table) == 10
    assert all(row["part"] == "n" for row in table)
    scores = [sum(float(str(row[name])) for name in ("text", "examples", "prior")) for row in table]
    assert scores == sorted(scores, reverse=True)
    total = sum(2.718281828459045**score for score in scores)
    for row, score in zip(table, scores, strict=True):
        assert row["sure"] == pytest.approx(2.718281828459045**score / total)
    parts = {str(row["part"]) for row in ctxembed.define("english", "the river [bank]").records()}
    assert parts == {"n", "v"}


def test_a_word_alone_is_an_entry(run: Run, own: Path) -> None:
    rows = json.loads(run("define", "hot dogs", "-f", "json").stdout)
    assert {row["sense_key"].split("%")[0] for row in rows} == {"hot_dog"}
    assert all(row["text"] is None for row in rows)
    rows = json.loads(run("define", "Bank", "-f", "json", "--dictionary", "own.tsv").stdout)
    assert [row["sure"] for row in rows] == [0.5, 0.5]
    one = run("define", "bank", "-n", "1", "--no-header", "--part", "v").stdout.splitlines()
    assert len(one) == 1
    assert "bank%2:" in one[0]


def test_no_target_marked(run: Run) -> None:
    rows = ctxembed.define("english", "It was a piece of cake with a red apple").records()
    assert [row["target"] for row in rows][:2] == ["piece of cake", "red"]
    assert rows[0]["definition"] == "any undertaking that is easy to do"
    targets = [r["target"] for r in ctxembed.define("english", "He lives on credit").records()]
    assert "lives on" not in targets


def test_batch(run: Run) -> None:
    done = run(
        "define", "-", "-n", "1", stdin="the [bank] money\n\nbank\nthe [the] bank\nan [ap] x\n"
    )
    lines = done.stdout.splitlines()[1:]
    assert [line.split("\t")[0] for line in lines] == ["1", "3"]
    assert done.returncode == 4
    assert mentions(done.stderr, "line~4 no~entry 'the' line~5 'ap'")


def test_batch_of_entries(run: Run) -> None:
    done = run("define", "-", "-n", "1", "--no-header", stdin="bank\n\nriver\n")
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == ["bank", "river"]
    done = run("define", "-", "-n", "1", "--no-header", stdin="bank\n[aple] pie\n")
    assert (done.returncode, done.stdout.split("\t")[1]) == (4, "bank")
    assert mentions(done.stderr, "line~2 'aple' vocabulary")


def test_no_entry(run: Run, own: Path) -> None:
    done = run("define", "the [river] bank", "--dictionary", "own.tsv")
    assert done.returncode == 4
    assert mentions(done.stderr, "no~entry~for~'river' --dictionary")
    both = run("define", "the [river] bank", "--dictionary", "own.tsv", "--dictionary", "english")
    assert both.returncode == 0
    assert "river%1:17:00::" in both.stdout
    assert run("define", "qwxz", "--dictionary", "own.tsv").returncode == 4


def test_form_and_word(run: Run) -> None:
    done = run("define", "the banks money bank", "--word", "bank", "-n", "1", "-f", "jsonl")
    assert json.loads(done.stdout)["position"] == 4
    done = run("define", "the [banks] money", "-n", "1", "-f", "jsonl")
    assert json.loads(done.stdout)["sense_key"].startswith("bank%")


def test_wrong_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_text("bank\tmoney\n")
    done = run("define", "the [bank]", "--dictionary", "bad.tsv")
    assert done.returncode == 5
    assert mentions(done.stderr, "bad.tsv line~1 WORD<tab>PART<tab>LABEL<tab>DEFINITION")
