"""An array and its words are of one writing, whenever a run is killed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import ModelError
from ctxembed.storage.atomic import check_whole, file_written_whole, pair_written_whole
from tests.conftest import ROOT, Run
from tests.storage.test_atomic import dead

KILLED = """
import os, sys
from pathlib import Path
from ctxembed.storage.atomic import pair_written_whole
left = int(sys.argv[1])

def count(event, _):
    global left
    if event.startswith(("os.", "shutil.", "open")):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)

sys.addaudithook(count)
with pair_written_whole(Path("x.npy"), Path("x.vocab.txt")) as (one, other):
    one.write(b"new"); other.write(b"new")
"""


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
        found = one.read_bytes(), other.read_bytes()
        if found not in ((b"old", b"old"), (b"new", b"new")):
            kinds.add("half")
            with pytest.raises(ModelError, match="half written, by a run that was killed; export"):
                check_whole(one)
        with pair_written_whole(one, other) as (first, second):  # the next run
            first.write(b"next")
            second.write(b"next")
        assert sorted(os.listdir(tmp_path)) == ["x.npy", "x.vocab.txt"]
        assert (one.read_bytes(), other.read_bytes()) == (b"next", b"next")
        if code == 0:
            break
    assert code == 0
    assert kinds == {"half"}  # the moment that matters was met


def test_what_a_killed_export_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / f".v.txt.ctxembed-{dead()}"
    left.write_text("half")
    mine = tmp_path / ".v.txt.ctxembed-notes"
    mine.write_text("precious")
    with file_written_whole(tmp_path / "v.txt") as file:
        file.write(b"whole")
    assert sorted(os.listdir(tmp_path)) == [mine.name, "v.txt"]


def test_an_export_is_read_again(run: Run, tmp_path: Path) -> None:
    assert run("export", "a.npy").returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "a.vocab.txt"]
    assert len(np.load(tmp_path / "a.npy")) == len((tmp_path / "a.vocab.txt").read_text().split())
    assert run("import", "a.npy", "-o", "m").returncode == 0
    os.mkfifo(tmp_path / "b.npy")
    assert run("import", "b.npy", "-o", "n").returncode == 3
