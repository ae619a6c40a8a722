"""Where an answer goes: stdout under any of its names, over a file, and never into a folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Run, mentions


@pytest.mark.posix
def test_output_to_dev_stdout(tiny: Path, tmp_path: Path) -> None:
    line = f"{sys.executable} -m ctxembed neighbors apple -n 1 -m {tiny} --no-header -q"
    for name in ("-", "/dev/stdout"):
        shell = f"(echo before; {line} -o {name}; echo after) > out.txt"
        subprocess.run(shell, shell=True, check=True, cwd=tmp_path)
        lines = (tmp_path / "out.txt").read_text().splitlines()
        assert (lines[0], lines[-1], len(lines)) == ("before", "after", 3)
        assert lines[1].startswith("apple\t")
    assert [item.name for item in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize(
    "line",
    ["neighbors apple -o FILE.tsv", "explore apple -o FILE.html", "export FILE.txt",
     "explain apple -o FILE.svg", "show --vector apple -o FILE.npz"],
)  # fmt: skip
def test_a_file_is_overwritten(run: Run, tmp_path: Path, line: str) -> None:
    """As by a shell redirection, by every command that writes one file; a model needs --force."""
    words = line.replace("FILE", str(tmp_path / "notes")).split()
    file = Path(words[-1])
    file.write_text("mine")
    assert run(*words).returncode == 0
    assert file.read_bytes() != b"mine"
    (tmp_path / "m").mkdir()
    done = run("shrink", "-o", "m")
    assert done.returncode == 2 and mentions(done.stderr, "m exists --force")


@pytest.mark.parametrize("name", [".", ""])
def test_a_folder_is_refused_as_output(run: Run, name: str) -> None:
    done = run("neighbors", "apple", "-o", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert mentions(done.stderr, "name file")


def test_an_axis_may_not_take_a_column(run: Run) -> None:
    for command in ("compare", "ablate"):
        name = "like" if command == "compare" else "change"
        done = run(command, "the [apple] phone", "--axis", f"{name}=orange")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--axis {name}" in done.stderr and "column" in done.stderr
