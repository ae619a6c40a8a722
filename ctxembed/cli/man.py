"""The man pages, made from the commands themselves: python -m ctxembed.cli.man man"""

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

import click

from ctxembed import __version__
from ctxembed.cli.command import Command
from ctxembed.cli.main import COMMANDS, cli, load_command
from ctxembed.output.render import FORMATS

DATE = "2026-11-16"  # of the pages' wording; today's date would make each build differ

EXIT_STATUS = {
    "0": "All is well; also when the reader of a pipe has gone, as with | head.",
    "1": "A failure, such as a full disk.",
    "2": "Wrong usage: an option, an argument, an output that exists.",
    "3": "A model that is missing, damaged or too new.",
    "4": "A word that is not in the vocabulary; the words that are there have been answered.",
    "5": "A corpus that cannot be read or used.",
    "130": "Interrupted by Ctrl-C.",
}
ENVIRONMENT = {
    "CTXEMBED_MODEL": "The model directory, or the name of a bundled model, unless --model"
    " names another.",
    "COLUMNS": "Width of a table on a terminal, instead of the terminal's own.",
    "NO_COLOR": "If set, a terminal shows no colours and no bold header, unless --color always.",
    "COLORFGBG": "If it ends in 7 or 15, the terminal's background is light, and so are shades.",
}
FILES = {
    "ctxembed-model/": "The model that train writes and that is used where none is named."
    " Without one english answers: vectors and attention from Wikipedia, bundled; everyday is the"
    " other bundled model, small and with its corpus.",
    "model.json": "In a model: its format, versions, parameters, corpus and tokeniser.",
    "vocab.txt, counts.npy, vectors.npy, mean.npy, output.npy": "In a model: its words, how often"
    " each occurs, their vectors and the mean of these, and word2vec's output vectors.",
    "frames.npy": "In a model: which frequent words stand directly before and behind each word.",
    "index/": "In a model: the corpus as word numbers, and where each word occurs.",
    "attention/NAME/": "In a model: an attention that was learned.",
}

_ESCAPES = str.maketrans(
    {"\\": r"\e", "-": r"\-", "'": r"\(aq", '"': r"\(dq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
)


def write_pages(folder: Path) -> None:
    """Write ctxembed.1 and a page for each command."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def pages() -> dict[str, str]:
    """Return the text of every page by the name of its file."""
    made = {"ctxembed.1": _main_page()}
    for name in COMMANDS:
        made[f"ctxembed-{name}.1"] = _command_page(load_command(name))
    return made


def _command_page(command: Command) -> str:
    context = click.Context(command, **command.context_settings)
    usage = " ".join(command.collect_usage_pieces(context)).replace("[OPTIONS]", "[OPTION]...")
    usage = re.sub(r"[\w-]+", lambda match: rf"\fI{_escape(match[0])}\fR", usage)
    lines = [*_begin(f"ctxembed {command.name}", usage, command), *_paragraphs(command.details)]
    lines += [".SH OPTIONS", *_options(command), ".SH OUTPUT"]
    if command.columns:
        lines += _paragraphs("A table on standard output, with these columns:")
        lines += _definitions({column.name: column.meaning for column in command.columns})
    else:
        lines += _paragraphs(command.output)
    if command.picture:
        told = "Its picture, --output FILE.svg (.png .pdf .html) or --format svg or chart:"
        lines += _paragraphs(f"{told} {command.picture}.")
    return _end(lines, command.examples, ["ctxembed", *(f"ctxembed-{n}" for n in command.see_also)])


def _main_page() -> str:
    usage = r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIARGUMENT\fR]..."
    lines = [*_begin("ctxembed", usage, cli), ".SH COMMANDS"]
    lines += _definitions({n: load_command(n).get_short_help_str(300) for n in COMMANDS})
    lines += [".SH OPTIONS", *_options(cli), ".SH OUTPUT"]
    *others, last = (name for name in FORMATS if name not in ("table", "tsv"))
    lines += _paragraphs(
        "Every answer is one table on standard output; notes, progress and errors go to standard"
        " error. On a terminal it is aligned, in a pipe it is tab-separated with a line of column"
        f" names; --format asks for {', '.join(others)} or {last}. Each command's page lists its"
        " columns, and says what it draws, if anything: --output FILE.svg or .html writes that"
        " picture, .png and .pdf too where ctxembed[pictures] is installed; --format svg prints"
        " it, --format chart draws it on the terminal."
    )
    examples = [load_command(name).examples[0] for name in ("train", "show")]
    return _end(lines, examples, [f"ctxembed-{name}" for name in COMMANDS])


def _begin(path: str, usage: str, command: click.Command) -> list[str]:
    """Make the sections that begin every page."""
    name, short = _escape(path.replace(" ", "-")), command.get_short_help_str(300).removesuffix(".")
    return [
        f'.TH {name.upper()} 1 {DATE} "ctxembed {__version__}" "ctxembed manual"',
        *(".SH NAME", rf"{name} \- {_escape(short[:1].lower() + short[1:])}"),
        *(".SH SYNOPSIS", _bold(path), usage),
        *(".SH DESCRIPTION", *_paragraphs(command.help or "")),
    ]


def _end(lines: list[str], examples: Sequence[tuple[str, str]], see_also: list[str]) -> str:
    """Add the sections that end every page."""
    lines += [".SH EXIT STATUS", *_definitions(EXIT_STATUS)]
    lines += [".SH ENVIRONMENT", *_definitions(ENVIRONMENT), ".SH FILES", *_definitions(FILES)]
    lines.append(".SH EXAMPLES")
    for meaning, line in examples:
        lines += [*_paragraphs(f"{meaning}:"), *_verbatim([line])]
    *others, last = (f"{_bold(name)}(1)" for name in see_also)
    lines += [".SH SEE ALSO", *(f"{link}," for link in others), last]
    kept = [lines[0]]
    for before, line in pairwise(lines):
        if not (line == ".PP" and before.startswith(".SH")):  # a section begins a paragraph itself
            kept.append(line)
    return "\n".join(kept) + "\n"


def _options(command: click.Command) -> Iterator[str]:
    context = click.Context(command, **command.context_settings)
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            yield from _definitions({record[0]: record[1]})


def _definitions(items: dict[str, str]) -> Iterator[str]:
    for term, meaning in items.items():
        yield from (".TP", _bold(term), *_filled(meaning))


def _paragraphs(text: str) -> Iterator[str]:
    """Set plain paragraphs; one that is indented, or under click's \\b, keeps its line breaks."""
    for paragraph in re.split(r"\n\s*\n", cleandoc(text)):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if not lines:
            continue
        if lines[0] == "\b":
            yield from _verbatim(lines[1:])
        elif all(line.startswith("  ") for line in lines):
            yield from _verbatim([line[2:] for line in lines])
        else:
            yield from (".PP", *_filled(" ".join(lines)))


def _verbatim(lines: list[str]) -> Iterator[str]:
    yield from (".PP", ".RS 4", ".EX", *map(_line, lines), ".EE", ".RE")


def _filled(text: str) -> list[str]:
    return [
        _line(line)
        for line in textwrap.wrap(text, 80, break_long_words=False, break_on_hyphens=False)
    ]


def _bold(text: str) -> str:
    return rf"\fB{_escape(text)}\fR"


def _line(text: str) -> str:
    escaped = _escape(text)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


def _escape(text: str) -> str:
    """Write text so that troff prints just that: no ligatures, no typographic quotes."""
    return text.translate(_ESCAPES)


if __name__ == "__main__":
    write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "man"))
