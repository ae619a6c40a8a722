"""How commands declare options; options that several commands share are declared here once."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from ctxembed.errors import UsageError

Decorator = Callable[[Any], Any]
MAX_NUMBER = 2**31  # no option has use for a larger number
argument = click.argument


class Number(click.FloatRange):
    """A finite number from `min` to `max`, of a kind; the error message names the range."""

    def __init__(self, kind: type[Any], min: float, max: float, *, above: bool = False) -> None:
        super().__init__(min, max, min_open=above)
        self.kind, self.kind_name = kind, "whole number" if kind is int else "number"
        self.low, self.high = min, max

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = self.kind(value)
        except (ValueError, OverflowError, TypeError):  # int refuses 5,000 digits
            number = math.nan
        low = number > self.low if self.min_open else number >= self.low
        if low and number <= self.high:  # NaN is not
            return number
        text = str(value) if len(str(value)) <= 40 else f"{str(value)[:40]}…"
        first = f"above {self.low:g}, up to" if self.min_open else f"from {self.low:g} to"
        message = f"{text} is not a {self.kind_name} {first} {self.high:,}."
        raise click.BadParameter(message, ctx, param)

    def _describe_range(self) -> str:  # for --help
        return "" if self.max == MAX_NUMBER else super()._describe_range()


def together(*options: Decorator) -> Decorator:
    """Return one decorator that adds several options, in this order."""

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def value(names: str, help: str, **settings: Any) -> Decorator:
    """Return a click option; the last of its names may be the name of its parameter."""
    return click.option(*names.split(), help=help, show_default=True, **settings)


def flag(names: str, help: str) -> Decorator:
    """Return an option without a value."""
    return value(names, help, is_flag=True)


def integer(
    names: str, help: str, *, min: int = 1, max: int = MAX_NUMBER, default: int | None = None
) -> Decorator:
    """Return an option that takes a whole number."""
    return value(names, help, type=Number(int, min, max), metavar="N", default=default)


def real(name: str, help: str, *, max: float, above: bool = True, metavar: str = "N") -> Decorator:
    """Return an option that takes a finite number above 0; above=False allows 0."""
    return value(name, help, type=Number(float, 0, max, above=above), metavar=metavar)


def number(help: str, default: int | None = None, max: int = MAX_NUMBER) -> Decorator:
    """Return the option -n: how many rows or words."""
    return integer("-n number", help, max=max, default=default)


def choice(names: str, values: Sequence[str], help: str, default: str | None = None) -> Decorator:
    """Return an option that takes one of these values; the default is the first."""
    return value(names, help, type=click.Choice(values), default=default or values[0])


def attention(
    help: str = "learned, general, bag or a name; default: learned if the model has it.",
    metavar: str = "NAME",
) -> Decorator:
    """Return the option --attention."""
    return value("--attention", help, metavar=metavar)


def seed(help: str = "Seed of the random numbers.") -> Decorator:
    """Return the option --seed."""
    return integer("--seed", help, min=0, default=1)


def word_list(name: str, help: str) -> Decorator:
    """Return an option that takes words separated by commas."""
    return value(name, help, metavar="WORD,...", callback=lambda _, __, text: _split(text or ""))


def senses(names: str, help: str) -> Decorator:
    """Return the option for the number of senses; None means that the data decide."""
    return value(names, help, default="auto", callback=_read_sense_count, metavar="N|auto")


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def read_groups(_: object, parameter: click.Parameter, axes: Iterable[str]) -> dict[str, list[str]]:
    """Return words by the name of their group, from --axis taste=fruit,sweet,juice."""
    parsed: dict[str, list[str]] = {}
    for text in axes:
        name, _, words = (part.strip() for part in text.partition("="))
        if not name or not _split(words):
            raise UsageError(f"{parameter.opts[0]} {text!r}: write NAME=WORD,WORD,...")
        if name in parsed:
            raise UsageError(f"{parameter.opts[0]} {name} is given twice")
        parsed[name] = _split(words)
    return parsed


def _read_sense_count(_: object, parameter: click.Parameter, text: str) -> int | None:
    if text == "auto":
        return None
    if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= 50:
        raise UsageError(f"{parameter.opts[-1]} {text[:60]}: give a number from 1 to 50, or auto")
    return int(text)


def _read_general(_: object, __: object, kind: str | None) -> str | None:
    """Return the value of --general, cosine or cosine:3 with a temperature, once it is checked."""
    kinds = ("textbook", "scaled", "cosine")
    if kind is not None and kind.partition(":")[0] not in kinds:
        raise UsageError(f"--general {kind}: choose one of {', '.join(kinds)}, or cosine:3")
    return kind


model = value(
    "-m --model",
    "Directory of a model, or english or everyday; default $CTXEMBED_MODEL, then ./ctxembed-model,"
    " then english.",
    metavar="DIR|NAME",
)
on_spark = value(
    "--on", "Read with Apache Spark; needs ctxembed[spark].", type=click.Choice(["spark"])
)
output = value(  # of a command that writes a model
    "-o --output", "Directory of the new model.", default="ctxembed-model", metavar="DIR"
)
word = value(
    "--word", "The target, if none is marked with [ ]; N is which of several.", metavar="WORD[:N]"
)
axis = value(
    "--axis axes", "A named direction, the mean of a few words; may be repeated.",
    multiple=True, callback=read_groups, metavar="NAME=WORD,...",
)  # fmt: skip
draw = choice("--draw", ["contribution", "weight"], "What a picture shows of each word.")
where = value(
    "--where", "Only documents for which this holds, such as 'party=Dem and year>=1945'.",
    multiple=True, metavar="CONDITION",
)  # fmt: skip
metadata = together(
    value(
        "--meta", "A table whose first column names the files; .csv, .tsv, .jsonl or .parquet.",
        metavar="TABLE",
    ),
    value("--text-column", "Of a table, the column of the text; a row is a document.",
          metavar="COLUMN"),
    value("--document-tag", "Of XML, the element that is a document; its attributes are columns.",
          metavar="NAME"),
)  # fmt: skip
by = value(
    "--by", "Compare two groups of the documents of one model by their metadata; A..B is a range,"
    " year=1900..1949,1950..1999.",
    metavar="COLUMN=A,B",
)  # fmt: skip
stopwords = value(
    "--stopwords", "A file of function words; default: a list of the language, of 25.",
    metavar="FILE",
)  # fmt: skip
permutations = integer(
    "--permutations",
    "Permutations of the documents for each word; words that they do not settle get up to 100"
    " times as many.",
    max=10**6,
    default=999,
)
cluster = value(
    "--cluster", "Permute and resample together the documents that have one value in COLUMN, such"
    " as an author.", metavar="COLUMN",
)  # fmt: skip
encoder = value(
    "--encoder encoders", "Add vectors of a local Hugging Face model; needs"
    " ctxembed[transformers].", multiple=True, metavar="DIR",
)  # fmt: skip
general = value(
    "--general",
    "Kind of general attention: textbook, scaled or cosine; default cosine, or textbook with"
    " --vectors. cosine:3 sets the temperature to 3 instead of 6.",
    callback=_read_general,
    metavar="KIND[:TEMPERATURE]",
)
force = flag("--force", "Replace an existing model.")
lines = flag("--lines", "Each line is already one sentence.")
language = click.option(
    "--language", default="", metavar="en|de|fr|es|tr|az",
    help="Language of the text: its abbreviations, ordinals and capital letters.",
)  # fmt: skip
document = value(
    "--document",
    "What a document is: a file, a block between blank lines, a line, or a part that begins with"
    " a line that matches REGEX.",
    default="auto",
    metavar="file|block|line|REGEX",
)
errors = choice("--errors", ["strict", "replace"], "What to do with bytes that can't be decoded.")
ranking = together(
    integer("--min-count", "Leave out neighbours that occur fewer times.", default=1),
    flag("--raw", "Rank by cosine alone; by default rare words rank lower."),
)
reading = together(value("--encoding", "Encoding of the file.", default="utf-8"), errors)


def _keep_decoding(context: click.Context, parameter: click.Parameter, text: str) -> None:
    """Store how stdin is decoded, for `cli.command.Lines`."""
    name = str(parameter.name).removeprefix("input_")
    context.meta.setdefault("ctxembed.decoding", {})[name] = text


def _keep_skip_bad(context: click.Context, _: click.Parameter, skip: bool) -> None:
    context.meta["ctxembed.skip_bad"] = skip


def batch(name: str = "--encoding") -> Decorator:
    """Return the options for lines of which each is answered: how their bytes become text."""
    kept: dict[str, Any] = {"expose_value": False, "callback": _keep_decoding}
    kinds = click.Choice(["strict", "replace"])
    help = "What to do with bytes that can't be decoded; strict names the line and leaves it out."
    return together(
        value(f"{name} input_encoding", "Encoding of the lines of -.", default="utf-8", **kept),
        value("--errors", help, type=kinds, default="strict", **kept),
        click.option(
            "--skip-bad",
            is_flag=True,
            expose_value=False,
            callback=_keep_skip_bad,
            help="Exit with 0 if lines have no answer; only their number is printed.",
        ),
    )


text = together(
    choice(
        "--tokenizer",
        ["word", "whitespace"],
        "How text is split into words; whitespace is for tokenized text.",
    ),
    flag("--cased", "Keep capital letters: Apple and apple are two words."),
    reading,
)
corpus = together(lines, text)
source = together(
    value(
        "--vectors",
        "Take vectors from a small TSV or JSON file; not with --model.",
        metavar="FILE",
    ),
    model,
)
occurrences = together(attention(), seed(), model)
layer = together(
    attention(
        "learned, general, random or a name; default learned if the model has it, else general."
    ),
    general,
    integer(
        "--heads", "Number of heads of a general (cosine) or random attention.", max=64, default=4
    ),
    seed(),
)
