"""Print a command's Table: in which format, to which file, with which notes."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ctxembed.cli.options import Number
from ctxembed.errors import CorpusError, CtxembedError, UnknownWordError, UsageError
from ctxembed.output.render import FORMATS, SUFFIXES, render, render_lead
from ctxembed.output.safe import say
from ctxembed.table import Table
from ctxembed.text.streams import is_live

MAX_LINES = 20  # that could not be decoded and are listed
STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
REFUSED = (".xls", ".ods", ".dta", ".sav", ".rds", ".rda", ".rdata", ".arrow", ".orc", ".docx")
FRAMES = (".parquet", ".feather", ".xlsx")  # data frames, of any table
ARRAYS = (".npz", ".npy", ".parquet")  # what a file of vectors ends in
PICTURES = {f".{form}": form for form in ("svg", "png", "pdf", "html")}  # by a file's suffix
QUIET = click.Option(["-q", "--quiet"], is_flag=True, help="Print no notes and no progress bars.")
FILE = click.Option(
    ["-o", "--output", "file_"],
    metavar="FILE",
    help=f"Write the table to a file; {' '.join((*SUFFIXES, *FRAMES))} choose the format,"
    f" {' '.join(PICTURES)} draw a picture.",
)
LOG = click.Option(
    ["--log"], metavar="FILE",
    help="Write what reproduces the table: command, versions, seeds, SHA-256 of inputs (JSON).",
)  # fmt: skip
OPTIONS = (
    click.Option(
        ["-f", "--format", "form"],
        type=click.Choice((*FORMATS, "svg", "chart")),
        help="Output format: table on a terminal, tsv in a pipe; svg and chart draw a picture.",
    ),
    click.Option(
        ["--precision"],
        type=Number(int, 0, 17),
        metavar="N",
        help="Digits after the decimal point; default 4 in a table, 6 in tsv, all in csv and json.",
    ),
    click.Option(["--no-header"], is_flag=True, help="Leave out the line of column names."),
    click.Option(
        ["--color"],
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        show_default=True,
        help="Colours on a terminal; auto uses them unless NO_COLOR is set.",
    ),
    QUIET,
)


def add_options(own: Sequence[click.Parameter], prints: bool) -> list[click.Parameter]:
    """Return the parameters of a command with those for printing, if it prints a table."""
    if not prints:
        return [*own, QUIET]
    has_file = any("-o" in parameter.opts for parameter in own)
    return [*own, *(() if has_file else (FILE,)), *OPTIONS, LOG]


@dataclass(frozen=True)
class Printing:
    """The options of a command that say how its table is printed."""

    form: str | None = None
    precision: int | None = None
    no_header: bool = False
    quiet: bool = False
    color: str = "auto"
    file_: str | None = None
    log: str | None = None

    @classmethod
    def pop_from(cls, values: dict[str, Any]) -> "Printing":
        """Take these options out of the values of all options."""
        options = cls(**{name: values.pop(name) for name in vars(cls()) if name in values})
        if options.file_ is not None and options.form is None:
            _refuse_suffix(options.file_)
        if options.log is not None:
            from ctxembed.cli.run_log import check_log

            check_log(options.log, options.file_)
        # A file of the name /dev/stdout would be replaced.
        return replace(options, file_=None) if options.file_ in STDOUT else options

    @property
    def chosen(self) -> str:
        """The format: of -f, of the file's suffix, or table on a terminal and tsv in a pipe."""
        if self.file_ and not self.form:
            return (SUFFIXES | PICTURES).get(Path(self.file_).suffix, "tsv")
        return self.form or ("table" if sys.stdout.isatty() else "tsv")

    @property
    def colours(self) -> bool:
        """Whether colours may be used on stdout."""
        if self.color != "auto":
            return self.color == "always"
        can = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        return can and self.file_ is None and "NO_COLOR" not in os.environ

    @property
    def draws(self) -> bool:
        """Whether a picture is drawn instead of a table."""
        return self.chosen in (*PICTURES.values(), "chart")


def _refuse_suffix(name: str) -> None:
    """Refuse the suffix of a format of another program: TSV under its name would mislead."""
    suffix = Path(name).suffix.lower()
    if suffix in REFUSED:
        known = " ".join((*SUFFIXES, *FRAMES))
        raise UsageError(f"-o {name}: {suffix} is not written. Choose one of {known}")


def printing() -> Printing:
    """Return the printing options of the command that is running."""
    context = click.get_current_context(silent=True)
    return (context.find_object(Printing) if context else None) or Printing()


def bad_lines() -> list[str]:
    """Return the messages on lines of the running command's input that could not be decoded."""
    context = click.get_current_context(silent=True)
    messages: list[str] = context.meta.setdefault("ctxembed.bad_lines", []) if context else []
    return messages


def say_bad_lines() -> None:
    """Print the first of those messages on stderr, and the number of the others."""
    more = len(bad_lines()) - MAX_LINES
    say([*bad_lines()[:MAX_LINES], *([f"and {more} more such lines"] if more > 0 else [])])


