"""Which words need their context: made-up vectors by hand, the command on the small fixed model."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from ctxembed.ask.ambiguity import cut, describe, falls_apart
from ctxembed.ask.induce import SenseSpace, _between, _merged, _self_similarity
from ctxembed.attention.layer import Layer
from ctxembed.context.representations import Attention, Bag
from tests.conftest import Run

COLUMNS = "word\tcount\tself_similarity\tlow\thigh\tstatic_variance\tsenses\tverdict"


def test_describe_by_hand() -> None:
    # Three occurrences along x and one along y: 3 of the 6 pairs have cosine 1, the others 0.
    vectors = np.eye(2, dtype=np.float32)[[0, 0, 0, 1]]
    space = SenseSpace(None, np.eye(2), baseline=0.1)  # type: ignore[arg-type]
    draws = np.array([[1, 1, 1, 1], [2, 2, 0, 0]], np.float32)
    made = describe(0, 4, vectors, vectors[0], space, draws)
    assert made.similarity == pytest.approx(0.5 - 0.1)
    # The second sample has only pairs along x, of different occurrences: cosine 1.
    assert (made.low, made.high) == pytest.approx((0.5 + 0.0125 - 0.1, 1 - 0.0125 - 0.1))
    assert made.explained == pytest.approx(3 / 4)


def test_baseline_leaves_pairs_of_one_word_out() -> None:
    x, y = np.eye(2)
    assert _between([np.array([x, x]), np.array([y, y, y])]) == 0
    assert _between([np.array([x, x]), np.array([x, y])]) == pytest.approx(0.5)
    assert _between([np.array([x, x])]) == 0  # no pairs


def test_threshold_lies_between_one_word_and_two() -> None:
    """Two words whose contexts are x and y: 1 each alone; made one, 2 of 6 pairs are alike."""
    groups = [np.eye(2)[[0, 0]], np.eye(2)[[1, 1]]]
    bag = Bag("bag", np.eye(2))
    assert _self_similarity(groups) == 1
    assert _self_similarity(_merged(groups, bag, np.array([0, 1]))) == pytest.approx(2 / 6)
    # Attention that keeps the word itself: both get the word in the middle instead of their own.
    keeps = Attention("mine", np.eye(2), Layer(own=0.5))
    (made,) = _merged([0.5 * group for group in groups], keeps, np.array([0, 1]))
    np.testing.assert_allclose(made, np.full((4, 2), np.sqrt(0.5)))


def test_falls_apart() -> None:
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(100, 30))
    assert not falls_apart(cloud)
    cloud[:40, 3] += 9
    assert falls_apart(cloud)
    line, edge = cut(cloud)
    assert len(set((cloud @ line > edge)[:40])) == 1
    assert not falls_apart(np.zeros((20, 3)))  # all the same
    lonely = rng.normal(size=(100, 30))
    lonely[0, 3] += 50  # one occurrence is no sense
    assert not falls_apart(lonely)


def test_rows(run: Run, often: Path) -> None:
    done = run("ambiguity", "-m", str(often), "--min-count", "30")
    lines = done.stdout.splitlines()
    assert lines[0] == COLUMNS
    rows = [line.split("\t") for line in lines[1:]]
    assert {row[0]: row[1] for row in rows} == {
        "the": "90", "apple": "45", "bank": "30", "orange": "30", "juice": "30", "sweet": "30",
    }  # fmt: skip
    values = [float(row[2]) for row in rows]
    assert values == sorted(values)
    for row in rows:
        assert float(row[3]) <= float(row[2]) <= float(row[4])
    told = re.search(r"that of random pairs of different words; below (\S+),", done.stderr)
    assert told is not None
    for row in rows:
        alike = float(row[2]) >= float(told[1]) and row[6] == "1"
        assert row[7] == ("static-ok" if alike else "needs-context")


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "markdown"])
def test_formats_say_the_same(run: Run, often: Path, form: str) -> None:
    plain = run("ambiguity", "bank", "-m", str(often), "--precision", "3").stdout
    cells = plain.splitlines()[1].split("\t")
    text = run("ambiguity", "bank", "-m", str(often), "--precision", "3", "-f", form).stdout
    if form in ("json", "jsonl"):
        made = json.loads(text)
        record = made[0] if form == "json" else made
        assert list(record) == COLUMNS.split("\t")
        assert [record["word"], record["count"], record["verdict"]] == [cells[0], 30, cells[7]]
        assert record["self_similarity"] == float(cells[2])
    else:
        last = text.splitlines()[-1].replace("|", " ").replace(",", " ")
        assert last.split() == cells


def test_too_rare_and_threshold(run: Run, often: Path) -> None:
    rare = run("ambiguity", "phone", "-m", str(often)).stdout.splitlines()[1]
    assert rare == "phone\t15\t\t\t\t\t\ttoo-rare"
    high = run("ambiguity", "orange", "--threshold", "2", "-m", str(often)).stdout
    assert high.splitlines()[1].endswith("needs-context")
    low = run("ambiguity", "orange", "--threshold", "-1", "-m", str(often)).stdout
    assert low.splitlines()[1].endswith("static-ok")


def test_summary(run: Run, often: Path) -> None:
    def ask(*more: str) -> dict[str, float]:
        text = run("ambiguity", "--summary", "--min-count", "30", "-m", str(often), *more).stdout
        return {row[0]: float(row[1]) for row in (x.split("\t") for x in text.splitlines()[1:])}

    everything = ask("--threshold", "2")
    assert everything["words"] == everything["words_needs-context"] == 6
    assert everything["text_needs_context"] == 1
    assert everything["text_judged"] == pytest.approx(255 / 330, abs=1e-6)
    some = ask()
    assert some["text_needs_context_low"] <= some["text_needs_context"]
    assert some["text_needs_context"] <= some["text_needs_context_high"]


def test_stdin_and_unknown(run: Run, often: Path) -> None:
    done = run("ambiguity", "-", "-m", str(often), stdin="bank\nzebra\n")
    assert done.returncode == 4
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["word", "bank"]
    assert "'zebra' is not in the vocabulary" in done.stderr


def test_same_seed_same_bytes(run: Run, often: Path) -> None:
    one, two = (run("ambiguity", "-m", str(often), "--seed", "3").stdout for _ in "ab")
    assert one == two


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["zebra"], 4, "'zebra' is not in the vocabulary"),
        (["--min-count", "1000"], 1, "no word occurs 1000 times; give a lower --min-count"),
        (["--attention", "mine", "--min-count", "30"], 3, "no attention 'mine'"),
        (["-"], 2, "stdin was empty"),
    ],
)
def test_errors(run: Run, often: Path, arguments: list[str], code: int, message: str) -> None:
    done = run("ambiguity", *arguments, "-m", str(often))
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


def test_needs_no_sklearn(spawn: Run, often: Path, tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise RuntimeError('imported')\n")
    done = spawn(
        "ambiguity", "bank", "-m", str(often), env={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    )
    assert done.returncode == 0, done.stderr
