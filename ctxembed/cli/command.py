"""What every command has in common: its page, what it reads from stdin, the model it opens."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from ctxembed import look_up
from ctxembed.cli.answer import FILE, OPTIONS, STDOUT, Printing, answer, note, printing
from ctxembed.cli.arguments import check_given
from ctxembed.errors import Replaced, UsageError
from ctxembed.output.bars import Bars
from ctxembed.table import Column, Table

if TYPE_CHECKING:
    from ctxembed.model.model import Model
    from ctxembed.text.corpus import Corpus


class Command(click.Command):
    """A command that answers with a Table, and carries what its man page says.

    examples: a line `# meaning`, then the command, which may go on in the next line. `output` is
    what a command that answers with no Table prints. `picture` says what -o FILE.svg draws.
    """

    def __init__(
        self,
        name: str | None,
        *,
        examples: str = "",
        see_also: Sequence[str] = (),
        details: str = "",
        output: str = "",
        picture: str = "",
        params: Sequence[click.Parameter] | None = None,
        **kwargs: Any,
    ) -> None:
        own = list(params or ())
        if not output:
            taken = any("-o" in parameter.opts for parameter in own)
            own += [*(() if taken else (FILE,)), *OPTIONS]
        super().__init__(name, params=own, **kwargs)
        self.examples = tuple(_read_examples(examples))
        self.see_also = tuple(see_also)
        self.details = details  # further sections for the man page, in plain paragraphs
        self.output = output
        self.picture = picture  # what is drawn, if anything is

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of its answer, as its question declares them; none where it has no Table."""
        columns: Sequence[Column] = () if self.output else self.question.columns
        return columns

    @property
    def question(self) -> Any:
        """What it asks: the function that has its name in Python."""
        return look_up("import_" if self.name == "import" else str(self.name))

    def invoke(self, ctx: click.Context) -> None:
        """Ask, and print the answer."""
        given = {name: ctx.params.pop(name) for name in list(ctx.params) if name in PRINTING}
        if given.get("file_") in STDOUT:  # a file of this name would be made, or replaced
            given["file_"] = None
        ctx.obj = Printing(**given)
        if ctx.obj.draws and not self.picture:
            raise UsageError(f"no picture for {self.name}; there is one for {_pictured(ctx)}")
        answer(super().invoke(ctx))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        check_given(self, ctx.params)
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Add the examples, and what the columns mean."""
        with formatter.section("Examples"):
            for meaning, line in self.examples:
                formatter.write_text(f"# {meaning}")
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        if self.columns:
            with formatter.section("Columns"):
                formatter.write_dl([(column.name, column.meaning) for column in self.columns])


def _pictured(ctx: click.Context) -> str:
    """List the commands that have a picture."""
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    found = ((name, group.get_command(ctx, name)) for name in group.list_commands(ctx))
    return ", ".join(name for name, command in found if getattr(command, "picture", ""))


def _read_examples(text: str) -> Iterator[tuple[str, str]]:
    """Yield what an example is for, and the example."""
    for part in f"\n{text}".split("\n# ")[1:]:
        meaning, *lines = part.splitlines()
        yield meaning, " ".join(map(str.strip, lines))


AGAIN = 20  # times that a model is opened anew
MOST = 1_000_000  # lines of stdin that are kept in memory
PRINTING = Printing.__dataclass_fields__


def command(**page: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a command with the name of its module; `page` is what Command takes beside click."""

    def make(function: Callable[..., Any]) -> Command:
        name = function.__module__.rpartition(".")[2].rstrip("_")
        how = {"help_option_names": ["-h", "--help"]}
        return click.command(name, cls=Command, context_settings=how, **page)(function)

    return make


def ask(*given: Any, writes: object = False, question: Any = None, **asked: Any) -> Table:
    """Ask the question of the command under way: of its model, if it has one, with its bars."""
    if question is None:
        command = click.get_current_context().command
        assert isinstance(command, Command)
        question = command.question
    if "progress" in signature(question).parameters:
        asked["progress"] = bars()
    answered: Table
    if "model" not in asked:
        answered = question(*given, **asked)
        return answered
    path, vectors = asked.pop("model"), asked.pop("vectors", None)
    again = 0 if writes or Lines("-") in given else AGAIN
    while True:
        model = open_model(path, vectors, writes=bool(writes))
        try:
            answered = question(model, *given, **asked)
            return answered
        except Replaced:  # some of it was to be opened late, when it was gone already
            again -= 1
            if again < 0:
                raise


def open_model(path: str | None, vectors: str | None = None, *, writes: bool = False) -> "Model":
    """Open the model a command asks for, or vectors by hand; say so when none was named."""
    from ctxembed.model import bundled as places

    if vectors is not None:
        if path is not None:
            raise UsageError("give --vectors or --model, not both")
        from ctxembed.context.worked_example import given

        return given(vectors)
    chosen = places.model_path(path)
    if writes:
        places.refuse_bundled(chosen)
    named, bundled = path or os.environ.get("CTXEMBED_MODEL"), places.bundled_name(chosen)
    if named in places.BUNDLED and not bundled:
        note(f"{named} is your own model in this directory; the bundled one is behind it")
    model = places.open_model(chosen)
    few = ": too few to trust" if places.too_small(model) else ""
    if not named or (few and sys.stderr is not None and sys.stderr.isatty()):
        who = f"the bundled model {bundled}" if bundled else str(chosen)
        note(f"{who} answers; it has read {count_of(model.seen_tokens)} words{few}")
    return model


def count_of(number: int) -> str:
    """Write a large number as one says it.

    >>> count_of(52_552_997), count_of(118_345), count_of(812)
    ('53 million', '118 thousand', '812')
    """
    for size, name in ((10**9, "billion"), (10**6, "million"), (10**3, "thousand")):
        if number >= size:
            return f"{number / size:.{int(number < 10 * size)}f} {name}"
    return str(number)


def open_corpus(
    names: Sequence[str], encoding: str, errors: str, lines: bool, document: str = "auto"
) -> "Corpus":
    """Find the files of a corpus; tell which of them are no text."""
    from ctxembed.text.corpus import Corpus

    corpus = Corpus(names, encoding, errors, lines, document)
    for name in corpus.skipped[:3]:
        note(f"{name}: skipped, not a text file")
    if len(corpus.skipped) > 3:
        note(f"{len(corpus.skipped) - 3} more files skipped, not text")
    return corpus


def bars() -> Bars:
    """Make progress bars."""
    return Bars(printing().quiet)


@dataclass(frozen=True)
class Lines:
    """Every line of a file, or of stdin for `-`, from the first each time; empty ones count."""

    file: str

    def __iter__(self) -> Iterator[str]:
        from ctxembed.text.lines import every_line

        return map(str.strip, every_line(self.file))


def expand_stdin(items: Sequence[str], *, numbered: bool = False) -> list[str]:
    """Replace `-` among arguments by the lines of stdin; empty ones only count where numbered."""
    expanded: list[str] = []
    for item in items:
        expanded += islice(Lines("-"), MOST + 1) if item == "-" else [item]
    if len(expanded) > MOST:
        raise UsageError(f"stdin: more than {MOST:,} lines; give fewer at a time")
    if "-" in items and not any(expanded):
        raise UsageError("nothing to do: stdin was empty")
    return expanded if numbered else [item for item in expanded if item or "-" not in items]
