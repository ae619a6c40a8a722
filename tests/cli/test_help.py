"""Help fits a screen, has topics and suggests what was meant; notes wrap at words."""

import math
import re
import shlex
from pathlib import Path

import click
import pytest

from ctxembed.cli.groups import COMMANDS, GROUPS
from ctxembed.cli.help_ import TOPICS
from ctxembed.cli.main import load_command
from tests.cli.terminal import in_terminal
from tests.conftest import Run

ROWS, COLUMNS = 24, 80  # a terminal as it opens


def height(text: str) -> int:
    return sum(max(1, math.ceil(len(line) / COLUMNS)) for line in text.rstrip().splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_fits_a_screen_and_names_each_option(name: str, run: Run) -> None:
    shown = run(name, "--help").stdout
    assert height(shown) < ROWS  # the prompt needs a line
    command = load_command(name)
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    words = re.split(r"[\s,]+", shown)
    assert all(option.opts[-1] in words for option in options)
    assert f"ctxembed help {name}" in shown
    assert command.examples[0][1] in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_help_with_a_name_is_the_whole_page(name: str, run: Run) -> None:
    page = " ".join(run("help", name).stdout.split())
    command = load_command(name)
    for columns in command.columns.values():
        assert all(f"{column.name} {column.meaning}" in page for column in columns)
    assert all(" ".join(line.split()) in page for _, line in command.examples)
    assert " ".join(command.picture.split()) in page


def test_without_a_command_newcomers_are_sent_to_demo_and_explore(run: Run) -> None:
    alone = run()
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout.index("ctxembed demo") < alone.stdout.index("ctxembed explore")
    assert alone.stdout.index("ctxembed explore") < alone.stdout.index("neighbors")
    assert height(alone.stdout) <= ROWS
    assert max(map(len, alone.stdout.splitlines())) <= COLUMNS
    assert all(name in alone.stdout.split() for name in COMMANDS)
    assert next(iter(GROUPS)) == "Start here"
    assert run("--help").stdout == run("-h").stdout == alone.stdout
    everything = " ".join(run("help").stdout.split())
    assert all(summary in everything for group in GROUPS.values() for summary in group.values())


@pytest.mark.parametrize("topic", TOPICS)
def test_every_command_in_a_topic_runs(topic: str, run: Run) -> None:
    done = run("help", topic)
    assert done.returncode == 0
    assert height(done.stdout) > 5
    assert not re.search(r"\w-$", done.stdout, flags=re.M)  # no break in tab-separated
    for line in re.findall(r"^  ctxembed (.+)", done.stdout, flags=re.M):
        command = run(*shlex.split(line), env={"CTXEMBED_MODEL": None})
        assert command.returncode == 0, command.stderr
        assert command.stdout


def test_exit_codes_are_those_of_the_errors(run: Run) -> None:
    from ctxembed import CorpusError, CtxembedError, ModelError, UnknownWordError, UsageError

    listed = set(re.findall(r"^(\d+):", run("help", "exit-codes").stdout, flags=re.M))
    errors = (CorpusError, CtxembedError, ModelError, UnknownWordError, UsageError)
    assert {str(error.exit_code) for error in errors} | {"0", "130"} == listed


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("comprae", "compare"),
        ("halp", "help"),
        ("compare --atention x", "--attention"),
        ("train --windw 3", "--window"),
        ("help modles", "models"),
        ("help compar", "compare"),
    ],
)
def test_a_typo_suggests_the_nearest(line: str, meant: str, run: Run) -> None:
    done = run(*line.split())
    assert done.returncode == 2
    assert meant in done.stderr


@pytest.mark.posix
def test_notes_wrap_between_words(tmp_path: Path) -> None:
    screen = in_terminal(
        "ctxembed explain '[Apple] launched a phone' >/dev/null", tmp_path, columns=50
    )
    lines = screen.splitlines()
    assert len(lines) > screen.count("ctxembed: ") >= 1
    assert all(len(line) <= 50 for line in lines)
    wide = in_terminal(
        "ctxembed explain '[Apple] launched a phone' >/dev/null", tmp_path, columns=300
    )
    assert screen.split() == wide.split()
    in_terminal("ctxembed explain '[Apple] launched a phone' 2>notes >/dev/null", tmp_path)
    assert (tmp_path / "notes").read_text().splitlines() == wide.splitlines()  # no breaks in a file