def skips_bad() -> bool:
    """Return whether the running command has --skip-bad."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get("ctxembed.skip_bad"))


def refuse_bad_lines() -> None:
    """Raise an error where lines could not be decoded and no other line is left."""
    if bad_lines():
        raise UnknownWordError() if skips_bad() else CorpusError(bad_lines().pop(0))


def note_skipped(messages: Sequence[str]) -> None:
    """Note how many lines have no answer, for --skip-bad."""
    if number := len(bad_lines()) + _count_lines(messages):
        note(f"{number} {'line has' if number == 1 else 'lines have'} no answer")


def _count_lines(messages: Sequence[str]) -> int:
    """Return the number of lines that messages are about; the last may be about many."""
    more = (re.match(r"and (\d+) more", message) for message in messages)
    return sum(int(match[1]) if match else 1 for match in more)


def note(text: str) -> None:
    """Print a note on stderr, unless --quiet is given."""
    if not printing().quiet:
        say([text])


def print_result(result: Table | Iterable[Table] | None) -> None:
    """Print what a command returned; exit with 4 if a word or a line had to be left out.

    The code is 1 if a condition of the table failed, and 130 if Ctrl-C ended it early.
    """
    several = not isinstance(result, Table)
    tables = [result] if isinstance(result, Table) else list(result or ())
    skip = skips_bad()
    already_printed = [len(table.unknown) for table in tables]
    for table in tables if not skip else ():
        say(table.unknown)
    _print_tables(tables, several)
    for table, before in zip(tables, already_printed, strict=True):
        for line in table.notes:
            note(line)
        if not skip:
            say(table.unknown[before:])  # what turned up while rows were read
    if any(table.interrupted for table in tables):
        sys.stdout.flush()  # what is not written yet is thrown away
        raise KeyboardInterrupt
    if skip:
        return note_skipped([line for table in tables for line in table.unknown])
    say_bad_lines()
    if failed := [line for table in tables for line in table.failed]:
        say(failed)
        raise click.exceptions.Exit(CtxembedError.exit_code)
    if bad_lines() or any(table.unknown for table in tables):
        raise click.exceptions.Exit(UnknownWordError.exit_code)


def _print_tables(tables: Sequence[Table], several: bool) -> None:
    """Print tables or a picture of them, or write them to the file of -o."""
    options, name = printing(), printing().file_
    if options.draws:
        pieces = _draw(tables[0], options)
    elif name is None:
        pieces = _text(tables, several, terminal=sys.stdout.isatty())
    elif tables and not any(table.columns for table in tables):
        return  # a file of arrays was written already
    elif Path(name).suffix in ARRAYS and _is_of_vectors(tables[0]):
        from ctxembed.output.arrays import write_table

        number, dim = write_table(Path(name), tables[0])
        return note(f"{number} vectors of {dim} numbers written to {name}")
    elif Path(name).suffix.lower() in FRAMES and options.form is None:
        if several:
            raise UsageError(
                f"-o {name}: this command prints several tables; choose another format"
            )
        from ctxembed.output.frames import write_frame

        return note(f"{write_frame(Path(name), tables[0])} rows written to {name}")
    else:
        pieces = _text(tables, several, terminal=False)
    if name is None:
        live = is_live(sys.stdin)  # another program may wait for each line
        for piece in pieces:
            sys.stdout.write(piece)  # type: ignore[arg-type]
            if live:
                sys.stdout.flush()
        sys.stdout.flush()
    else:
        write_file(name, pieces)


def _is_of_vectors(table: Table) -> bool:
    """Return whether a table is labels and one vector, its last column."""
    roles = [column.role for column in table.columns]
    return roles.count("vector") == 1 and roles[-1] == "vector"


def write_file(name: str, pieces: Iterable[str | bytes], option: str = "-o") -> None:
    """Write a file whole; bytes of a file name that are not UTF-8 are escaped."""
    from ctxembed.storage.atomic import atomic_file

    if not Path(name).parent.is_dir():
        raise UsageError(f"{option} {name}: no such directory")
    if not name or Path(name).is_dir():
        raise UsageError(f"{option} {name or repr('')}: give the name of a file")
    with atomic_file(Path(name)) as file:
        for piece in pieces:
            encoded = piece.encode("utf-8", "backslashreplace") if isinstance(piece, str) else piece
            file.write(encoded)


def _draw(table: Table, options: Printing) -> Iterable[str | bytes]:
    """Return the picture of a table: as characters, or as the contents of a file."""
    if not table.charts:
        raise UsageError(table.no_picture or "This output has no picture. Choose -f tsv.")
    if options.chosen == "chart":
        from ctxembed.output.blocks import draw_blocks

        return draw_blocks(table, width(), options.precision, colours=options.colours)
    from ctxembed.output.picture import convert

    return [convert(table, options.chosen, options.precision)]


def width() -> int:
    """Return the number of characters in a line of the terminal; 80 where there is none."""
    import shutil  # it takes 3 ms

    return shutil.get_terminal_size().columns


def _text(tables: Sequence[Table], several: bool, terminal: bool) -> Iterator[str]:
    """Yield the text of tables, a blank line after each of several."""
    options = printing()
    columns = width() if terminal or "COLUMNS" in os.environ else None  # None: no limit
    aligned = options.chosen == "table"
    for table in tables:
        if aligned and not options.no_header:
            yield from render_lead(table, columns)
        if aligned and (terminal or options.color == "always"):
            yield from _shaded(table, columns or 80, options.colours)
        if table.title and options.chosen in ("table", "markdown"):
            yield f"{table.title}\n\n"
        if table.columns:  # none where it went to a file of arrays
            yield from render(
                table, options.chosen, precision=options.precision, header=not options.no_header,
                width=columns, bold=options.colours, terminal=terminal,
            )  # fmt: skip
        if several:
            yield "\n"


def _shaded(table: Table, width: int, colours: bool) -> Iterator[str]:
    """Yield the sentences of a table, their words shaded, and an empty line."""
    for chart in table.charts:
        if chart.kind == "tokens":
            from ctxembed.output.blocks import shade_sentences
            from ctxembed.output.view import read_view

            view = read_view(table, chart)
            yield f"{view.title}\n"
            for line in shade_sentences(view, width, colours):
                yield f"{line}\n"
            yield "\n"
