"""Commands on a system without pread, fork, fcntl, resource, dir_fd and O_NOFOLLOW."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses
from ctxembed.storage import folder as storage
from tests.conftest import ROOT, TEXT, Run

pytestmark = pytest.mark.posix  # Windows itself runs every other test
CORPUS = "C:\\texts\\é.txt"
SMALL = ("--dim", "4", "--epochs", "1", "--min-count", "1", "--workers", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a corpus with CRLF under a name with backslashes; train a model of it."""
    folder = tmp_path_factory.mktemp("windows")
    (folder / CORPUS).write_bytes("\r\n".join(TEXT * 30).encode())
    for more in ((), ("--force",)):
        done = on_windows(folder, "train", CORPUS, "-o", "m", *SMALL, *more)
        assert done.returncode == 0, done.stderr
    return folder


def on_windows(folder: Path, *arguments: str, **env: str) -> "subprocess.CompletedProcess[bytes]":
    """Run ctxembed without what Windows lacks."""
    return subprocess.run(
        [sys.executable, "-m", "tests.windows", *arguments],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        timeout=300,
    )


LINES = (
    ("info", "-m", "m"),
    ("check", "m"),
    ("compare", "the [bank] money", "-m", "m"),
    ("explain", "the [bank] money", "-m", "m"),
    ("neighbors", "apple", "-m", "m"),
    ("kwic", "bank", "-m", "m", "--max", "2"),
    ("tokenize", CORPUS),
    ("neighbors", "bank", "-n", "2"),  # a bundled model
)


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_the_same_answer(line: tuple[str, ...], folder: Path, run: Run) -> None:
    done = on_windows(folder, *line, "-f", "json", CTXEMBED_MODEL="")
    expected = run(*line, "-f", "json", env={"CTXEMBED_MODEL": ""}, cwd=folder)
    assert done.returncode == expected.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(expected.stdout)


WRITES = (
    ("senses", "bank", "--save", "-m", "m"),
    ("index", CORPUS, "-m", "m", "-o", "indexed", "--force"),
    ("shrink", "-m", "m", "-o", "small", "--force"),
    ("export", "v.npy", "-m", "m", "--force"),
    ("import", "v.npy", "-o", "imported", "--force"),
    ("contextualize", CORPUS, "--all", "-m", "m", "-o", "v.npz"),
    ("neighbors", "apple", "-m", "m", "-o", "answer.tsv"),
)


def test_everything_is_written_twice(folder: Path) -> None:
    """The second time each output replaces the first; none may be open in this process then."""
    for line in (*WRITES, *WRITES):
        done = on_windows(folder, *line)
        assert done.returncode == 0, (line, done.stderr)
    assert not list(folder.glob(".*"))


def test_senses_saved_at_once(folder: Path) -> None:
    """Each run waits for the lock file beside the model."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "tests.windows", "senses", "--k", "2", "--save", "-m", "m"]
    words = ("apple", "orange", "juice")
    runs = [subprocess.Popen([*line, word], cwd=folder, env=env) for word in words]
    assert [run.wait(timeout=200) for run in runs] == [0, 0, 0]
    assert {*words} <= {*open_senses(Model.open(folder / "m"))}
    assert not list(folder.rglob(".*ctxembed*"))


def test_a_console_of_another_encoding(folder: Path) -> None:
    console = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = on_windows(folder, "kwic", "bank", "-m", "m", "--max", "1", "-f", "tsv", **console)
    assert done.returncode == 0, done.stderr
    assert CORPUS.encode() in done.stdout
    assert on_windows(folder, "show", "苹果", "-m", "m", **console).returncode == 4


def test_a_file_that_is_open_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replacing it is tried again for about a second."""
    source, target = tmp_path / "new", tmp_path / "old"
    source.write_text("new")
    target.write_text("old")
    real, locked = Path.replace, [True] * (len(storage.REPLACE_WAITS) + 1)
    waits: list[float] = []

    def replace(path: Path, other: Path) -> Path:
        if locked and locked.pop():
            raise PermissionError(13, "used by another process")
        return real(path, other)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr("time.sleep", waits.append)
    with pytest.raises(PermissionError):
        storage.replace_path(source, target)
    assert waits == list(storage.REPLACE_WAITS)
    locked += [True, True]
    storage.replace_path(source, target)
    assert target.read_text() == "new"
