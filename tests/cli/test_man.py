"""The man pages are what the commands say of themselves, and read well."""

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from ctxembed.cli.main import COMMANDS, cli, load_command
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
    made = {file.name: file.read_text() for file in tmp_path.iterdir()}
    kept = {file.name: file.read_text() for file in (ROOT / "man").iterdir()}
    assert made == kept, "run: python -m ctxembed.cli.man man"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_described_whole(name: str) -> None:
    command = load_command(name)
    assert command.name == name
    assert command.help
    assert command.examples
    assert all(column.meaning for column in command.columns)
    assert bool(command.columns) != bool(command.output)
    assert set(command.see_also) <= set(COMMANDS)
    for parameter in command.params:
        assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), parameter
    page = pages()[f"ctxembed-{name}.1"]
    assert [line[4:] for line in page.splitlines() if line.startswith(".SH ")] == SECTIONS
    text = plain(page)
    for parameter in command.get_params(click.Context(command)):
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            assert f"{option}" in text.replace(",", " ").split(), f"{option} is not in the page"
    for column in command.columns:
        assert f"\n{column.name}\n" in text
    for _, line in command.examples:
        assert f"\n{line}\n" in text
    assert name in plain(pages()["ctxembed.1"])


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_checkers_are_content(name: str) -> None:
    page = str(ROOT / "man" / name)
    checks = {
        "mandoc": ["mandoc", "-T", "lint", "-W", "warning", page],
        "man": ["man", "--warnings", "-E", "UTF-8", "-l", page],
        "groff": ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", page],
    }
    found = {tool: line for tool, line in checks.items() if shutil.which(tool)}
    if not found:
        pytest.skip("neither mandoc, man nor groff is installed")
    for tool, line in found.items():
        done = subprocess.run(line, capture_output=True, text=True)
        complaints = done.stdout if tool == "mandoc" else ""
        assert (complaints, done.stderr) == ("", ""), tool


def test_help_lists_every_command_and_every_example() -> None:
    with click.Context(cli) as context:
        text = cli.get_help(context)
    for name in COMMANDS:
        assert f"\n  {name} " in text
        command = load_command(name)
        told = command.get_help(click.Context(command, info_name=name))
        assert "Examples:" in told
        columns = told.partition("\nColumns:\n")[2].split()
        assert columns == " ".join(f"{c.name} {c.meaning}" for c in command.columns).split()
        assert all(line in told for _, line in command.examples)
