"""What the README shows is what the tool prints: every command in it runs.

`python -m tests.cli.test_readme` writes the real output of each command into the README.
"""

import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ctxembed.cli.groups import COMMANDS
from ctxembed.model.bundled import bundled_model
from ctxembed.output.blocks import BARS
from tests.cli.terminal import in_terminal
from tests.conftest import ROOT, Run

README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:.*\n)*?)```")
_TABLE = README.read_text().partition("| in the notes | command |")[2].partition("\n\n")[0]
NOTES = re.findall(r"`(ctxembed .*?)`", _TABLE)
EXAMPLES = [(match["command"], match["output"]) for match in BLOCK.finditer(README.read_text())]
PICTURE = next(command for command, _ in EXAMPLES if command.endswith("-o apple.svg"))


def prepare(folder: Path) -> Path:
    """Make a directory with the files that the README names."""
    for name in ("everyday.txt", "idioms.tsv", "apple.txt"):
        shutil.copy(ROOT / "corpora" / name, folder)
    shutil.copytree(bundled_model("everyday"), folder / "mine")
    return folder


def alike(shown: str, real: str) -> bool:
    """Compare word by word; numbers may differ a little between machines."""
    expected, theirs = shown.split(), real.split()
    if len(expected) != len(theirs):
        return False
    return all(a == b or close(a, b) for a, b in zip(expected, theirs, strict=True))


def close(a: str, b: str) -> bool:
    if {*a, *b} <= {*BARS}:  # a bar under a word
        return len(a) == len(b)
    try:
        return abs(float(a) - float(b)) < 0.02 + 0.01 * abs(float(b))
    except ValueError:
        return False


def test_there_are_examples() -> None:
    assert len(NOTES) >= 25
    assert len(EXAMPLES) >= 8


@pytest.mark.posix
@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[c[:60] for c, _ in EXAMPLES])
def test_readme(command: str, output: str, tmp_path: Path) -> None:
    real = in_terminal(command, prepare(tmp_path))
    assert "Traceback" not in real
    assert all(len(line) <= 80 for line in real.splitlines() if not line.startswith("ctxembed:"))
    assert alike(output, real), real


@pytest.mark.parametrize("command", NOTES)
def test_every_command_for_the_notes_runs(command: str, run: Run) -> None:
    done = run(*shlex.split(command)[1:], env={"CTXEMBED_MODEL": None})
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.posix
def test_the_picture_is_what_its_command_draws(tmp_path: Path) -> None:
    in_terminal(PICTURE, tmp_path)
    shown, real = (
        " ".join(ElementTree.parse(folder / "apple.svg").getroot().itertext()).partition("}}")[2]
        for folder in (ROOT / "docs", tmp_path)
    )
    assert "launched" in shown
    assert alike(shown, real), real


def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the README runs, and asks at least five questions."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.S)
    (tmp_path / "corpus.txt").write_text("An apple a day. The bank of the river.\n" * 50)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CTXEMBED_MODEL", raising=False)
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    called = set(re.findall(r"ctxembed\.(\w+)\(", code)) & set(COMMANDS)
    assert len(called) >= 5
    assert [row["rank"] for row in namespace["near"].records()] == [1, 2, 3]
    assert namespace["table"].names[:2] == ["sentence", "target"]
    assert namespace["table"].records()[0]["cos_static"] == 1.0
    assert [row["sense"] for row in namespace["senses"].records()] == [1, 2]
    assert namespace["vector"].shape == (namespace["model"].dim,)


def rewrite() -> None:
    """Put the real output under each command."""

    def again(match: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            real = in_terminal(match["command"], prepare(Path(folder)))
        return f"```console\n$ {match['command']}\n{real.rstrip()}\n```"

    README.write_text(BLOCK.sub(again, README.read_text()))
    in_terminal(PICTURE, folder := Path(tempfile.mkdtemp()))
    shutil.move(folder / "apple.svg", ROOT / "docs" / "apple.svg")
    shutil.rmtree(folder)


if __name__ == "__main__":
    rewrite()
    sys.exit(0)
