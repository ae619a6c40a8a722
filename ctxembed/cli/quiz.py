"""Ask for numbers of a chapter's output in the terminal: lesson --quiz."""

import sys
from collections.abc import Iterator, Sequence

import click
import numpy as np

from ctxembed.cli import chapters
from ctxembed.cli.printing import width
from ctxembed.lesson.chapter import Chapter
from ctxembed.lesson.exercises import Exercise, Grid, choose, fill_marks, hide
from ctxembed.lesson.rules import find_exercises
from ctxembed.output.render import render
from ctxembed.table import Table

NUMBER = 6  # exercises of a chapter
SKIPS = ("", "?")  # an answer that leaves an exercise out
INTRO = "Work out the numbers that are left out; two digits after the point are enough."


def make_exercises(chapter: Chapter, seed: int) -> tuple[list[list[Grid]], list[Exercise]]:
    """Run the commands of a chapter; return their tables, and the numbers that are asked for."""
    grids = []
    with chapters.empty_directory():
        for at, step in enumerate(chapter.steps):
            answer = None if "chart" in step.arguments else chapters.run(step)
            tables = [answer] if isinstance(answer, Table) else answer or []
            grids.append([Grid.of(at, number, table) for number, table in enumerate(tables)])
    found = find_exercises([grid for each in grids for grid in each])
    number = min(NUMBER, (2 * len(found) + 2) // 3)  # not all: another seed has others
    return grids, choose(found, number, np.random.default_rng([seed, chapter.number]))


def lay_out(
    chapter: Chapter, grids: Sequence[Sequence[Grid]], chosen: Sequence[Exercise], form: str
) -> Iterator[tuple[str, str]]:
    """Yield each command that has exercises, and its output with blanks, in a format."""
    blank = {"markdown": "\\_\\_\\_\\_ ({})", "latex": "\\blank{{{}}}"}.get(form, "____({})")
    asked = {place[:2] for one in chosen for place in one.places}
    shown = asked | {place[:2] for one in chosen for place in one.needs}
    for step, tables in zip(chapter.steps, grids, strict=True):
        kept = [grid for grid in tables if (grid.step, grid.number) in shown]
        texts = []
        for table in hide(kept, chosen):
            columns = width() if form == "table" else None
            body = "".join(render(table, form, width=columns))
            texts.append((f"{table.title}\n\n" if table.title else "") + body)
        if texts:
            yield step.line, fill_marks("\n".join(texts), len(chosen), blank)


def ask(chapter: Chapter, seed: int) -> None:
    """Print the output of a chapter with blanks, read answers from stdin, and print the score."""
    grids, chosen = make_exercises(chapter, seed)
    heading = f"{chapter.number}. {chapter.title}: a quiz"
    click.echo(f"{heading}\n\n{chapters.fill(chapter.text)}\n\n{chapters.fill(INTRO)}\n")
    for line, text in lay_out(chapter, grids, chosen, "table"):
        click.echo(f"$ {line}\n\n{text}")
    right = answered = 0
    try:
        for number, one in enumerate(chosen, 1):
            click.echo(f"({number}) {one.asked} (Enter skips): ", nl=False)
            sys.stdout.flush()
            typed = sys.stdin.readline()
            if not typed:  # the end of a pipe, or Ctrl-D
                click.echo("\nNo more answers.")
                break
            answered += 1
            skipped = typed.strip() in SKIPS
            value = read_number(typed)
            correct = value is not None and one.is_right(value)
            right += correct
            verdict = "right" if correct else "left out" if skipped else "wrong"
            if not sys.stdin.isatty():
                click.echo(typed.strip())
            click.echo(f"    {verdict}: {one.how}")
    except KeyboardInterrupt:
        click.echo(f"\n{_score(right, answered, len(chosen))}")
        raise
    click.echo(f"\n{_score(right, answered, len(chosen))}")


def _score(right: int, answered: int, number: int) -> str:
    left = f", {number - answered} not answered" if answered < number else ""
    return f"Score: {right} of {number} right{left}."


def read_number(text: str) -> float | None:
    """Return the number that a person typed: 0.25, 0,25, .25, 1/4 or 25 %; None if it is none.

    >>> [read_number(text) for text in ("0.25", "0,25", ".25", "1/4", "25 %", "a quarter")]
    [0.25, 0.25, 0.25, 0.25, 0.25, None]
    """
    text = text.strip().replace(",", ".").replace("−", "-")
    percent = 100 if text.endswith("%") else 1
    numerator, bar, denominator = text.removesuffix("%").partition("/")
    try:
        value = float(numerator) / (float(denominator) if bar else 1) / percent
    except (ValueError, ZeroDivisionError):
        return None
    return value if np.isfinite(value) else None
