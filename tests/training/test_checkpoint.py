"""Learning that was killed goes on from its checkpoint, to the same bytes."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctxembed.storage import checkpoint
from ctxembed.storage.checkpoint import Checkpoint
from tests.attention.test_learning import topics_corpus
from tests.conftest import ROOT, Run

# Runs a command and is killed right after the first checkpoint is written.
KILLED = """
import os, signal, sys
from ctxembed.storage import checkpoint
checkpoint.SECONDS, save = 0, checkpoint.Checkpoint.save
def killed(self, state):
    save(self, state)
    os.kill(os.getpid(), signal.SIGKILL)
checkpoint.Checkpoint.save = killed
from ctxembed.cli.main import run
sys.exit(run())
"""
LEARN = ("learn", "--epochs", "0.12", "--name", "long")
GOES_ON = "the interrupted run goes on after step 100; --again starts from the beginning"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model without learned attention."""
    from ctxembed.text.corpus import Corpus
    from ctxembed.training.train import train

    folder = tmp_path_factory.mktemp("model")
    corpus = topics_corpus(folder / "corpus.txt")
    train(Corpus([str(corpus)], lines=True), folder / "m", dim=16, epochs=5, attention=False)
    return folder / "m"


def kill(*arguments: str) -> None:
    command = [sys.executable, "-c", KILLED, *arguments]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.mark.posix
@pytest.mark.parametrize("layer", ["attention", "recurrent"])
def test_a_killed_run_goes_on_to_the_same_bytes(
    layer: str, model: Path, tmp_path: Path, spawn: Run
) -> None:
    one, two = (Path(shutil.copytree(model, tmp_path / name)) for name in ("one", "two"))
    command = (*LEARN, "--layer", layer)
    whole = spawn(*command, "-m", str(one))
    assert whole.returncode == 0, whole.stderr
    kill(*command, "-m", str(two))
    assert contents(two).keys() - contents(model).keys() == {"attention/.long.ctxembed-checkpoint"}
    resumed = spawn(*command, "-m", str(two))
    assert GOES_ON in resumed.stderr
    assert GOES_ON not in whole.stderr
    lines = [done.stdout.rpartition("learning_seconds")[0] for done in (whole, resumed)]
    assert lines[0] == lines[1]
    assert contents(one) == contents(two)  # and the checkpoint is removed
    assert spawn("compare", "[apple1] pear2", "-m", str(two)).returncode == 0


@pytest.mark.posix
def test_a_run_starts_anew_if_asked_or_with_other_settings(
    model: Path, tmp_path: Path, run: Run
) -> None:
    here = Path(shutil.copytree(model, tmp_path / "m"))
    left = here / "attention" / ".long.ctxembed-checkpoint"
    kill(*LEARN, "-m", str(here))
    assert run("info", "-m", str(here), "--check").returncode == 0  # it is no attention
    other = run(*LEARN, "--seed", "2", "-m", str(here))
    assert "the interrupted run had other settings; learning starts from the beginning" in (
        other.stderr
    )
    assert not left.exists()
    kill(*LEARN, "-m", str(here))
    again = run(*LEARN, "--again", "-m", str(here))
    assert again.returncode == 0
    assert "interrupted" not in again.stderr
    kill(*LEARN, "-m", str(here))
    left.write_bytes(left.read_bytes()[:-9])
    damaged = run(*LEARN, "-m", str(here))
    assert damaged.returncode == 0
    assert f"{left}: damaged checkpoint; learning starts from the beginning" in damaged.stderr
    assert not left.exists()


def test_a_run_that_ends_leaves_no_checkpoint_and_trains_over_one(
    model: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SECONDS", 0)
    here = Path(shutil.copytree(model, tmp_path / "m"))
    assert run(*LEARN, "-m", str(here)).returncode == 0
    assert not list((here / "attention").glob(".*"))
    (here / "attention" / ".long.ctxembed-checkpoint").write_bytes(b"?")
    done = run("train", str(model.parent / "corpus.txt"), "-o", str(here), "--force", "--lines",
               "--epochs", "1", "--dim", "8", "--static-only")  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_full_disk_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    saved = Checkpoint(tmp_path / "run", {}, notes.append, seconds=0)
    monkeypatch.setattr(os, "fsync", _full)
    saved.save({"step": 1, "x": np.zeros(3)})
    assert notes == [
        f"no checkpoint was written: no space left on the disk that holds {tmp_path};"
        " nothing was changed"
    ]
    assert not list(tmp_path.iterdir())


def _full(number: int) -> None:
    raise OSError(28, "No space left on device")


def test_checkpoints_are_written_now_and_then(tmp_path: Path) -> None:
    saved = Checkpoint(tmp_path / "run", {}, seconds=1000)
    saved.save({"step": 1})
    assert not saved.path or not saved.path.exists()
    Checkpoint().save({"step": 1})  # without a path
    assert Checkpoint().load() is None
