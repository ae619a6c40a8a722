"""Options refuse numbers that are not finite and empty names."""

import os
from pathlib import Path

import click
import pytest

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from ctxembed.cli.options import Number
from tests.conftest import Run


def numbers(kind: type) -> list[tuple[str, str]]:
    """List command and option for each option that takes such a number."""
    return [
        (name, max(param.opts, key=len))
        for name in COMMANDS
        for param in load_command(name).params
        if isinstance(param, click.Option)
        if isinstance(param.type, Number) and param.type.kind is kind
    ]


def arguments(name: str) -> list[str]:
    """Make up the arguments that a command must have."""
    needed = [p for p in load_command(name).params if isinstance(p, click.Argument) and p.required]
    return ["x"] * sum(2 if p.nargs == 2 else 1 for p in needed) * (2 if name == "shift" else 1)


FLOATS = numbers(float)
WHOLE = numbers(int)


def test_documented_options_exist() -> None:
    assert ("train", "--rate") in FLOATS
    assert ("learn", "--minutes") in FLOATS
    assert ("train", "--epochs") in WHOLE


@pytest.mark.parametrize("value", ["nan", "-NaN", "inf", "Infinity", "1e999"])
@pytest.mark.parametrize("name, option", FLOATS)
def test_no_number_to_calculate_with(name: str, option: str, value: str, run: Run) -> None:
    done = run(name, *arguments(name), option, value)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Invalid value for '{option}'" in done.stderr


@pytest.mark.parametrize("name, option", WHOLE)
def test_numbers_out_of_range_are_refused(name: str, option: str, run: Run) -> None:
    done = run(name, *arguments(name), option, "4294967296")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Invalid value for '{option}'" in done.stderr or f"/ '{option}'" in done.stderr


def test_an_empty_name_is_not_the_current_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("an apple a day\n" * 30)
    for line in (["train", ""], ["train", "c.txt", ""], ["tokenize", "-m", "", "x"]):
        done = run(*line)
        assert done.returncode == 2, line
    assert run("train", "").stderr == (
        "ctxembed: a corpus with an empty name; give a file, a folder or -\n"
    )
    assert "empty" in run("show", "apple", "-m", "").stderr
    assert os.listdir(tmp_path) == ["c.txt"]
