"""Questions about occurrences, asked of a small fixed model: every byte of every format."""

import re
from pathlib import Path

import pytest

from ctxembed.output.render import FORMATS
from tests.conftest import Run

_, *PARTS = re.split(r"^\$ (.*)\n", (Path(__file__).parent / "formats.txt").read_text(), flags=re.M)
SHOWN = list(zip(PARTS[::2], PARTS[1::2], strict=True))


def test_every_format_is_shown() -> None:
    result = [line.rpartition(" -f ") for line, _ in SHOWN]
    commands = dict.fromkeys(command for command, _, _ in result)
    assert [(c, form) for c, _, form in result] == [(c, f) for c in commands for f in FORMATS]
    assert [command.split()[0] for command in commands] == ["senses", "ambiguity", "kwic"]


@pytest.mark.parametrize(("line", "expected"), SHOWN, ids=[line for line, _ in SHOWN])
def test_exactly(run: Run, often: Path, line: str, expected: str) -> None:
    done = run(*line.split(), "--precision", "2", "-m", str(often), env={"COLUMNS": "80"})
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
