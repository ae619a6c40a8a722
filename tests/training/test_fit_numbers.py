"""Vectors whose sums are no numbers: one message, no traceback."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.conftest import mentions, write_tiny


def test_vectors_too_large_to_fit(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "m")
    np.save(folder / "vectors.npy", np.load(folder / "vectors.npy") * np.float32(1e30))
    lines = ["fruit\tsweet [apple] juice", "firm\t[apple] launched the phone"] * 6
    (tmp_path / "task.tsv").write_text("\n".join(lines) + "\n")
    line = [sys.executable, "-m", "ctxembed", "fit", "task.tsv", "--name", "t", "-m", "m"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert mentions(done.stderr, "vectors large")
