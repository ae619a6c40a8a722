"""Training: repeatable, and whole or not at all."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ctxembed.model.bundled import corpora_directory
from ctxembed.model.model import Model
from tests.conftest import ROOT, Run, mentions

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def write_corpus(path: Path, sentences: int) -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(300)])
    lines = (" ".join(words[(rng.pareto(1, 9) * 9).astype(int) % 300]) for _ in range(sentences))
    path.write_text("".join(f"{line.capitalize()}.\n" for line in lines))


def files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def start(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "ctxembed", "train", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize(
    "how",
    [
        [],  # with attention
        ["--algorithm", "cbow", "--static-only"],
        ["--engine", "gensim", "--static-only"],
        ["--hierarchical-softmax", "--static-only"],
    ],
)
def test_the_same_bytes(how: list[str], run: Run, spawn: Run, tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.txt", 1500)
    for name, salt in (("a", "1"), ("b", "2")):
        line = ["train", "c.txt", "-o", name, "--workers", "1", "--epochs", "2", *how]
        done = spawn(*line, env={"PYTHONHASHSEED": salt})
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert "index/text" not in files(tmp_path / "a")
    other = ["--static-only", "--seed", "2", *how]
    run("train", "c.txt", "-o", "c", "--workers", "1", "--epochs", "2", *other)
    assert files(tmp_path / "a")["vectors.npy"] != files(tmp_path / "c")["vectors.npy"]


def test_more_workers_say_that_a_run_will_differ(run: Run, tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.txt", 1500)
    line = ("train", "c.txt", "--static-only", "--workers", "2")
    done = run(*line, "--epochs", "1")
    assert done.returncode == 0
    assert "2 workers" in done.stderr and "--workers 1" in done.stderr
    assert run(*line, "-q", "-o", "quiet").stderr == ""


def test_words_used_together_come_out_alike(run: Run, tmp_path: Path) -> None:
    """The vectors mean something: two topics that never meet come apart."""
    rng = np.random.default_rng(1)
    topics = (["apple", "pear", "juice", "sweet", "pie"], ["bank", "money", "loan", "rate", "debt"])
    lines = [" ".join(rng.choice(topics[i % 2], 6)) for i in range(3000)]
    (tmp_path / "c.txt").write_text("\n".join(lines) + "\n")
    for algorithm in ("cbow", "skipgram"):
        how = ["--algorithm", algorithm, "--dim", "10", "--static-only"]
        run("train", "c.txt", "-o", algorithm, *how)
        model = Model.open(tmp_path / algorithm)
        near, far = (
            float(
                model.units[model.vocabulary.row("apple")]
                @ model.units[model.vocabulary.row(other)]
            )
            for other in ("pear", "bank")
        )
        assert near > far + 0.5, algorithm


@pytest.mark.posix
def test_kill_at_twenty_random_moments(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus.txt", 400)
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.killed", str(tmp_path), "20"],
        cwd=ROOT,
        env={**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 20


@pytest.mark.posix
@pytest.mark.parametrize(
    ("engine", "stage"), [("own", "ids.npy"), ("own", "positions.npy"), ("gensim", "text")]
)
def test_ctrl_c(engine: str, stage: str, tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.txt", 60_000 if stage == "ids.npy" else 1500)
    line = [
        "c.txt",
        "-o",
        "m",
        "--epochs",
        "1000",
        "--dim",
        "400",
        "--workers",
        "2",
        "--engine",
        engine,
    ]
    process = start(tmp_path, *line)
    deadline = time.monotonic() + 200
    while not list(tmp_path.glob(f".m.ctxembed-*/new/index/{stage}")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.002)
    time.sleep(0 if stage == "ids.npy" else 0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out, err.strip()) == (130, "", "")  # one line break after ^C
    assert os.listdir(tmp_path) == ["c.txt"]


@pytest.mark.posix
def test_terminate(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.txt", 1500)
    process = start(
        tmp_path, "c.txt", "-o", "m", "--epochs", "1000", "--dim", "400", "--workers", "2"
    )
    while not list(tmp_path.glob(".m.ctxembed-*/new/index/positions.npy")):
        assert process.poll() is None
        time.sleep(0.01)
    process.terminate()
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out, err) == (143, "", "")
    assert os.listdir(tmp_path) == ["c.txt"]


def test_ctrl_c_within_generated_code(tmp_path: Path) -> None:
    """A dataclass is made by exec; an interrupt in there used to end Python by the signal."""
    code = (
        "from ctxembed.cli import main as m\n"
        "m.cli.main = lambda **_: exec('raise KeyboardInterrupt')\n"
        "m.main()"
    )
    (tmp_path / "interrupted.py").write_text(code)
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "interrupted"]
    assert subprocess.run(line, cwd=tmp_path, env=environment).returncode == 130


def test_a_file_that_ends_too_early_is_not_ctrl_c(tmp_path: Path) -> None:
    code = (
        "from ctxembed.cli import main as m\n"
        "@m.cli.command()\n"
        "def early(): raise EOFError('No data left in file')\n"
        "m.Commands.get_command = lambda *_: early\n"
        "m.COMMANDS = ('early',)\n"
        "m.main()"
    )
    line = [sys.executable, "-c", code, "early"]
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 1, done
    assert "a file ended too early: No data left in file" in done.stderr


def test_two_trainings_at_once(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.txt", 800)
    line = ["c.txt", "-q", "--static-only", "--epochs", "2", "--workers", "1", "-o"]
    both = [start(tmp_path, *line, "m", "--force") for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=200)
        assert (process.returncode, err) == (0, ""), err
        assert "sentences\t800" in out
    alone = start(tmp_path, *line, "n")
    alone.communicate(timeout=200)
    assert files(tmp_path / "m") == files(tmp_path / "n")
    assert sorted(os.listdir(tmp_path)) == ["c.txt", "m", "n"]


def test_senses_are_kept_where_they_are_asked_for(run: Run, tmp_path: Path) -> None:
    text = (corpora_directory() / "everyday.txt").read_text(encoding="utf-8").splitlines()[:6000]
    (tmp_path / "c.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    ask = ("train", "c.txt", "-o", "m", "--lines", "--epochs", "3", "--dim", "16", "--static-only")
    done = run(*ask, "--senses", "2", cwd=tmp_path)
    assert done.returncode == 0
    assert f"2 saved in {Path('m') / 'senses.npz'}" in done.stderr
    assert (tmp_path / "m" / "frames.npy").exists()
    refused = run(*ask, "--force", "--senses", "2", "--no-text", cwd=tmp_path)
    assert refused.returncode == 2
    assert mentions(refused.stderr, "--senses text")
