"""Output to a disk that is full."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

LIMIT = 150  # bytes that may be written; the answers are longer


def limit() -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, as on a full disk, and no signal
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


@pytest.mark.posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", ["export -", "vector apple bank the phone juice "])
def test_a_disk_that_is_full_after_150_bytes(
    line: str, unbuffered: str, tiny: Path, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "ctxembed", *line.split(), "-m", str(tiny), "-q"],
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            preexec_fn=limit,
        )
    assert (tmp_path / "out").stat().st_size == LIMIT
    assert done.returncode == 1
    assert done.stderr == b"ctxembed: no space left on the disk; the output is incomplete\n"


def test_unbuffered_output_comes_line_by_line(tiny: Path) -> None:
    """Whoever sets PYTHONUNBUFFERED wants to see an answer before the next question."""
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; from ctxembed.cli import main as m\n"
         "m._prepare_streams(); print('one'); sys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"one\n"
        process.stdin.close()
