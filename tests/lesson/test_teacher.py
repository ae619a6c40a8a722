"""The page for a teacher: its commands run, and its sheets are what they print.

`python -m tests.lesson.test_teacher` writes the sheets anew.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, in_process

PAGE = (ROOT / "docs" / "teacher.md").read_text(encoding="utf-8")
SHEETS = ROOT / "docs" / "sheets"
CODE = re.findall(r"^ctxembed (.*)$", PAGE, flags=re.M)
MADE = [line for line in CODE if "--sheet markdown" in line]
PLAN = re.findall(r"`ctxembed (lesson [\d ]+)`", PAGE)


def test_the_plan_fills_45_minutes() -> None:
    rows = re.findall(r"^\| (\d+) to (\d+) \|", PAGE, flags=re.M)
    assert [int(end) for _, end in rows[:-1]] == [int(start) for start, _ in rows[1:]]
    assert (rows[0][0], rows[-1][1]) == ("0", "45")


@pytest.mark.parametrize("line", sorted({*CODE, *PLAN}))
def test_each_command_of_the_page_runs(line: str, tmp_path: Path) -> None:
    done = in_process(shlex.split(line), "", {"CTXEMBED_MODEL": None}, tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_sheets_are_what_their_commands_write(tmp_path: Path) -> None:
    assert len(MADE) == len([*SHEETS.glob("*.md")]) == 3
    for line in MADE:
        name = line.split()[-1]
        assert f"sheets/{name}" in PAGE
        done = in_process(shlex.split(line), "", {"CTXEMBED_MODEL": None}, tmp_path)
        assert done.returncode == 0, done.stderr
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert written == (SHEETS / name).read_text(encoding="utf-8"), name


if __name__ == "__main__":
    SHEETS.mkdir(exist_ok=True)
    for line in MADE:
        command = [sys.executable, "-m", "ctxembed", *shlex.split(line)]
        subprocess.run(command, cwd=SHEETS, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
