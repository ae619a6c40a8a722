"""The bias experiment: hand-made answers as printed, small trainings, the bundled twins."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ctxembed.cli.mix import command_
from ctxembed.model.bundled import corpora_directory
from ctxembed.text.corpus import Corpus
from ctxembed.training import mix as analysis
from ctxembed.training.mix import Measured, Setup, find_crossing, interval_half_width
from tests.conftest import ROOT, Run, mentions

FRUIT = "She ate a sweet apple.\nThe apple is a sweet fruit.\nThe new phone is a gadget.\n" * 20
FIRM = "Apple sells a new phone.\nThe new apple gadget.\nThe fruit is sweet.\n" * 20
ASKED = ["--word", "apple", "--axis", "taste=fruit,sweet", "--axis", "tech=phone,gadget"]
PROBE = ["--probe", "a sweet [apple]"]
QUICK = ["--steps", "3", "--seeds", "1", "--dim", "8", "--epochs", "2", "--workers", "1"]

TSV = """\
representation	probe	share	taste	tech	difference	low	high
static		0.000000	0.850000	0.250000	0.600000	-0.035310	1.235310
static		0.500000	0.550000	0.550000	0.000000	-0.635310	0.635310
static		1.000000	0.250000	0.850000	-0.600000	-1.235310	0.035310
bag	1	0.000000	0.500000	0.250000	0.250000	0.250000	0.250000
bag	1	0.500000	0.500000	0.250000	0.250000	0.250000	0.250000
bag	1	1.000000	0.500000	0.250000	0.250000	0.250000	0.250000
general	1	0.000000	0.700000	0.300000	0.400000	0.400000	0.400000
general	1	0.500000	0.600000	0.400000	0.200000	0.200000	0.200000
general	1	1.000000	0.500000	0.500000	0.000000	0.000000	0.000000
"""
NOTES = """\
ctxembed: 6 models: 3 mixtures, seeds for each: 2; 260 words each, 25 dimensions, 100 epochs
ctxembed: probe 1: a ripe [apple]
ctxembed: probe 1: 'ripe' was skipped, unknown to 6 of 6 models
ctxembed: static apple crosses from taste to tech at a share of 0.50 of b.txt; it travels -1.20
ctxembed: its difference at the ends is within the spread of the seeds
ctxembed: bag: 1 of 1 probes stay on their side (+0.00)
ctxembed: general: 0 of 1 probes stay on their side (-0.40)
"""


@pytest.fixture
def twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.txt").write_text(FRUIT)
    (tmp_path / "b.txt").write_text(FIRM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def by_hand(_: Setup, job: tuple[float, int]) -> Measured:
    """Seeds 1 and 2 differ by 0.1 in what static says; the interval is ±12.706 · 0.05."""
    x, off = job[0], (job[1] - 1.5) * 0.05
    static = [0.85 - 0.6 * x + off, 0.25 + 0.6 * x - off]
    general = [0.7 - 0.2 * x, 0.3 + 0.2 * x]
    return Measured(np.array([static, [0.5, 0.25], general]), [["ripe"]])


@pytest.mark.parametrize("form", ["tsv", "csv", "table", "markdown", "json", "jsonl"])
def test_output(form: str, twins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "_measure", by_hand)
    line = ["a.txt", "b.txt", *ASKED, "--probe", "a ripe [apple]", "--steps", "3", "--seeds", "2"]
    json_too = ["--precision", "6"] if form == "csv" or "json" in form else []
    done = CliRunner().invoke(command_, [*line, "--workers", "1", "-f", form, *json_too])
    assert done.exit_code == 0, done.output
    assert done.stderr == NOTES
    if form in ("tsv", "csv"):
        assert done.stdout == TSV.replace("\t", "\t" if form == "tsv" else ",")
    elif form in ("table", "markdown"):
        rows = [
            [f"{float(c):.4f}" if "." in c else c for c in row.split("\t")]
            for row in TSV.splitlines()
        ]
        lines = [line for line in done.stdout.splitlines() if "---" not in line]
        if form == "table":
            assert [line.split() for line in lines] == [[c for c in row if c] for row in rows]
        else:
            assert [[c.strip() for c in line.split("|")[1:-1]] for line in lines] == rows
    else:
        text = done.stdout if form == "json" else f"[{','.join(done.stdout.splitlines())}]"
        assert [list(row.values()) for row in json.loads(text)] == [
            [row[0], *(json.loads(c) if c else None for c in row[1:])]
            for row in (row.split("\t") for row in TSV.splitlines()[1:])
        ]


def test_a_small_run_repeats(twins: Path, run: Run) -> None:
    line = ["mix", "a.txt", "b.txt", *ASKED, *PROBE, *QUICK]
    one, again = run(*line), run(*line[:-1], "2")  # one process or two: the same answer
    assert (one.returncode, one.stderr) == (0, again.stderr)
    assert one.stdout == again.stdout
    rows = [row.split("\t") for row in one.stdout.splitlines()]
    assert [row[0] for row in rows[1:]] == ["static"] * 3 + ["bag"] * 3 + ["general"] * 3
    assert all(row[-2:] == ["", ""] for row in rows[1:])  # one seed has no interval
    assert run(*line, "--seed", "2").stdout != one.stdout


def test_no_verdict_on_models_that_have_learned_nothing(
    twins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "_measure", lambda *job: replace(by_hand(*job), axes=0.99))
    line = ["a.txt", "b.txt", *ASKED, "--probe", "a ripe [apple]", *QUICK]
    done = CliRunner().invoke(command_, line)
    assert mentions(done.stderr, "axes cosine 0.99")
    assert "crosses" not in done.stderr


def test_without_probes_static_only(twins: Path, run: Run) -> None:
    done = run("mix", "a.txt", "b.txt", *ASKED, *QUICK)
    assert done.stdout.count("\n") == 1 + 3
    assert mentions(done.stderr, "vectors --probe sentence")


def test_stdin_is_a_corpus(twins: Path, run: Run) -> None:
    done = run("mix", "-", "b.txt", *ASKED, *QUICK, "-q", stdin=FRUIT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["a.txt", *ASKED], "two corpora, or none", 2),
        (["a.txt", "b.txt", *ASKED[2:]], "which word? give --word WORD", 2),
        (["-", "-", *ASKED], "- is given twice, but stdin can be read once", 2),
        (["a.txt", "b.txt", *ASKED[:4]], "give two axes", 2),
        (["a.txt", "b.txt", *ASKED, "--axis", "x=new"], "give two axes", 2),
        (["a.txt", "no.txt", *ASKED], "no.txt folder", 5),
        (["a.txt", "empty.txt", *ASKED], "empty.txt words", 5),
        (["a.txt", "b.txt", *ASKED, "--probe", "a pear"], "'apple'", 2),
        (["a.txt", "b.txt", *ASKED, "--probe", "[a] apple"], "mark [apple] once", 2),
        (["a.txt", "b.txt", *ASKED, "--probe", "[apple] [apple]"], "mark [apple] once", 2),
        (["a.txt", "b.txt", "--word", "ate", *ASKED[2:]], "'ate' b.txt", 4),
        (["a.txt", "b.txt", *ASKED[:-1], "tech=sells"], "'sells' a.txt", 4),
        (
            ["a.txt", "b.txt", *ASKED, "--words", "5", "--workers", "2"],
            "share 0.00",
            4,
        ),
        (["--steps", "1"], "1 2~to~101", 2),
    ],
)
def test_errors(arguments: list[str], message: str, code: int, twins: Path, run: Run) -> None:
    (twins / "empty.txt").write_text("\n")
    done = run("mix", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)
    assert "Traceback" not in done.stderr


@pytest.mark.posix
def test_ctrl_c_ends_the_processes_too(twins: Path) -> None:
    (twins / "a.txt").write_text(FRUIT * 100)
    (twins / "b.txt").write_text(FIRM * 100)
    line = ["mix", "a.txt", "b.txt", *ASKED, "--epochs", "1000", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(twins)}
    work = subprocess.Popen(
        [sys.executable, "-m", "ctxembed", *line],
        stderr=subprocess.PIPE,
        env=environment,
        cwd=twins,
        start_new_session=True,
    )
    assert work.stderr is not None
    try:
        until = time.monotonic() + 120
        while not list(twins.glob("ctxembed-*/*/.model.*/new")) and time.monotonic() < until:
            time.sleep(0.1)
        os.killpg(work.pid, signal.SIGINT)
        assert work.wait(timeout=120) == 130
        assert work.stderr.read() == b"\n"  # the line that holds ^C ends
    finally:
        work.kill()
        work.wait()
        work.stderr.close()
    assert not list(twins.glob("ctxembed-*"))


def test_the_static_vector_crosses_and_contextual_vectors_do_not() -> None:
    """What the whole experiment is about, at the two ends with one seed and two clear probes."""
    a, b = (Corpus([str(corpora_directory() / name)]) for name in analysis.TWINS)
    table = analysis.mix(
        a,
        b,
        analysis.WORD,
        analysis.AXES,
        analysis.PROBES[:2],
        steps=2,
        seeds=1,
        workers=1,
    )
    ends: dict[tuple[object, object], list[float]] = {}
    for row in table.records():
        ends.setdefault((row["representation"], row["probe"]), []).append(
            float(str(row["difference"]))
        )
    assert ends["static", None][0] > 0 > ends["static", None][1]
    assert min(ends["general", 1]) > 0 > max(ends["general", 2])


def test_interval_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(1).normal(size=(3, 5))
    for row, half in zip(values, interval_half_width(values), strict=True):
        low, high = stats.t.interval(0.95, 4, loc=row.mean(), scale=stats.sem(row))
        assert (row.mean() - half, row.mean() + half) == pytest.approx((low, high))
    assert np.isnan(interval_half_width(values[:, :1])).all()


def test_crossing() -> None:
    fractions = np.array([0.0, 0.5, 1.0])
    assert find_crossing(fractions, np.array([1.0, 2.0, 3.0])) is None
    assert find_crossing(fractions, np.array([-1.0, -0.5, 0.5])) == pytest.approx(0.75)
    assert find_crossing(fractions, np.array([1.0, 0.0, -1.0])) == pytest.approx(0.5)
