"""The first tries of the campaign with a fixed seed; `make fuzz` runs ten minutes of it."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

TRIES = {  # of each part; a minute in all
    350: ("damaged models", "models replaced while asked"),  # a wrong answer is easily missed
    25: ("hostile models", "arguments", "numbers", "encodings", "closed and odd streams",
         "limits, odd environments", "escapes on a terminal", "vector files",
         "requests to the page", "patterns", "normalisation"),
    10: ("killed while writing", "models overwritten in place", "concurrent writers", "file modes"),
}  # fmt: skip


@pytest.mark.parametrize("tries", TRIES)
def test_the_first_tries_find_nothing(tries: int) -> None:
    seed = os.environ.get("CTXEMBED_FUZZ_SEED", "1")
    parts = [word for name in TRIES[tries] for word in ("--part", name)]
    line = [sys.executable, "-m", "tests.fuzz.campaign", "--tries", str(tries), "--seed", seed]
    done = subprocess.run(
        [*line, *parts],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=1800,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len(done.stdout.splitlines()) == 3 + len(TRIES[tries])
