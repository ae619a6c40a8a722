"""Output on a terminal and in a pipe."""

import contextlib
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run


def at_terminal(folder: Path, columns: int, *arguments: str, **env: str) -> str:
    """Run ctxembed on a terminal of this width; return all it shows."""
    import fcntl
    import pty
    import termios

    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    base = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxembed", *arguments],
        stdin=other,
        stdout=other,
        stderr=other,
        cwd=folder,
        env={**base, "PYTHONPATH": str(ROOT), "TERM": "xterm", **env},
    )
    os.close(other)
    seen = b""
    with contextlib.suppress(OSError):  # how Linux says that the other side has closed
        while data := os.read(main, 65536):
            seen += data
    assert process.wait() == 0
    os.close(main)
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.posix
def test_a_table_that_fits(tiny: Path, tmp_path: Path) -> None:
    seen = at_terminal(tmp_path, 40, "show", "apple", "-m", str(tiny))
    message, bold, seen = seen.partition("\x1b[1mword")
    words = " ".join(message.split())
    assert words.endswith("tiny answers; it has read 22 words: too few to trust")
    seen = bold + seen
    assert seen.startswith("\x1b[1mword   property    value\x1b[0m\n-----  ----------  ")
    plain = re.sub(r"\x1b\[\d*m", "", seen)
    assert max(map(len, plain.splitlines())) == 40
    assert "…" in plain
    wide = at_terminal(tmp_path, 120, "show", "apple", "-m", str(tiny), NO_COLOR="1")
    assert "\x1b" not in wide
    assert "the [apple] launched the phone" in wide
    assert "\x1b" not in at_terminal(tmp_path, 80, "info", "-m", str(tiny), TERM="dumb")


@pytest.mark.posix
def test_bars_only_for_a_person(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("An apple a day keeps the doctor away.\n" * 4000)
    line = ("train", "c.txt", "--force", "--static-only", "--epochs", "3", "-f", "tsv")
    seen = at_terminal(tmp_path, 80, *line)
    assert re.search(r"reading\s+:.*%\|.*B/s", seen)
    assert re.search(r"word2vec\s+:.*%\|.*word/s", seen)
    assert "reading  " not in at_terminal(tmp_path, 80, *line, "-q")
    assert run(*line).stderr == ""


def test_any_script_in_any_locale(spawn: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("Café আপেল 苹果 کام\n" * 9, encoding="utf-8")
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": ""}
    assert spawn("train", "c.txt", "--epochs", "1", env=plain).returncode == 0
    env = {**plain, "CTXEMBED_MODEL": ""}
    done = spawn("neighbors", "café", "-n", "3", env=env)
    assert done.returncode == 0, done.stderr
    assert {line.split("\t")[1] for line in done.stdout.splitlines()[1:]} == {"আপেল", "苹果", "کام"}
    assert "苹果" in spawn("show", "--vector", "苹果", "-f", "table", env=env).stdout


def test_which_model_answers(run: Run, tiny: Path, tmp_path: Path) -> None:
    """-m, then the environment, then ./ctxembed-model."""
    (tmp_path / "c.txt").write_text("only words here\n" * 9)
    assert run("train", "c.txt", "--epochs", "1").returncode == 0
    here = run("info", env={"CTXEMBED_MODEL": ""}).stdout
    assert "path\tctxembed-model\n" in here
    assert f"path\t{tiny}\n" in run("info").stdout
    assert "path\tctxembed-model\n" in run("info", "-m", "ctxembed-model").stdout


def test_a_screen_of_one_column(run: Run) -> None:
    """Squares have room for one at least."""
    done = run("similarity", "apple", "orange", "-f", "chart", env={"COLUMNS": "1"})
    assert (done.returncode, done.stderr) == (0, "")
