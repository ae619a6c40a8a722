"""What the README and the pages of docs/ show is what the tool prints: every command in them runs.

`python -m tests.cli.test_readme [FILE...]` writes the real output of each command into them.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from ctxembed.model.bundled import bundled_model
from ctxembed.output.blocks import BARS
from tests.cli.terminal import environment, in_terminal
from tests.conftest import ROOT, Run

README = ROOT / "README.md"
# Figures of long runs, and pages whose commands have tests of their own.
ELSEWHERE = {"LAB.md", "SCALE.md", "PYTHON.md", "teacher.md", "linguist.md", "decide.md"}
ELSEWHERE |= {"service.md"}
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [README, *sorted((ROOT / "docs").rglob("*.md"))]
    if path.name not in ELSEWHERE
}
BLOCK = re.compile(r"```console\n\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:.*\n)*?)```")
SCRIPT = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
CODE = re.compile(r"^```\w*\n(.*?)^```|^    \S.*\n", re.M | re.S)
_TABLE = PAGES["docs/examples.md"].partition("| in the notes | command |")[2].partition("\n\n")[0]
NOTES = re.findall(r"`(ctxembed .*?)`", _TABLE)
QUESTIONS = (
    README.read_text(encoding="utf-8").partition("## What can I ask?")[2].partition("## ")[0]
)
ASKED = [line for line in re.findall(r"`(ctxembed \w+ [^`]+)`", QUESTIONS) if "COMMAND" not in line]
EXAMPLES = [
    (page, match["command"], match["output"])
    for page, text in PAGES.items()
    for match in BLOCK.finditer(text)
]
SCRIPTS = {page: "\n".join(SCRIPT.findall(text)) for page, text in PAGES.items()}
PICTURE = next(command for _, command, _ in EXAMPLES if "-o apple.svg" in command)
LIMIT = 250  # lines of the README


def prepare(folder: Path) -> Path:
    """Make a directory with the files that the pages name."""
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
    assert len(EXAMPLES) >= 20
    assert len(ASKED) >= 12
    assert sum(map(bool, SCRIPTS.values())) >= 5


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= LIMIT


@pytest.mark.posix
@pytest.mark.parametrize(
    ("page", "command", "output"), EXAMPLES, ids=[f"{p}: {c[:60]}" for p, c, _ in EXAMPLES]
)
def test_readme(page: str, command: str, output: str, tmp_path: Path) -> None:
    if "| jq" in command and not shutil.which("jq"):
        pytest.skip("needs jq")
    real = in_terminal(command, prepare(tmp_path))
    assert "Traceback" not in real
    assert all(len(line) <= 80 for line in real.splitlines())
    assert alike(output, real), real


@pytest.mark.posix
@pytest.mark.parametrize("page", [page for page, text in SCRIPTS.items() if text])
def test_every_command_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """The commands of a page run one after the other, in one directory, as a reader types them."""
    folder = tmp_path / "reader"
    folder.mkdir()
    if "-m mine" in SCRIPTS[page] and "-o mine" not in SCRIPTS[page]:
        prepare(folder)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", SCRIPTS[page]],
        cwd=folder, env=environment(tmp_path), capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_every_command_on_a_page_is_one(page: str) -> None:
    """Also what is not run, such as training on other files: its command and options exist."""
    lines = [line for match in CODE.finditer(PAGES[page]) for line in match[0].splitlines()]
    for line in lines:
        for command in re.findall(r"(?:^|\| |&& |uvx |ctxembed )\s*ctxembed (\w+.*)", line.strip()):
            name, *words = shlex.split(command.split(" | ")[0], comments=True)
            if name == "help":
                continue
            assert name in COMMANDS, line
            parameters = load_command(name).params
            known = {n for one in parameters if isinstance(one, click.Option) for n in one.opts}
            used = {word for word in words if re.fullmatch(r"--[a-z-]+", word)}
            assert used <= {*known, "--help"}, line


@pytest.mark.parametrize("command", [*NOTES, *ASKED])
def test_every_command_in_a_table_runs(command: str, run: Run) -> None:
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


def test_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the README runs, and asks at least four questions."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.S)
    monkeypatch.delenv("CTXEMBED_MODEL", raising=False)
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    called = set(re.findall(r"ctxembed\.(\w+)\(", code)) & set(COMMANDS)
    assert len(called) >= 4
    assert [row["rank"] for row in namespace["near"].records()] == [1, 2, 3]
    assert namespace["table"].names[:2] == ["sentence", "target"]
    assert namespace["table"].records()[0]["cos_static"] == 1.0
    assert [row["sense"] for row in namespace["senses"].records()] == [1, 2]
    assert namespace["vector"].shape == (namespace["model"].dim,)


@pytest.mark.parametrize("library", ["sklearn", "spacy", "pandas"])
def test_python_of_libraries(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(library)
    blocks = re.findall(r"```python\n(.*?)```", PAGES["docs/howto/libraries.md"], flags=re.S)
    (code,) = (block for block in blocks if library in block or (library in "pandas" in block))
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    if library == "spacy":
        assert "river" in capsys.readouterr().out


def rewrite(files: list[Path]) -> None:
    """Put the real output under each command."""

    def again(match: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            real = in_terminal(match["command"], prepare(Path(folder)))
        return f"```console\n$ {match['command']}\n{real.rstrip()}".rstrip() + "\n```"

    for file in files:
        text = file.read_text(encoding="utf-8")
        file.write_text(BLOCK.sub(again, text), encoding="utf-8", newline="\n")
    in_terminal(PICTURE, folder := Path(tempfile.mkdtemp()))
    shutil.move(folder / "apple.svg", ROOT / "docs" / "apple.svg")
    shutil.rmtree(folder)


if __name__ == "__main__":
    rewrite([Path(name) for name in sys.argv[1:]] or [ROOT / page for page in PAGES])
    sys.exit(0)
