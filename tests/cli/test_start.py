"""Commands answer without heavy imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = ("gensim", "numba", "scipy", "sklearn", "smart_open", "tqdm", "torch", "tokenizers")
CODE = """
import sys
from ctxembed.cli.main import main
sys.argv = ["ctxembed", *sys.argv[1:]]
try:
    main()
except SystemExit as leave:
    assert leave.code == 0, leave.code
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
print(*(name for name in sys.modules if name.startswith("ctxembed.output.")), file=sys.stderr)
"""
LINES = [
    "--help",
    "--version",
    "info",
    "show apple",
    "explain [apple]",
    "vector apple",
    "neighbors apple",
    "similarity apple bank",
    "analogy apple bank phone",
    "completion bash",
    "neighbors --help",
    "mix --help",
    "train --help",
]


@pytest.mark.parametrize("line", LINES)
def test_no_heavy_import(line: str, tiny: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *line.split()],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CTXEMBED_MODEL": str(tiny)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not set(HEAVY).intersection(done.stderr.split())
    drawing = {f"ctxembed.output.{name}" for name in ("picture", "sheet", "view")}
    assert not drawing.intersection(done.stderr.split())


def test_ctrl_c_ends_quietly_before_anything_is_imported() -> None:
    """The package itself imports nothing; its start leaves Ctrl-C to the system until main runs."""
    code = (
        "import sys; before = set(sys.modules); import ctxembed;"
        "print(set(sys.modules) - before);"
        "import signal, ctxembed.__main__;"
        "print(signal.getsignal(signal.SIGINT) is signal.SIG_DFL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["{'ctxembed'}", "True"]
