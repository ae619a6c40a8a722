"""A minute of the campaign: `make fuzz` runs ten."""

import os
import subprocess
import sys

from tests.conftest import ROOT

PARTS = ("damaged models", "models replaced while asked")  # where a wrong answer would go unseen


def test_a_minute_finds_nothing() -> None:
    seed = os.environ.get("CTXEMBED_FUZZ_SEED", "1")
    parts = [word for name in PARTS for word in ("--part", name)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.campaign", "--minutes", "1", "--seed", seed, *parts],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=1800,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len(done.stdout.splitlines()) == 3 + len(PARTS)
