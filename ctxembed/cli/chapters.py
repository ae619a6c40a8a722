"""Print chapters of the course, and run their commands as if they were typed."""

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from ctxembed.cli.command import Command
from ctxembed.cli.printing import print_result
from ctxembed.lesson.chapter import Chapter, Step
from ctxembed.table import Table

WIDTH = 76  # characters of a line of text
NO_BREAK, NO_BREAK_HYPHEN = "\xa0", "\u2011"
Answer = Table | Sequence[Table] | None  # what a command returned


@contextmanager
def empty_directory() -> Iterator[None]:
    """Work in an empty directory: models that a chapter trains are removed after it."""
    if not sys.stdout.isatty():
        os.environ.setdefault("COLUMNS", "80")
    here = Path.cwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:  # Windows: still mapped
        os.chdir(work)
        try:
            yield
        finally:
            os.chdir(here)


@contextmanager
def started(step: Step) -> Iterator[tuple[Command, click.Context]]:
    """Begin the command of a step; its context stays open, so that its result can be printed."""
    from ctxembed.cli.main import load_command

    name, *arguments = step.arguments
    command = load_command(name)
    form = [] if {"-f", "--format"} & {*arguments} else ["-f", "table"]
    with command.make_context(f"ctxembed {name}", [*arguments, *form]) as context:
        yield command, context


def run(step: Step) -> Answer:
    """Run a command and return its result."""
    with started(step) as (command, context):
        answer = command.answer(context)
        return answer if isinstance(answer, Table) or answer is None else [*answer]


def show(step: Step) -> None:
    """Run a command and print its result as it does itself."""
    click.echo(f"$ {step.line}\n")
    sys.stdout.flush()
    with started(step) as (command, context), suppress(click.exceptions.Exit):
        print_result(command.answer(context))
    sys.stdout.flush()


def tell(chapter: Chapter, heading: str, *, task: bool = True) -> None:
    """Print a chapter: its text, each command with its output, and what to try."""
    click.echo(f"{heading}\n\n{fill(chapter.text)}\n")
    with empty_directory():
        for step in chapter.steps:
            show(step)
            click.echo(f"\n{fill(f'Look: {step.look}')}\n")
    if task:
        click.echo(f"{fill(f'Try: {chapter.task.look}')}\n\n$ {chapter.task.line}\n")


def fill(text: str, indent: str = "") -> str:
    """Return text in lines of a terminal; no line ends inside a list, a product or at a hyphen."""
    kept = re.sub(r"\[[^]]*\]| [=·+] ", lambda part: part[0].replace(" ", NO_BREAK), text)
    lines = click.wrap_text(kept.replace("-", NO_BREAK_HYPHEN), WIDTH, "", indent)
    return lines.replace(NO_BREAK, " ").replace(NO_BREAK_HYPHEN, "-")
