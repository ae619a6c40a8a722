"""A part of the campaign, always the same tries: `make fuzz` runs ten minutes of all of it."""

import os
import subprocess
import sys

from tests.conftest import ROOT

PARTS = ("damaged models", "models replaced while asked")  # where a wrong answer would go unseen


TRIES = "500"  # of each: half a minute


def test_the_first_tries_find_nothing() -> None:
    seed = os.environ.get("CTXEMBED_FUZZ_SEED", "1")
    parts = [word for name in PARTS for word in ("--part", name)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.campaign", "--tries", TRIES, "--seed", seed, *parts],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=1800,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len(done.stdout.splitlines()) == 3 + len(PARTS)
