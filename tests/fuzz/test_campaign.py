"""A minute of the campaign: `make fuzz` runs ten."""

import os
import subprocess
import sys

from tests.conftest import ROOT


def test_a_minute_finds_nothing() -> None:
    seed = os.environ.get("CTXEMBED_FUZZ_SEED", "1")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.campaign", "--minutes", "0.8", "--seed", seed],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len(done.stdout.splitlines()) == 13
