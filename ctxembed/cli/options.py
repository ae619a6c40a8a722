"""How commands declare options, and those that several share, each declared once."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from ctxembed.cli.numbers import LARGEST, Real, Whole
from ctxembed.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
argument = click.argument


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Make one decorator of several options, in this order."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def value(names: str, help: str, **how: Any) -> Callable[[F], F]:
    """Make an option as click does; of its names the last may be the one of its parameter."""
    return click.option(*names.split(), help=help, show_default=True, **how)


def flag(names: str, help: str) -> Callable[[F], F]:
    """Make an option that is given or not."""
    return value(names, help, is_flag=True)


def integer(
    names: str, help: str, *, least: int = 1, most: int = LARGEST, default: int | None = None
) -> Callable[[F], F]:
    """Make an option that takes a whole number."""
    return value(names, help, type=Whole(least, most), metavar="N", default=default)


def real(
    name: str, help: str, *, most: float, above: bool = True, metavar: str = "N"
) -> Callable[[F], F]:
    """Make an option that takes a finite number, above 0 or from it on."""
    return value(name, help, type=Real(0, most, min_open=above), metavar=metavar)


def number(help: str, default: int | None = None, most: int = LARGEST) -> Callable[[F], F]:
    """Make -n: how many."""
    return integer("-n number", help, most=most, default=default)


def choice(
    names: str, values: Sequence[str], help: str, default: str | None = None
) -> Callable[[F], F]:
    """Make an option that is one of these values, the first unless another is given."""
    return value(names, help, type=click.Choice(values), default=default or values[0])


def attention(
    help: str = "learned, general, bag or a name; learned where there is.", metavar: str = "NAME"
) -> Callable[[F], F]:
    """Make --attention."""
    return value("--attention", help, metavar=metavar)


def seed(help: str = "Start of the random numbers.") -> Callable[[F], F]:
    """Make --seed."""
    return integer("--seed", help, least=0, default=1)


def word_list(name: str, help: str) -> Callable[[F], F]:
    """Make an option that takes words between commas."""
    return value(name, help, metavar="WORD,...", callback=lambda _, __, text: _split(text or ""))


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _read_axes(_: object, __: object, axes: Iterable[str]) -> dict[str, list[str]]:
    """Read --axis taste=fruit,sweet,juice."""
    parsed: dict[str, list[str]] = {}
    for text in axes:
        name, equals, words = text.partition("=")
        name, listed = name.strip(), _split(words)
        if not equals or not name or not listed:
            raise UsageError(f"--axis {text!r}: write NAME=WORD,WORD,...")
        if name in parsed:
            raise UsageError(f"--axis {name} is given twice")
        parsed[name] = listed
    return parsed


def _read_number(_: object, parameter: click.Parameter, text: str) -> int | None:
    """Read how many senses are asked for; None leaves it to the data."""
    if text == "auto":
        return None
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= 50:
        raise UsageError(f"{parameter.opts[-1]} {text}: give a number from 1 to 50, or auto")
    return int(text)


def _read_general(_: object, __: object, kind: str | None) -> str | None:
    """Read --general cosine, or cosine:3 with a temperature."""
    kinds = ("textbook", "scaled", "cosine")
    if kind is not None and kind.partition(":")[0] not in kinds:
        raise UsageError(
            f"--general {kind}: it is one of {', '.join(kinds)}, cosine:3 for instance"
        )
    return kind


def senses(names: str, help: str) -> Callable[[F], F]:
    """Make the option that says how many senses."""
    return value(names, help, default="auto", callback=_read_number, metavar="N|auto")


model = value(
    "-m --model",
    "A model, or english or everyday; else $CTXEMBED_MODEL, ./ctxembed-model, english.",
    metavar="DIR|NAME",
)
on_spark = value(
    "--on", "Read by Apache Spark; needs ctxembed[spark].", type=click.Choice(["spark"])
)
output = value(  # of a command that writes a model
    "-o --output", "Where the model goes.", default="ctxembed-model", metavar="DIR"
)
word = value("--word", "The target, where none is marked with [ ].", metavar="WORD[:N]")
axis = value(
    "--axis axes",
    "A named direction, the mean of a few words; may be given several times.",
    multiple=True,
    callback=_read_axes,
    metavar="NAME=WORD,...",
)
encoder = value(
    "--encoder encoders",
    "A local Hugging Face model as another row; needs ctxembed[transformers].",
    multiple=True,
    metavar="DIR",
)
general = value(
    "--general",
    "Which attention without parameters: textbook, scaled or cosine; cosine unless --vectors"
    " are given. cosine:3 has a temperature of 3 instead of 6.",
    callback=_read_general,
    metavar="KIND[:TEMPERATURE]",
)
force = flag("--force", "Replace the model that is there.")
lines = flag("--lines", "Each line is one sentence already.")
language = click.option(
    "--language",
    default="",
    metavar="en|de|fr|es|tr|az",
    help="Its abbreviations and ordinals; capitals of Turkish and Azeri.",
)
document = value(
    "--document",
    "What a document is: a block is between blank lines, REGEX matches a first line.",
    default="auto",
    metavar="file|block|line|REGEX",
)
errors = choice("--errors", ["strict", "replace"], "What to do with a byte that can't be decoded.")
# Which words may be near.
ranking = together(
    integer("--min-count", "Leave out neighbours that are rarer than this.", default=1),
    flag("--raw", "Rank by cosine alone; else rare words count less."),
)
# How a file is read.
reading = together(value("--encoding", "Encoding of the file.", default="utf-8"), errors)
# How text is read.
text = together(
    choice(
        "--tokenizer", ["word", "whitespace"], "whitespace is for text that is tokenised already."
    ),
    flag("--cased", "Keep capitals; Apple and apple are two words."),
    reading,
)
corpus = together(lines, text)
# Where vectors come from.
source = together(
    value("--vectors", "Vectors from a small TSV or JSON file instead of a model.", metavar="FILE"),
    model,
)
# Which occurrences, and whose vectors of them.
occurrences = together(attention(), seed(), model)
# Which attention.
layer = together(
    attention("learned, general, random or a name; learned where the model has it."),
    general,
    integer("--heads", "Heads of a general (cosine) or random attention.", most=64, default=4),
    seed(),
)
