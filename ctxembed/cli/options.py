"""The options that several commands share, each declared once."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from ctxembed.cli.numbers import LARGEST, Real, Whole
from ctxembed.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Make one decorator of several options, in this order."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def integer(
    *names: str, help: str, least: int = 1, most: int = LARGEST, default: int | None = None
) -> Callable[[F], F]:
    """Make an option that takes a whole number."""
    return click.option(
        *names, type=Whole(least, most), default=default, show_default=True, metavar="N", help=help
    )


def real(
    name: str, *, help: str, least: float = 0, most: float, above: bool = True, metavar: str = "N"
) -> Callable[[F], F]:
    """Make an option that takes a finite number, above the least or from it on."""
    return click.option(name, type=Real(least, most, above=above), metavar=metavar, help=help)


def number(
    help: str, default: int | None = None, least: int = 1, most: int = LARGEST
) -> Callable[[F], F]:
    """Make -n: how many."""
    return integer("-n", "number", help=help, least=least, most=most, default=default)


def choice(
    name: str, values: Sequence[str], *, help: str, default: str | None = None, to: str = ""
) -> Callable[[F], F]:
    """Make an option that is one of these values, the first unless another is given."""
    names, kind = [name, to] if to else [name], click.Choice(values)
    return click.option(
        *names, type=kind, default=default or values[0], show_default=True, help=help
    )


def attention(
    help: str = "learned, general, bag or a name; learned where there is.", metavar: str = "NAME"
) -> Callable[[F], F]:
    """Make --attention."""
    return click.option("--attention", metavar=metavar, help=help)


def seed(help: str = "Start of the random numbers.") -> Callable[[F], F]:
    """Make --seed."""
    return integer("--seed", help=help, least=0, most=2**31, default=1)


def _read_axes(_: object, __: object, axes: Iterable[str]) -> dict[str, list[str]]:
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


def senses(*names: str, help: str) -> Callable[[F], F]:
    """Make the option that says how many senses."""
    how: dict[str, Any] = {"default": "auto", "show_default": True, "callback": _read_number}
    return click.option(*names, metavar="N|auto", help=help, **how)


model = click.option(
    "-m",
    "--model",
    metavar="DIR|NAME",
    help="A model, or english or everyday; else $CTXEMBED_MODEL, ./ctxembed-model, english.",
)
on_spark = click.option(
    "--on", type=click.Choice(["spark"]), help="Read by Apache Spark; needs ctxembed[spark]."
)
output = click.option(  # of a command that writes a model
    "-o",
    "--output",
    default="ctxembed-model",
    show_default=True,
    metavar="DIR",
    help="Where the model goes.",
)
word = click.option("--word", metavar="WORD[:N]", help="The target, where none is marked with [ ].")
axis = click.option(
    "--axis",
    "axes",
    multiple=True,
    callback=_read_axes,
    metavar="NAME=WORD,...",
    help="A named direction, the mean of a few words; may be given several times.",
)
encoder = click.option(
    "--encoder",
    "encoders",
    multiple=True,
    metavar="DIR",
    help="A local Hugging Face model as another row; needs ctxembed[transformers].",
)
general = click.option(
    "--general",
    callback=_read_general,
    metavar="KIND[:TEMPERATURE]",
    help="Which attention without parameters: textbook, scaled or cosine; cosine unless --vectors"
    " are given. cosine:3 has a temperature of 3 instead of 6.",
)
force = click.option("--force", is_flag=True, help="Replace the model that is there.")
lines = click.option("--lines", is_flag=True, help="Each line is one sentence already.")
language = click.option(
    "--language",
    default="",
    metavar="en|de|fr|es|tr|az",
    help="Its abbreviations and ordinals; capitals of Turkish and Azeri.",
)
document = click.option(
    "--document",
    default="auto",
    show_default=True,
    metavar="file|block|line|REGEX",
    help="What a document is: a block is between blank lines, REGEX matches a first line.",
)
errors = choice(
    "--errors", ["strict", "replace"], help="What to do with a byte that can't be decoded."
)
# Which words may be near.
ranking = together(
    integer("--min-count", help="Leave out neighbours that are rarer than this.", default=1),
    click.option("--raw", is_flag=True, help="Rank by cosine alone; else rare words count less."),
)
# How a file is read.
reading = together(
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the file."),
    errors,
)
# How text is read.
text = together(
    choice(
        "--tokenizer",
        ["word", "whitespace"],
        help="whitespace is for text that is tokenised already.",
    ),
    click.option("--cased", is_flag=True, help="Keep capitals; Apple and apple are two words."),
    reading,
)
corpus = together(lines, text)
# Where vectors come from.
source = together(
    click.option(
        "--vectors",
        metavar="FILE",
        help="Vectors from a small TSV or JSON file instead of a model.",
    ),
    model,
)
# Which occurrences, and whose vectors of them.
occurrences = together(attention(), seed(), model)
# Which attention.
layer = together(
    attention("learned, general, random or a name; learned where the model has it."),
    general,
    integer("--heads", help="Heads of a general (cosine) or random attention.", most=64, default=4),
    seed(),
)
