"""Which words need their context: made-up vectors by hand, the command on the small fixed model."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ctxembed.model.bundled import bundled_model
from ctxembed.queries.ambiguity import measure_usage
from ctxembed.word_senses.sense_space import SenseSpace, mean_cosine_between
from tests.conftest import Run, mentions

COLUMNS = "word\tcount\tsenses\tscore\tself_similarity\tlow\thigh\tstatic_variance\tverdict"


def test_describe_by_hand() -> None:
    # Three occurrences along x and one along y: 3 of the 6 pairs have cosine 1, the others 0.
    vectors = np.eye(2, dtype=np.float32)[[0, 0, 0, 1] * 10]
    space = SenseSpace(None, 4 * np.eye(2), baseline=0.1)  # type: ignore[arg-type]
    usage = measure_usage("bank", 40, vectors, vectors[0], space, 1)
    pairs = (30 * 29 + 10 * 9) / (40 * 39)  # of one direction, all others have cosine 0
    assert usage.similarity == pytest.approx(pairs - 0.1)
    assert usage.low < usage.similarity < usage.high
    assert usage.explained == pytest.approx(3 / 4)
    assert (usage.senses, usage.verdict) == (2, "needs-context")


def test_baseline_leaves_pairs_of_one_word_out() -> None:
    x, y = np.eye(2)
    assert mean_cosine_between([np.array([x, x]), np.array([y, y, y])]) == 0
    assert mean_cosine_between([np.array([x, x]), np.array([x, y])]) == pytest.approx(0.5)
    assert mean_cosine_between([np.array([x, x])]) == 0  # no pairs


def test_rows(run: Run, often: Path) -> None:
    done = run("ambiguity", "-m", str(often), "--min-count", "30")
    lines = done.stdout.splitlines()
    assert lines[0] == COLUMNS
    rows = [line.split("\t") for line in lines[1:]]
    assert {row[0]: row[1] for row in rows} == {
        "the": "90", "apple": "45", "bank": "30", "orange": "30", "juice": "30", "sweet": "30",
    }  # fmt: skip
    assert rows[-1][0] == "the"  # content words first, whatever their senses
    several = [int(row[2]) > 1 for row in rows[:-1]]
    assert several == sorted(several, reverse=True)
    scores = [float(row[3]) for row in rows[: sum(several)]]
    assert scores == sorted(scores, reverse=True)
    for row in rows:
        assert float(row[5]) <= float(row[4]) <= float(row[6])
        assert row[8] == ("static-ok" if row[2] == "1" else "needs-context")
    # The same answer by name.
    for row in rows:
        alone = run("ambiguity", row[0], "-m", str(often)).stdout.splitlines()[1].split("\t")
        assert (alone[:3], alone[8]) == (row[:3], row[8])
        assert [float(x) for x in alone[3:8]] == pytest.approx(
            [float(x) for x in row[3:8]], abs=1e-4
        )


def test_the_verdict_follows_the_senses(run: Run, often: Path, tmp_path: Path) -> None:
    folder = str(shutil.copytree(often, tmp_path / "model"))
    for word in ("bank", "apple", "sweet"):
        number = run("senses", word, "-m", folder).stdout.count("\n") - 1
        row = run("ambiguity", word, "-m", folder).stdout.splitlines()[1].split("\t")
        assert int(row[2]) == number
        assert row[8] == ("needs-context" if number > 1 else "static-ok")


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "markdown"])
def test_formats_say_the_same(run: Run, often: Path, form: str) -> None:
    plain = run("ambiguity", "bank", "-m", str(often), "--precision", "3").stdout
    cells = plain.splitlines()[1].split("\t")
    text = run("ambiguity", "bank", "-m", str(often), "--precision", "3", "-f", form).stdout
    if form in ("json", "jsonl"):
        rows = json.loads(text)
        record = rows[0] if form == "json" else rows
        assert list(record) == COLUMNS.split("\t")
        assert [record["word"], record["count"], record["verdict"]] == [cells[0], 30, cells[8]]
        assert record["self_similarity"] == float(cells[4])
    else:
        last = text.splitlines()[-1].replace("|", " ").replace(",", " ")
        aside = COLUMNS.split("\t").index("static_variance")
        kept = [cell for i, cell in enumerate(cells) if form != "table" or i != aside]
        assert last.split() == kept


def test_the_verdict_is_whole_on_a_usual_terminal(run: Run) -> None:
    done = run("ambiguity", "bank", "-m", "everyday", "-f", "table", env={"COLUMNS": "80"})
    assert done.stdout.splitlines()[-1].endswith("needs-context")


def test_score_and_senses_are_of_the_same_occurrences(run: Run, tmp_path: Path) -> None:
    """Of saved senses the score is printed, except where the user gave their number."""
    folder = str(shutil.copytree(bundled_model("everyday"), tmp_path / "model"))
    (tmp_path / "model" / "senses.npz").unlink()
    command = ("ambiguity", "orange", "-m", folder, "-f", "json")
    (alone,) = json.loads(run(*command).stdout)
    saving = ("senses", "orange", "--save", "--all-k", "-m", folder, "-f", "json")
    kept = json.loads(run(*saving).stdout)
    (row,) = json.loads(run(*command).stdout)
    assert row["score"] == pytest.approx(kept[1]["score"], abs=1e-4) != alone["score"]
    assert row["senses"] == next(item["k"] for item in kept if item["chosen"] == "yes")
    assert run("senses", "orange", "--k", "5", "--save", "-m", folder).returncode == 0
    assert json.loads(run(*command).stdout) == [alone]


def test_too_rare(run: Run, often: Path) -> None:
    rare = run("ambiguity", "phone", "-m", str(often)).stdout.splitlines()[1]
    assert rare == "phone\t15\t\t\t\t\t\t\ttoo-rare"


def test_summary(run: Run, often: Path) -> None:
    command = ("ambiguity", "--min-count", "30", "-m", str(often))
    rows = [line.split("\t") for line in run(*command).stdout.splitlines()[1:]]
    text = run(*command, "--summary").stdout
    summary = {row[0]: float(row[1]) for row in (x.split("\t") for x in text.splitlines()[1:])}
    needs = sum(int(row[1]) for row in rows if row[8] == "needs-context")
    assert summary["words"] == 6
    assert summary["words_needs-context"] == sum(row[8] == "needs-context" for row in rows)
    assert summary["text_judged"] == pytest.approx(255 / 330, abs=1e-6)
    assert summary["text_needs_context"] == pytest.approx(needs / 255, abs=1e-6)


def test_stdin_and_unknown(run: Run, often: Path) -> None:
    done = run("ambiguity", "-", "-m", str(often), stdin="bank\nzebra\n")
    assert done.returncode == 4
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["word", "bank"]
    assert mentions(done.stderr, "'zebra' vocabulary")


def test_same_seed_same_bytes(run: Run, often: Path) -> None:
    one, two = (run("ambiguity", "-m", str(often), "--seed", "3").stdout for _ in "ab")
    assert one == two


def test_needs_no_sklearn(spawn: Run, often: Path, tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise RuntimeError('imported')\n")
    done = spawn(
        "ambiguity", "bank", "-m", str(often), env={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    )
    assert done.returncode == 0, done.stderr
