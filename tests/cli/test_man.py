"""The man pages are generated from the commands."""

import shutil
import subprocess
from itertools import chain
from pathlib import Path

import click
import pytest

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import cli, load_command
from ctxembed.cli.man import pages, write_pages
from tests.conftest import ROOT

SECTIONS = [
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "OPTIONS",
    "OUTPUT",
    "EXIT STATUS",
    "ENVIRONMENT",
    "FILES",
    "EXAMPLES",
    "SEE ALSO",
]


def plain(page: str) -> str:
    """Undo the escapes, so that a page can be searched for what a reader sees."""
    for escape, text in {r"\-": "-", r"\(aq": "'", r"\(dq": '"', r"\fB": "", r"\fR": ""}.items():
        page = page.replace(escape, text)
    return page.replace(r"\e", "\\")


def test_the_pages_in_man_are_the_generated_ones(tmp_path: Path) -> None:
    write_pages(tmp_path)
    result = {file.name: file.read_text() for file in tmp_path.iterdir()}
    kept = {file.name: file.read_text() for file in (ROOT / "man").iterdir()}
    assert result == kept, "run: python -m ctxembed.cli.man man"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_described_whole(name: str) -> None:
    command = load_command(name)
    assert command.name == name
    assert command.help
    assert command.examples
    assert all(column.meaning for column in chain(*command.columns.values()))
    assert bool(command.columns) != ("Output" in command.sections)
    assert set(command.sections["See also"].split(", ")) <= set(COMMANDS)
    sections = {"Description", "Details", "Output", "Picture", "Examples", "See also"}
    assert set(command.sections) <= sections
    assert " ".join(command.description.split()[-5:]) in " ".join(
        plain(pages()[f"ctxembed-{name}.1"]).split()
    )
    for parameter in command.params:
        assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), parameter
    page = pages()[f"ctxembed-{name}.1"]
    assert [line[4:] for line in page.splitlines() if line.startswith(".SH ")] == SECTIONS
    text = plain(page)
    for parameter in command.get_params(click.Context(command)):
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            assert f"{option}" in text.replace(",", " ").split(), f"{option} is not in the page"
    for column in chain(*command.columns.values()):
        assert f"\n{column.name}\n" in text
    for _, line in command.examples:
        assert f"\n{line}\n" in text
    assert name in plain(pages()["ctxembed.1"])


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_man_pages_pass_the_checkers(name: str) -> None:
    page = str(ROOT / "man" / name)
    checks = {
        "mandoc": ["mandoc", "-T", "lint", "-W", "warning", page],
        "man": ["man", "--warnings", "-E", "UTF-8", "-l", page],
        "groff": ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", page],
    }
    installed = {tool: line for tool, line in checks.items() if shutil.which(tool)}
    if not installed:
        pytest.skip("neither mandoc, man nor groff is installed")
    for tool, line in installed.items():
        done = subprocess.run(line, capture_output=True, text=True)
        complaints = done.stdout if tool == "mandoc" else ""
        assert (complaints, done.stderr) == ("", ""), tool


def test_help_lists_every_command_and_every_example() -> None:
    with click.Context(cli) as context:
        text = cli.whole_help(context)
    for name in COMMANDS:
        assert f"\n  {name} " in text
        command = load_command(name)
        result = command.whole_help(click.Context(command, info_name=name))
        assert "Examples:" in result
        for column in chain(*command.columns.values()):
            assert f"{column.name} {column.meaning}" in " ".join(result.split())
        assert all(line in result for _, line in command.examples)
