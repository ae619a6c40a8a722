"""Which words need their context: made-up vectors by hand, the command on the small fixed model."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.model.saved_ambiguity import FILE, Calibration
from ctxembed.word_senses import calibrate
from ctxembed.word_senses.calibrate import fit_bar
from ctxembed.word_senses.cluster import Separation
from ctxembed.word_senses.evidence import Evidence, measure_evidence
from ctxembed.word_senses.sense_space import SenseSpace, mean_cosine_between
from tests.conftest import ROOT, Run, mentions

ambiguity_query = importlib.import_module("ctxembed.queries.ambiguity")
COLUMNS = (
    "word\tcount\tsenses\tprobability\tprob_low\tprob_high\tscore\tself_similarity\tlow\thigh"
    "\tneighbors\tstatic_variance\tverdict"
)


def test_describe_by_hand() -> None:
    # Three occurrences along x and one along y: 3 of the 6 pairs have cosine 1, the others 0.
    vectors = np.eye(2, dtype=np.float32)[[0, 0, 0, 1] * 10]
    space = SenseSpace(None, 4 * np.eye(2), baseline=0.1)  # type: ignore[arg-type]
    evidence = measure_evidence(vectors, vectors[0], space, 0.5)
    pairs = (30 * 29 + 10 * 9) / (40 * 39)  # of one direction, all others have cosine 0
    assert evidence.similarity == pytest.approx(pairs - 0.1)
    assert evidence.low < evidence.similarity < evidence.high
    assert evidence.explained == pytest.approx(3 / 4)
    assert evidence.separation.scores[0] > 1


def test_probability_by_hand() -> None:
    """Signs 1, 2 and -1 standard deviations above plain words: their mean is 2 / 3."""
    item = Calibration([[0, 1.0], [0, -0.2], [0, -0.5]], [0.5, 0.1, 0.2], [3.0, -1.0])
    logit, error = item.logit(np.array([1.5, 0.0, -0.7]), np.array([0.5, 0.0, 0.0]), 100)
    assert logit == pytest.approx(3 * (2 / 3) - 1)
    assert error == pytest.approx(3 * 1 / 3)  # one of three signs is uncertain by 1
    steep = Calibration([[0.1, 1.0], [0, 0], [0, 0]], [1.0, 0, 0], [1.0, 0.0])  # one sign
    at_seven, sure = steep.logit(np.array([1.3, 9.0, 9.0]), np.zeros(3), 7)
    assert at_seven == pytest.approx(0.3 - 0.1 * np.log(7)) and sure == 0


def made_up(signs: tuple[float, float, float], size: int) -> Evidence:
    found = Separation([signs[0]], 0.0, np.zeros((1, 1)))
    return Evidence(size, found, -signs[1], -signs[1], -signs[1], -signs[2], 0.0)


def test_the_bar_lies_between_words_and_pseudowords() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(60, 600, 200).tolist()
    # The score of plain words falls with their occurrences; pseudowords lie 2 deviations above.
    usual = [(1.5 - 0.1 * np.log(n), 0.2, -0.5) for n in sizes]
    noise = rng.normal(size=(200, 3)) * 0.1
    words = [made_up(tuple(np.add(u, e)), n) for u, e, n in zip(usual, noise, sizes, strict=True)]
    merged = [
        made_up(tuple(np.add(u, e) + 0.2), n) for u, e, n in zip(usual, noise, sizes, strict=True)
    ]
    bar = fit_bar(words, merged)
    assert bar.lines[0][0] == pytest.approx(-0.1, abs=0.03)
    middle = [np.add(u, 0.1) for u in usual]
    for signs, size in list(zip(middle, sizes, strict=True))[:20]:
        assert abs(bar.logit(signs, np.zeros(3), size)[0]) < 1
    right = [bar.logit(item.signs, np.zeros(3), item.occurrences)[0] > 0 for item in merged]
    assert np.mean(right) > 0.9


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
    chances = [float(row[3]) for row in rows[: sum(several)]]
    assert chances == sorted(chances, reverse=True)
    for row in rows:
        low, high = float(row[4]), float(row[5])
        assert low <= float(row[3]) <= high
        sure = "static-ok" if row[2] == "1" else "needs-context"
        assert row[12] == ("unsure" if low <= 0.5 <= high else sure)
        assert float(row[8]) <= float(row[7]) <= float(row[9])
    # The same answer by name, with other words, and with any seed.
    for row in rows:
        alone = run("ambiguity", row[0], "the", "--seed", "9", "-m", str(often)).stdout
        assert "\t".join(row) in alone.splitlines()


def test_the_verdict_follows_the_senses(run: Run, often: Path, tmp_path: Path) -> None:
    folder = str(shutil.copytree(often, tmp_path / "model"))
    for word in ("bank", "apple", "sweet"):
        number = run("senses", word, "-m", folder).stdout.count("\n") - 1
        row = run("ambiguity", word, "-m", folder).stdout.splitlines()[1].split("\t")
        assert int(row[2]) == number
        assert row[12] in ("unsure", "needs-context" if number > 1 else "static-ok")


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "markdown"])
def test_formats_say_the_same(run: Run, often: Path, form: str) -> None:
    plain = run("ambiguity", "bank", "-m", str(often), "--precision", "3").stdout
    cells = plain.splitlines()[1].split("\t")
    text = run("ambiguity", "bank", "-m", str(often), "--precision", "3", "-f", form).stdout
    if form in ("json", "jsonl"):
        rows = json.loads(text)
        record = rows[0] if form == "json" else rows
        assert list(record) == COLUMNS.split("\t")
        assert [record["word"], record["count"], record["verdict"]] == [cells[0], 30, cells[12]]
        assert record["self_similarity"] == float(cells[7])
    else:
        last = text.splitlines()[-1].replace("|", " ").replace(",", " ")
        kept = [cell for i, cell in enumerate(cells) if form != "table" or not 6 <= i <= 11]
        assert last.split() == kept


def test_the_verdict_is_whole_on_a_usual_terminal(run: Run) -> None:
    done = run("ambiguity", "bank", "-m", "everyday", "-f", "table", env={"COLUMNS": "80"})
    assert done.stdout.splitlines()[-1].endswith(("needs-context", "unsure"))


def test_senses_and_ambiguity_agree_whatever_was_asked_before(run: Run, tmp_path: Path) -> None:
    folder = str(shutil.copytree(bundled_model("everyday"), tmp_path / "model"))
    words = ("orange", "apple", "bank", "water", "table")
    ask = ("ambiguity", *words, "-m", folder, "-f", "json")
    before = json.loads(run(*ask).stdout)
    for item in before:
        kept = json.loads(run("senses", item["word"], "--save", "-m", folder, "-f", "json").stdout)
        assert len(kept) == item["senses"]
    assert json.loads(run(*ask).stdout) == before
    # Senses by a number of the user change nothing either.
    assert run("senses", "orange", "--k", "5", "--save", "-m", folder).returncode == 0
    assert json.loads(run(*ask).stdout) == before


def test_the_bar_of_a_corpus_is_measured_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "MIN_TOKENS", 10_000)
    monkeypatch.setattr(calibrate, "WORDS", 40)
    folder = shutil.copytree(bundled_model("everyday"), tmp_path / "model")
    ask = ("ambiguity", "bank", "water", "-m", str(folder), "-f", "json")
    before = run(*ask)
    assert mentions(before.stderr, "pseudowords of this corpus")
    (bar,) = json.loads((folder / FILE).read_text())["calibrations"].values()
    assert bar["words"] == 40 and bar["coefficients"][0] > 0  # signs are higher in pseudowords
    monkeypatch.setattr(calibrate, "WORDS", 60)  # read from the file, not measured again
    assert run(*ask).stdout == before.stdout
    (folder / FILE).unlink()
    monkeypatch.setattr(calibrate, "WORDS", 40)
    assert run(*ask).stdout == before.stdout


def test_saved_figures_answer_without_a_corpus(run: Run, tmp_path: Path) -> None:
    folder, small = str(tmp_path / "model"), str(tmp_path / "small")
    shutil.copytree(bundled_model("everyday"), folder)
    saved = run("ambiguity", "bank", "water", "--save", "-m", folder, "-f", "json")
    assert mentions(saved.stderr, "2 saved")
    assert run("shrink", "-m", folder, "-o", small).returncode == 0
    copy = run("ambiguity", "water", "bank", "-m", small, "-f", "json")
    for one, other in zip(json.loads(copy.stdout), json.loads(saved.stdout), strict=True):
        assert one == pytest.approx(other, abs=1e-3)
    other = run("ambiguity", "cinema", "bank", "-m", small, "-f", "json")
    assert mentions(other.stderr, "1~word~has~none ctxembed~index")
    _, unsaved = json.loads(other.stdout)
    assert (unsaved["count"], unsaved["verdict"]) == (None, "not-measured")
    (tmp_path / "small" / FILE).unlink()
    refused = run("ambiguity", "bank", "-m", small)
    assert refused.returncode == 3 and mentions(refused.stderr, "no corpus")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', '{"format": 1, "model": null}'])
def test_damaged_figures_are_named(run: Run, often: Path, tmp_path: Path, text: str) -> None:
    folder = shutil.copytree(often, tmp_path / "model")
    (folder / FILE).write_text(text)
    done = run("ambiguity", "bank", "-m", str(folder))
    assert done.returncode == 3 and mentions(done.stderr, f"{FILE} damaged")


def test_english_answers_from_saved_figures() -> None:
    model = Model.open(bundled_model("english"))
    rows = ctxembed.ambiguity(model, ["bank", "seal", "river"]).records()
    senses = {row["word"]: row["senses"] for row in rows}
    assert senses["bank"] > 1 and senses["seal"] > 1 and senses["river"] == 1
    assert all(0 <= row["prob_low"] <= row["probability"] <= row["prob_high"] <= 1 for row in rows)
    assert ctxembed.ambiguity(model, "bank").records()[0] in rows
    summary = {row["property"]: row["value"] for row in ctxembed.ambiguity(model, summary=True)}
    assert 0.5 < summary["text_judged"] < 1  # frequent words


def test_too_rare(run: Run, often: Path) -> None:
    rare = run("ambiguity", "phone", "-m", str(often)).stdout.splitlines()[1]
    assert rare == "phone\t15" + "\t" * 11 + "too-rare"


def test_summary(run: Run, often: Path) -> None:
    command = ("ambiguity", "--min-count", "30", "-m", str(often))
    rows = [line.split("\t") for line in run(*command).stdout.splitlines()[1:]]
    text = run(*command, "--summary").stdout
    summary = {row[0]: float(row[1]) for row in (x.split("\t") for x in text.splitlines()[1:])}
    needs = sum(int(row[1]) for row in rows if row[2] > "1")
    assert summary["words"] == 6
    assert summary["words_needs-context"] == sum(row[12] == "needs-context" for row in rows)
    assert summary["text_judged"] == pytest.approx(255 / 330, abs=1e-6)
    assert summary["text_needs_context"] == pytest.approx(needs / 255, abs=1e-6)


def test_stdin_and_unknown(run: Run, often: Path) -> None:
    done = run("ambiguity", "-", "-m", str(often), stdin="bank\nzebra\n")
    assert done.returncode == 4
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["word", "bank"]
    assert mentions(done.stderr, "'zebra' vocabulary")


def test_needs_no_sklearn(spawn: Run, often: Path, tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise RuntimeError('imported')\n")
    done = spawn(
        "ambiguity", "bank", "-m", str(often), env={"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    )
    assert done.returncode == 0, done.stderr


def test_several_processes_give_the_same_answer(
    run: Run, often: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ("ambiguity", "--min-count", "30", "-m", str(often))
    alone = run(*ask).stdout
    monkeypatch.setattr(ambiguity_query, "BLOCK", 2)
    assert run(*ask).stdout == alone  # whatever is read together
    monkeypatch.setattr(ambiguity_query, "MANY_BLOCKS", 2)
    monkeypatch.setattr(ambiguity_query, "cores", lambda: 2)
    assert run(*ask).stdout == alone


# Measures two words at a time, and is interrupted after the first two.
INTERRUPTED = """
import importlib, sys
query = importlib.import_module("ctxembed.queries.ambiguity")
query.BLOCK, measure = 2, query._measure_block
def interrupted(test, words):
    if "the" not in words:
        raise KeyboardInterrupt
    return measure(test, words)
query._measure_block = interrupted
from ctxembed.cli.main import run
sys.exit(run())
"""


def test_an_interrupt_keeps_what_was_measured(run: Run, often: Path) -> None:
    ask = ("ambiguity", "--min-count", "30", "-m", str(often))
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *ask], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert mentions(done.stderr, "interrupted the~2~most~frequent~of~6 words")
    lines = done.stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["word", "apple", "the"]
    assert set(lines) <= set(run(*ask).stdout.splitlines())
