"""The one place where a Table is printed: how, where to, and what is told beside it."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.output.render import FORMATS, render
from ctxembed.table import Table

SUFFIXES = {".tsv": "tsv", ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown"}

QUIET = click.Option(
    ["-q", "--quiet"], is_flag=True, help="No notes and no progress bars on stderr."
)
FILE = click.Option(
    ["-o", "--output", "file_"],
    metavar="FILE",
    help="Write the table to a file, whole; .tsv .csv .json .jsonl .md say how.",
)
OPTIONS = (
    click.Option(
        ["-f", "--format", "form"],
        type=click.Choice(FORMATS),
        help="How to print; table on a terminal, tsv in a pipe.",
    ),
    click.Option(
        ["--precision"],
        type=click.IntRange(0, 17),
        metavar="N",
        help="Digits behind the point; 4 in a table, 6 in tsv and csv, all of them in json.",
    ),
    click.Option(["--no-header"], is_flag=True, help="Leave the line of column names out."),
    QUIET,
)


@dataclass(frozen=True)
class Printing:
    """How a command was asked to print."""

    form: str | None = None
    precision: int | None = None
    no_header: bool = False
    quiet: bool = False
    file_: str | None = None

    @property
    def chosen(self) -> str:
        """The format: asked for, told by the file's name, or what stdout is good for."""
        if self.form or self.file_:
            return self.form or SUFFIXES.get(Path(self.file_ or "").suffix, "tsv")
        return "table" if sys.stdout.isatty() else "tsv"


def printing() -> Printing:
    """Return how the command under way was asked to print."""
    context = click.get_current_context(silent=True)
    return (context.find_object(Printing) if context else None) or Printing()


def note(text: str) -> None:
    """Tell the user something that is not data, unless it should be quiet."""
    if not printing().quiet:
        tell([text])


def tell(lines: Iterable[str]) -> None:
    """Say something on stderr that must not be missed."""
    for line in lines:
        click.echo(f"ctxembed: {line}", err=True)


def answer(answered: Table | Iterable[Table] | None) -> None:
    """Print what a command returned; exit with 4 if a word had to be left out."""
    if isinstance(answered, Table):
        if _print(answered):
            raise click.exceptions.Exit(UnknownWordError.exit_code)
        return
    for table in answered or ():
        _print(table)
        click.echo()


def _print(table: Table) -> bool:
    """Print a table and all that is told beside it; say whether a word was unknown."""
    how = printing()
    tell(table.unknown)
    told = len(table.unknown)  # what turns up while rows are read is told below them
    if not table.columns:  # nothing to print: it went to a file of arrays
        pass
    elif how.file_ is None:
        for piece in _text(table, how, terminal=sys.stdout.isatty()):
            sys.stdout.write(piece)
        sys.stdout.flush()
    else:
        _write(Path(how.file_), table, how)
    for line in table.notes:
        note(line)
    tell(table.unknown[told:])
    return bool(table.unknown)


def _text(table: Table, how: Printing, terminal: bool) -> Iterable[str]:
    return render(
        table,
        how.chosen,
        precision=how.precision,
        header=not how.no_header,
        width=_width() if terminal or "COLUMNS" in os.environ else None,
        bold=terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
    )


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns


def _write(path: Path, table: Table, how: Printing) -> None:
    """Write a table to a file: vectors as arrays where its name asks for it, else text."""
    if path.suffix in (".npz", ".npy") and any(c.role == "vector" for c in table.columns):
        from ctxembed.output.arrays import write_table

        number, dim = write_table(path, table)
        note(f"{number} vectors of {dim} numbers written to {path}")
        return
    from ctxembed.static.write import replace_file

    if not path.parent.is_dir():
        raise UsageError(f"-o {path}: no such directory")
    pieces = _text(table, how, terminal=False)
    replace_file(path, lambda file: file.writelines(piece.encode() for piece in pieces))
