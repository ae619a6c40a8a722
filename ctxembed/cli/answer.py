"""The one place where a Table is printed: how, where to, and what is told beside it."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ctxembed.cli.numbers import Whole
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.output.render import FORMATS, SUFFIXES, render, render_lead
from ctxembed.output.safe import say
from ctxembed.table import Table

STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
ARRAYS = (".npz", ".npy", ".parquet")  # what a file of vectors ends in
PICTURES = {f".{form}": form for form in ("svg", "png", "pdf", "html")}  # by a file's suffix
QUIET = click.Option(
    ["-q", "--quiet"], is_flag=True, help="No notes and no progress bars on stderr."
)
FILE = click.Option(
    ["-o", "--output", "file_"],
    metavar="FILE",
    help=f"Write the table to a file, whole; {' '.join(SUFFIXES)} say how,"
    f" {' '.join(PICTURES)} draw it.",
)
OPTIONS = (
    click.Option(
        ["-f", "--format", "form"],
        type=click.Choice((*FORMATS, "svg", "chart")),
        help="How to print; table on a terminal, tsv in a pipe; svg and chart draw it.",
    ),
    click.Option(
        ["--precision"],
        type=Whole(0, 17),
        metavar="N",
        help="Digits behind the point; 4 in a table, 6 in tsv, all of them in csv and json.",
    ),
    click.Option(["--no-header"], is_flag=True, help="Leave the line of column names out."),
    click.Option(
        ["--color"],
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        show_default=True,
        help="Colours on a terminal; auto has them unless NO_COLOR is set.",
    ),
    QUIET,
)


@dataclass(frozen=True)
class Printing:
    """How a command was asked to print."""

    form: str | None = None
    precision: int | None = None
    no_header: bool = False
    quiet: bool = False
    color: str = "auto"
    file_: str | None = None

    @property
    def chosen(self) -> str:
        """The format: asked for, told by the file's name, or what stdout is good for."""
        if self.file_ and not self.form:
            return (SUFFIXES | PICTURES).get(Path(self.file_).suffix, "tsv")
        return self.form or ("table" if sys.stdout.isatty() else "tsv")

    @property
    def colours(self) -> bool:
        """Tell whether colours may be used on stdout."""
        if self.color != "auto":
            return self.color == "always"
        can = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        return can and self.file_ is None and "NO_COLOR" not in os.environ

    @property
    def draws(self) -> bool:
        """Tell whether a picture is asked for."""
        return self.chosen in (*PICTURES.values(), "chart")


def printing() -> Printing:
    """Return how the command under way was asked to print."""
    context = click.get_current_context(silent=True)
    return (context.find_object(Printing) if context else None) or Printing()


def note(text: str) -> None:
    """Tell the user something that is not data, unless it should be quiet."""
    if not printing().quiet:
        say([text])


def answer(answered: Table | Iterable[Table] | None) -> None:
    """Print what a command returned; exit with 4 if a word had to be left out."""
    several = not isinstance(answered, Table)
    tables = [answered] if isinstance(answered, Table) else list(answered or ())
    told = [len(table.unknown) for table in tables]
    for table in tables:
        say(table.unknown)
    _put(tables, several)
    for table, before in zip(tables, told, strict=True):
        for line in table.notes:
            note(line)
        say(table.unknown[before:])  # what turned up while rows were read
    if any(table.unknown for table in tables):
        raise click.exceptions.Exit(UnknownWordError.exit_code)


def _put(tables: Sequence[Table], several: bool) -> None:
    """Print tables or a picture of them, or write them to the file asked for."""
    how = printing()
    name = how.file_
    if how.draws:
        pieces = _drawn(tables[0], how)
    elif name is None:
        pieces = _text(tables, several, terminal=sys.stdout.isatty())
    elif tables and not any(table.columns for table in tables):
        return  # a file of arrays is there already
    elif Path(name).suffix in ARRAYS and any(c.role == "vector" for c in tables[0].columns):
        from ctxembed.output.arrays import write_table

        number, dim = write_table(Path(name), tables[0])
        note(f"{number} vectors of {dim} numbers written to {name}")
        return
    else:
        pieces = _text(tables, several, terminal=False)
    if name is not None:
        _write(name, pieces)
    else:
        sys.stdout.writelines(pieces)
        sys.stdout.flush()


def _write(name: str, pieces: Iterable[str | bytes]) -> None:
    """Write a file whole; a byte of a file's name that is no UTF-8 is escaped as JSON would."""
    from ctxembed.storage.atomic import file_written_whole

    if not Path(name).parent.is_dir():
        raise UsageError(f"-o {name}: no such directory")
    if not name or Path(name).is_dir():
        raise UsageError(f"-o {name or repr('')}: give the name of a file")
    with file_written_whole(Path(name)) as file:
        for piece in pieces:
            encoded = piece.encode("utf-8", "backslashreplace") if isinstance(piece, str) else piece
            file.write(encoded)


def _drawn(table: Table, how: Printing) -> Iterable[Any]:
    """Return the picture of a table: in characters, or as a file of its kind has it."""
    if not table.charts:
        raise UsageError("no picture of this: leave away what replaces its table, or -f, or -o")
    if how.chosen == "chart":
        from ctxembed.output.blocks import draw_blocks

        return draw_blocks(table, width(), how.precision, colours=how.colours)
    from ctxembed.output.picture import convert

    return [convert(table, how.chosen, how.precision)]


def width() -> int:
    """How many characters a line of the terminal has; 80 where there is none."""
    import shutil

    return shutil.get_terminal_size().columns


def _text(tables: Sequence[Table], several: bool, terminal: bool) -> Iterator[str]:
    """Yield the text of tables, a blank line behind each of several."""
    how = printing()
    room = width() if terminal or "COLUMNS" in os.environ else None  # None where nobody looks
    for table in tables:
        if how.chosen == "table" and not how.no_header:
            yield from render_lead(table, room)
        if how.chosen == "table" and (terminal or how.color == "always"):
            yield from _shaded(table, room or 80, how.colours)
        if table.title and how.chosen in ("table", "markdown"):
            yield f"{table.title}\n\n"
        if table.columns:  # else nothing is to be printed: it went to a file of arrays
            yield from render(
                table,
                how.chosen,
                precision=how.precision,
                header=not how.no_header,
                width=room,
                bold=how.colours,
                terminal=terminal,
            )
        if several:
            yield "\n"


def _shaded(table: Table, width: int, colours: bool) -> Iterator[str]:
    """Yield the sentences that stand beside a table, their words shaded, and an empty line."""
    for chart in table.charts:
        if chart.kind == "tokens":
            from ctxembed.output.shaded import shade_sentences
            from ctxembed.output.view import look_at

            yield f"{chart.title}\n"
            for line in shade_sentences(look_at(table, chart), width, colours):
                yield f"{line}\n"
            yield "\n"
