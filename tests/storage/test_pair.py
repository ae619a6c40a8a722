"""An array and its word list are written together, also if a run is killed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import ModelError
from ctxembed.storage.atomic import atomic_file, atomic_pair, check_pair_complete
from tests.conftest import ROOT, Run
from tests.storage.test_atomic import leave

KILLED = """
import os, sys
from pathlib import Path
from ctxembed.storage.atomic import atomic_pair
left = int(sys.argv[1])

def count(event, _):
    global left
    if event.startswith(("os.", "shutil.", "open")):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)

sys.addaudithook(count)
with atomic_pair(Path("x.npy"), Path("x.vocab.txt")) as (one, other):
    one.write(b"new"); other.write(b"new")
"""


@pytest.mark.posix
def test_killed_at_every_step(tmp_path: Path) -> None:
    one, other = tmp_path / "x.npy", tmp_path / "x.vocab.txt"
    kinds = set()
    for step in range(1, 60):
        one.write_bytes(b"old")
        other.write_bytes(b"old")
        code = subprocess.run(
            [sys.executable, "-c", KILLED, str(step)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ).returncode
        contents = one.read_bytes(), other.read_bytes()
        if contents not in ((b"old", b"old"), (b"new", b"new")):
            kinds.add("half")
            with pytest.raises(ModelError, match=r"incomplete.*export"):
                check_pair_complete(one)
        with atomic_pair(one, other) as (first, second):  # the next run
            first.write(b"next")
            second.write(b"next")
        assert sorted(os.listdir(tmp_path)) == ["x.npy", "x.vocab.txt"]
        assert (one.read_bytes(), other.read_bytes()) == (b"next", b"next")
        if code == 0:
            break
    assert code == 0
    assert kinds == {"half"}  # the moment that matters was met


def test_leftovers_of_a_killed_export_are_removed(tmp_path: Path) -> None:
    (leave(tmp_path / "v.txt") / "new").write_text("half")
    mine = tmp_path / ".v.txt.ctxembed-notes"
    mine.write_text("precious")
    with atomic_file(tmp_path / "v.txt") as file:
        file.write(b"whole")
    assert sorted(os.listdir(tmp_path)) == [mine.name, "v.txt"]


@pytest.mark.posix
def test_an_export_is_read_again(run: Run, tmp_path: Path) -> None:
    assert run("export", "a.npy").returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "a.vocab.txt"]
    assert len(np.load(tmp_path / "a.npy")) == len((tmp_path / "a.vocab.txt").read_text().split())
    assert run("import", "a.npy", "-o", "m").returncode == 0
    os.mkfifo(tmp_path / "b.npy")
    assert run("import", "b.npy", "-o", "n").returncode == 3
