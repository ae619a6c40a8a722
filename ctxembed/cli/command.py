"""What every command has in common: its help, the model it opens, what it reads from stdin."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxembed.cli.printing import (
    Printing,
    add_options,
    bad_lines,
    note,
    note_skipped,
    print_result,
    printing,
    refuse_bad_lines,
    say_bad_lines,
    skips_bad,
)
from ctxembed.cli.screen import write_screen
from ctxembed.errors import CtxembedError, Replaced, UnknownWordError, UsageError
from ctxembed.output.progress_bars import Bars
from ctxembed.output.safe import discard_stdout
from ctxembed.table import Column, Table

if TYPE_CHECKING:
    from ctxembed.model.model import Model
    from ctxembed.text.corpus import Corpus

MAX_ATTEMPTS = 20  # at a model that another process keeps replacing
MAX_LINES = 1_000_000  # lines of stdin that are kept in memory
STDIN = "ctxembed.stdin"  # in a context's meta: whether lines were read from it
RETRY = "ctxembed.retry"  # in a context's meta: whether the command may start again
ADVANCED = {
    "--cased", "--color", "--document", "--draw", "--encoder", "--encoding", "--engine", "--errors",
    "--frames", "--general", "--heads", "--hierarchical-softmax", "--input-encoding", "--language",
    "--lines", "--log", "--min-count", "--min-documents", "--min-score", "--negative",
    "--no-header", "--on",
    "--per-word", "--permutations", "--pieces", "--positions", "--precision", "--rate", "--raw",
    "--sample", "--seed", "--skip-bad", "--stopwords", "--tokenizer", "--train-words", "--vocab",
    "--workers",
}  # fmt: skip
# Parameters that name files and folders; their names may be any bytes, all else is text.
PATHS = {
    "corpora", "corpus", "dictionaries", "encoder", "encoders", "file", "file_", "meta", "model",
    "model_a", "model_b", "output", "save", "stopwords", "task", "text", "train", "vectors",
    "vocabulary", "weights",
}  # fmt: skip


def read_help(name: str) -> dict[str, str]:
    """Return the sections of help/NAME.txt by their headings, which are underlined."""
    text = (Path(__file__).parent / "help" / f"{name}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^(\w[\w ]*)\n-{4,}\n", text, flags=re.M)
    return {head: body.strip() for head, body in zip(parts[::2], parts[1::2], strict=True)}


class Command(click.Command):
    """A command that returns a Table, which is printed; help/NAME.txt holds its long texts.

    queries: the functions that make its table and declare its columns, by the option that chooses
    one, "" for the first; none if it prints no table.
    """

    def __init__(
        self, name: str | None, *, queries: Mapping[str, Callable[..., Any]],
        params: Sequence[click.Parameter] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, params=add_options(params or (), bool(queries)), **kwargs)
        self.queries = queries
        self.columns: Mapping[str, Sequence[Column]] = {
            option: getattr(query, "columns", ()) for option, query in queries.items()
        }

    @cached_property
    def sections(self) -> dict[str, str]:
        """The sections of its help file: Description, Details, Output, Examples."""
        return read_help(str(self.name))

    @property
    def description(self) -> str:
        """What it does: its docstring, and the section Description of its help file."""
        return f"{self.help}\n\n{self.sections.get('Description', '')}".strip()

    def get_help(self, ctx: click.Context) -> str:
        """Return its help on one screen."""
        return write_screen(ctx, self.description, self.examples, ADVANCED)

    def whole_help(self, ctx: click.Context) -> str:
        """Return its help with all options, columns and examples, as `ctxembed help` prints it."""
        return super().get_help(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(self.description)

    @property
    def picture(self) -> str:
        """What -o FILE.svg draws; empty if nothing."""
        return self.sections.get("Picture", "")

    @property
    def examples(self) -> list[tuple[str, str]]:
        """What each example is for, and its command line, joined to one line."""
        parts = f"\n{self.sections['Examples']}".split("\n# ")[1:]
        split = [part.splitlines() for part in parts]
        return [(meaning, " ".join(map(str.strip, lines))) for meaning, *lines in split]

    def invoke(self, ctx: click.Context) -> None:
        """Run the command and print its table."""
        try:
            values = dict(ctx.params)
            table = self.answer(ctx)
            try:
                print_result(table)
            finally:
                if ctx.obj.log is not None and sys.exc_info()[0] in (None, click.exceptions.Exit):
                    from ctxembed.cli.run_log import write_log

                    write_log(ctx.obj.log, values, ctx.obj.file_, PATHS)
        except CtxembedError as error:
            # Of stdin, which no command line names, every line may be bad.
            if isinstance(error, UnknownWordError) and skips_bad() and ctx.meta.get(STDIN):
                return note_skipped(str(error).splitlines())
            say_bad_lines()
            raise
        except BrokenPipeError:  # click would exit with 1, yet `| head` is no failure
            discard_stdout()

    def answer(self, ctx: click.Context) -> Table | Iterable[Table] | None:
        """Run the command and return its table; start again if its model was replaced meanwhile."""
        check_arguments(self, ctx.params)
        ctx.obj = Printing.pop_from(ctx.params)
        if ctx.obj.draws and not self.picture:
            raise UsageError(f"{self.name} has no picture. Choose another -f or -o.")
        for attempt in range(MAX_ATTEMPTS):
            try:
                table: Table | Iterable[Table] | None = super().invoke(ctx)
                break
            except Replaced:
                if not ctx.meta.get(RETRY) or attempt == MAX_ATTEMPTS - 1:
                    raise
        return table

    def option_groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options with their help, those that few people need apart."""
        groups: dict[str, list[tuple[str, str]]] = {"Options": [], "Advanced options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record is not None:
                common = ADVANCED.isdisjoint(parameter.opts)
                groups["Options" if common else "Advanced options"].append(record)
        return {name: records for name, records in groups.items() if records}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, the advanced ones last."""
        for name, records in self.option_groups(ctx).items():
            with formatter.section(name):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Add the examples, what the columns mean, and what the picture shows."""
        with formatter.section("Examples"):
            for meaning, line in self.examples:
                formatter.write_text(f"# {meaning}")
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        for option, columns in self.columns.items():
            with formatter.section(f"Columns with {option}" if option else "Columns"):
                formatter.write_dl([(column.name, column.meaning) for column in columns])
        if self.picture:
            with formatter.section("Picture"):
                formatter.write_text(self.picture)


def command(
    name: str, query: Callable[..., Any] | None = None, **others: Callable[..., Any]
) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command of a function; others: queries by their option."""
    queries = {"": query} if query else {}
    queries |= {f"--{option}": other for option, other in others.items()}
    settings = {"help_option_names": ["-h", "--help"]}
    return click.command(name, cls=Command, queries=queries, context_settings=settings)


def check_arguments(command: click.Command, values: dict[str, Any]) -> None:
    """Refuse text that is not UTF-8, NUL characters, and two arguments that read stdin."""
    stdin = 0
    for parameter in command.params:
        name = parameter.name or ""
        for text in _texts(values.get(name)):
            if "\0" in text:
                raise UsageError(f"{parameter.get_error_hint(None)}: a NUL character")
            if name not in PATHS and text != text.encode("utf-8", "ignore").decode():
                raise UsageError(f"{os.fsencode(text)!r} is not UTF-8; give text in UTF-8")
            written = name in ("file_", "output") or command.name == "export"
            stdin += text == "-" and not written
    if stdin > 1:
        raise UsageError("- is given twice, but stdin can be read once")


def _texts(value: Any) -> Iterator[str]:
    """Yield every string in a value of an option."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for item in value.items() if isinstance(value, dict) else value:
            yield from _texts(item)


def _set_retry(allowed: bool) -> None:
    """Say whether the running command may start again if its model is replaced; no is final."""
    if context := click.get_current_context(silent=True):
        context.meta[RETRY] = allowed and context.meta.get(RETRY, True)


def open_model(
    path: str | None, vectors: str | None = None, *, writes: bool = False,
    where: Sequence[str] = (),
) -> "Model":  # fmt: skip
    """Open a command's model, or a worked example's vectors; note which one if none was named.

    where: conditions on the documents that it is to have.
    """
    model = _open_whole(path, vectors, writes)
    if not where:
        return model
    from ctxembed.model.selection import select

    return select(model, where)


def _open_whole(path: str | None, vectors: str | None, writes: bool) -> "Model":
    from ctxembed.model import bundled

    _set_retry(not writes)
    if vectors is not None:
        if path is not None:
            raise UsageError("give --vectors or --model, not both")
        from ctxembed.context.worked_example import open_worked_example

        return open_worked_example(vectors)
    chosen = bundled.model_path(path)
    if writes:
        bundled.refuse_bundled(chosen)
    named, bundled_name = path or os.environ.get("CTXEMBED_MODEL"), bundled.bundled_name(chosen)
    if named in bundled.BUNDLED and not bundled_name:
        note(f"{named} is your own model in this directory; it hides the bundled one")
    model = bundled.open_model(chosen)
    few = ": too few to trust" if bundled.too_small(model) else ""
    if not named or (few and sys.stderr is not None and sys.stderr.isatty()):
        source = f"the bundled model {bundled_name}" if bundled_name else str(chosen)
        read = f"it has read {format_count(model.seen_tokens)} words{few}"
        note(f"{source} answers; {'it was imported' if model.meta.get('imported') else read}")
    return model


def format_count(number: int) -> str:
    """Return a number in words: 53 million.

    >>> format_count(52_552_997), format_count(118_345), format_count(812)
    ('53 million', '118 thousand', '812')
    """
    for size, name in ((10**9, "billion"), (10**6, "million"), (10**3, "thousand")):
        if number >= size:
            return f"{number / size:.{int(number < 10 * size)}f} {name}"
    return str(number)


def open_corpus(
    names: Sequence[str],
    encoding: str,
    errors: str,
    lines: bool,
    document: str = "auto",
    weighted: bool = False,
    meta: str | None = None,
    text_column: str | None = None,
    document_tag: str | None = None,
) -> "Corpus":
    """Open the files of a corpus and its metadata; note which files are left out."""
    from ctxembed.model.bundled import find_corpus
    from ctxembed.text.corpus import Corpus

    files = [find_corpus(name) for name in names]
    for name, file in zip(names, files, strict=True):
        if name != file:
            note(f"{name}: the corpus that comes with ctxembed")
    corpus = Corpus(
        files, encoding, errors, lines, document, weighted, text_column=text_column or "",
        document_tag=document_tag or "",
    )  # fmt: skip
    if meta is not None:
        corpus.describe_files(meta)
        for text in corpus.unmatched():
            note(text)
    for name, reason in list(corpus.skipped.items())[:3]:
        note(f"{name}: skipped, {reason}")
    if len(corpus.skipped) > 3:
        note(f"{len(corpus.skipped) - 3} more files skipped")
    return corpus


def bars() -> Bars:
    """Return progress bars for the running command."""
    return Bars(printing().quiet)


@dataclass(frozen=True)
class Lines:
    """Every line of a file, or of stdin for `-`, from the first each time; empty ones count."""

    file: str
    pauses: bool = False  # whether PAUSE is among the lines of a pipe, for queries that know it

    def __iter__(self) -> Iterator[str]:
        from ctxembed.text.lines import PAUSE, Decoding, every_line

        if self.file == "-":  # can be read once only
            _set_retry(False)
            if context := click.get_current_context(silent=True):
                context.meta[STDIN] = True
        bad_lines().clear()
        decoding = Decoding(**batch_decoding(), bad=bad_lines())
        lines = every_line(self.file, decoding, pauses=self.pauses)
        return (line if line is PAUSE else line.strip() for line in lines)


def batch_decoding() -> dict[str, str]:
    """Return the encoding and errors of `options.batch` in the running command."""
    context = click.get_current_context(silent=True)
    return dict(context.meta.get("ctxembed.decoding", {})) if context else {}


def expand_stdin(items: Sequence[str], *, numbered: bool = False) -> list[str]:
    """Replace `-` among arguments by the lines of stdin; keep empty lines only if numbered."""
    expanded: list[str] = []
    for item in items:
        expanded += islice(Lines("-"), MAX_LINES + 1) if item == "-" else [item]
    if len(expanded) > MAX_LINES:
        raise UsageError(f"stdin: more than {MAX_LINES:,} lines; give fewer at a time")
    if not any(expanded):
        refuse_bad_lines()
    if "-" in items and not any(expanded):
        raise UsageError("nothing to do: stdin was empty")
    return expanded if numbered else [item for item in expanded if item or "-" not in items]
