"""What every command has in common: its page, its options, how it opens a model and answers."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ctxembed.cli.numbers import check_numbers
from ctxembed.errors import CorpusError, UnknownWordError, UsageError
from ctxembed.output.bars import Bars
from ctxembed.output.render import FORMATS, render
from ctxembed.table import Table

if TYPE_CHECKING:
    from ctxembed.context.encoder import Encoder, Reading
    from ctxembed.store.model import Model

F = TypeVar("F", bound=Callable[..., Any])


class Command(click.Command):
    """A command that also carries what its man page says, so that the two can't drift."""

    def __init__(
        self,
        *args: Any,
        columns: Mapping[str, str] | None = None,
        examples: Sequence[tuple[str, str]] = (),
        see_also: Sequence[str] = (),
        details: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.columns = dict(columns or {})
        self.examples = tuple(examples)
        self.see_also = tuple(see_also)
        self.details = details  # further sections for the man page, in plain paragraphs

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        check_numbers(ctx, self.params)
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for meaning, line in self.examples:
                formatter.write_text(f"# {meaning}")
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def command(name: str, **page: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a command; `page` is what Command takes beside click's own arguments."""
    return click.command(
        name, cls=Command, context_settings={"help_option_names": ["-h", "--help"]}, **page
    )


def _stack(function: F, *options: Callable[[F], F]) -> F:
    for option in reversed(options):
        function = option(function)
    return function


def quiet_option(function: F) -> F:
    """Add -q."""
    return click.option(
        "-q", "--quiet", is_flag=True, help="No notes and no progress bars on stderr."
    )(function)


def output_options(function: F) -> F:
    """Add the options that say how a table is printed."""
    return _stack(
        function,
        click.option(
            "-f",
            "--format",
            "form",
            type=click.Choice(FORMATS),
            help="How to print; table on a terminal, tsv in a pipe.",
        ),
        click.option(
            "--precision",
            type=click.IntRange(0, 17),
            metavar="N",
            help="Digits behind the point; 4 in a table, 6 in tsv and csv, all of them in json.",
        ),
        click.option("--no-header", is_flag=True, help="Leave the line of column names out."),
        quiet_option,
    )


def model_option(function: F) -> F:
    """Add -m."""
    return click.option(
        "-m",
        "--model",
        "model_dir",
        metavar="DIR",
        help="Model directory; else $CTXEMBED_MODEL, ./ctxembed-model, the bundled model.",
    )(function)


def seed_option(function: F) -> F:
    """Add --seed."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**31),
        default=1,
        show_default=True,
        metavar="N",
        help="Start of the random numbers.",
    )(function)


def attention_option(function: F) -> F:
    """Add --attention."""
    return click.option(
        "--attention",
        metavar="NAME",
        help="learned, general, bag or a name; learned where there is.",
    )(function)


def encoder_option(function: F) -> F:
    """Add --encoder."""
    return click.option(
        "--encoder",
        multiple=True,
        metavar="DIR",
        help="A local Hugging Face model as another row; needs ctxembed[transformers].",
    )(function)


def open_encoders(places: Iterable[str]) -> "list[Encoder]":
    """Open the transformers asked for."""
    if not places:
        return []
    from ctxembed.context.encoder import Encoder

    return [Encoder.open(place) for place in places]


def open_readings(places: Iterable[str], model: "Model") -> "list[Reading]":
    """Open the transformers asked for, to read what a model knows of a sentence."""
    if not places:
        return []
    from ctxembed.context.encoder import Reading

    return [Reading(encoder, model.vocab) for encoder in open_encoders(places)]


def axis_option(function: F) -> F:
    """Add --axis."""
    return click.option(
        "--axis",
        "axes",
        multiple=True,
        metavar="NAME=WORD,...",
        help="A named direction, the mean of a few words; may be given several times.",
    )(function)


def parse_axes(axes: Iterable[str]) -> dict[str, list[str]]:
    """Read --axis taste=fruit,sweet,juice."""
    parsed: dict[str, list[str]] = {}
    for text in axes:
        name, equals, words = text.partition("=")
        listed = [word.strip() for word in words.split(",") if word.strip()]
        if not equals or not name.strip() or not listed:
            raise UsageError(f"--axis {text!r}: write NAME=WORD,WORD,...")
        if name.strip() in parsed:
            raise UsageError(f"--axis {name.strip()} is given twice")
        parsed[name.strip()] = listed
    return parsed


def open_model(path: str | None, quiet: bool, *, writes: bool = False) -> "Model":
    """Open the model a command asks for; say so when it is the bundled one."""
    from ctxembed.store import places

    chosen = places.model_path(path)
    if writes and chosen == places.bundled_model():
        raise UsageError("the bundled model stays as it is; train your own, or copy it and give -m")
    if chosen == places.bundled_model() and not (path or os.environ.get("CTXEMBED_MODEL")):
        note("the bundled model is answering; train your own with: ctxembed train CORPUS", quiet)
    return places.open_model(chosen)


def note(text: str, quiet: bool = False) -> None:
    """Tell the user something that is not data."""
    if not quiet:
        click.echo(f"ctxembed: {text}", err=True)


def progress(quiet: bool) -> Bars:
    """Make progress bars."""
    return Bars(quiet)


def stdin_lines() -> Iterator[str]:
    """Yield the lines of stdin that say anything."""
    for number, raw in enumerate(sys.stdin.buffer, 1):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            raise CorpusError(f"stdin: line {number}: byte 0x{byte:02x} is not utf-8") from None
        if line:
            yield line


def expand_stdin(items: Sequence[str]) -> list[str]:
    """Replace `-` among arguments by the lines of stdin."""
    expanded: list[str] = []
    for item in items:
        expanded += stdin_lines() if item == "-" else [item]
    if not expanded:
        raise UsageError("nothing to do: stdin was empty")
    return expanded


def number_or_auto(option: str, text: str) -> int | None:
    """Read how many senses are asked for; None leaves it to the data."""
    if text == "auto":
        return None
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= 50:
        raise UsageError(f"{option} {text}: give a number from 1 to 50, or auto")
    return int(text)


def known_words(model: "Model", words: Sequence[str]) -> tuple[list[str], bool]:
    """Keep the words the model knows and name the others; all unknown is an error."""
    known, unknown = model.sort_known(words)
    if not known:
        raise UnknownWordError("\n".join(model.unknown(word) for word in unknown))
    for word in unknown:
        note(model.unknown(word))
    return known, bool(unknown)


def answer(
    table: Table,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
    *,
    incomplete: bool = False,
) -> None:
    """Print a table as asked, its notes on stderr; exit with 4 if a word had to be left out."""
    terminal = sys.stdout.isatty()
    chosen = form or ("table" if terminal else "tsv")
    text = render(
        table,
        chosen,
        precision=precision,
        header=not no_header,
        width=_width() if terminal or "COLUMNS" in os.environ else None,
        bold=terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
    )
    for piece in text:
        sys.stdout.write(piece)
    sys.stdout.flush()
    for line in table.notes:
        note(line, quiet)
    if incomplete:
        raise click.exceptions.Exit(UnknownWordError.exit_code)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns
