"""The man pages, made from the commands themselves: python -m ctxembed.cli.man man"""

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

import click

from ctxembed import __version__
from ctxembed.cli.command import Command, read_help
from ctxembed.cli.groups import COMMANDS, GROUPS
from ctxembed.cli.main import cli, load_command

DATE = "2026-11-18"  # of the pages' wording; today's date would make each build differ

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
    texts = {"ctxembed.1": _main_page()}
    for name in COMMANDS:
        texts[f"ctxembed-{name}.1"] = _command_page(load_command(name))
    return texts


def _command_page(command: Command) -> str:
    context = click.Context(command, **command.context_settings)
    usage = " ".join(command.collect_usage_pieces(context)).replace("[OPTIONS]", "[OPTION]...")
    usage = re.sub(r"[\w-]+", lambda match: rf"\fI{_escape(match[0])}\fR", usage)
    lines = _begin(f"ctxembed {command.name}", usage, command)
    lines += [*_paragraphs(command.sections.get("Details", "")), ".SH OPTIONS"]
    for group, records in command.option_groups(context).items():
        lines += [f".SS {group}"] if group != "Options" else []
        lines += _definitions(records)
    lines.append(".SH OUTPUT")
    lines += _paragraphs(command.sections.get("Output", ""))
    for option, columns in command.columns.items():
        intro = f"With {option}:" if option else "A table on standard output, with these columns:"
        lines += _paragraphs(intro)
        lines += _definitions((column.name, column.meaning) for column in columns)
    if command.picture:
        intro = "Its picture, --output FILE.svg (.png .pdf .html) or --format svg or chart:"
        lines += _paragraphs(f"{intro} {command.picture}.")
    see_also = [f"ctxembed-{name}" for name in command.sections["See also"].split(", ")]
    return _end(lines, command.examples, ["ctxembed", *see_also])


def _main_page() -> str:
    usage = r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIARGUMENT\fR]..."
    lines = [*_begin("ctxembed", usage, cli), ".SH COMMANDS"]
    for group, commands in GROUPS.items():
        lines += [f".SS {_escape(group)}", *_definitions(commands.items())]
    context = click.Context(cli, **cli.context_settings)
    records = [parameter.get_help_record(context) for parameter in cli.get_params(context)]
    lines += [".SH OPTIONS", *_definitions(record for record in records if record), ".SH OUTPUT"]
    lines += _paragraphs(read_help("ctxembed")["Output"])
    examples = [load_command(name).examples[0] for name in ("demo", "explore", "compare")]
    return _end(lines, examples, [f"ctxembed-{name}" for name in COMMANDS])


def _begin(path: str, usage: str, command: click.Command) -> list[str]:
    """Return the lines of NAME, SYNOPSIS and DESCRIPTION, which begin every man page."""
    name, short = _escape(path.replace(" ", "-")), command.get_short_help_str(300).removesuffix(".")
    return [
        f'.TH {name.upper()} 1 {DATE} "ctxembed {__version__}" "ctxembed manual"',
        *(".SH NAME", rf"{name} \- {_escape(short[:1].lower() + short[1:])}"),
        *(".SH SYNOPSIS", _bold(path), usage),
        *(".SH DESCRIPTION", *_paragraphs(getattr(command, "description", command.help or ""))),
    ]


def _end(lines: list[str], examples: Sequence[tuple[str, str]], see_also: list[str]) -> str:
    """Return the text of a man page: these lines and the sections that end every page."""
    common = read_help("ctxembed")
    for head in ("Exit status", "Environment", "Files"):
        items = re.sub(r"\n\s+", " ", common[head]).splitlines()
        split = (item.partition(": ") for item in items)
        lines += [f".SH {head.upper()}", *_definitions((term, text) for term, _, text in split)]
    lines.append(".SH EXAMPLES")
    for meaning, line in examples:
        lines += [*_paragraphs(f"{meaning.rstrip('?.')}:"), *_verbatim([line])]
    *others, last = (f"{_bold(name)}(1)" for name in see_also)
    lines += [".SH SEE ALSO", *(f"{link}," for link in others), last]
    # A section needs no .PP at its start.
    kept = [b for a, b in pairwise(lines) if not (b == ".PP" and a.startswith((".SH", ".SS")))]
    return "\n".join([lines[0], *kept]) + "\n"


def _definitions(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in items:
        yield from (".TP", _bold(term), *_filled(meaning))


def _paragraphs(text: str) -> Iterator[str]:
    """Set plain paragraphs; one that is indented, or under click's \\b, keeps its line breaks."""
    for paragraph in re.split(r"\n\s*\n", cleandoc(text)):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if lines and lines[0] == "\b":
            yield from _verbatim(lines[1:])
        elif lines and all(line.startswith("  ") for line in lines):
            yield from _verbatim([line[2:] for line in lines])
        elif lines:
            yield from (".PP", *_filled(" ".join(lines)))


def _verbatim(lines: list[str]) -> Iterator[str]:
    yield from (".PP", ".RS 4", ".EX", *map(_line, lines), ".EE", ".RE")


def _filled(text: str) -> Iterator[str]:
    return map(_line, textwrap.wrap(text, 80, break_long_words=False, break_on_hyphens=False))


def _line(text: str) -> str:
    return rf"\&{_escape(text)}" if text.startswith(".") else _escape(text)


def _bold(text: str) -> str:
    return rf"\fB{_escape(text)}\fR"


def _escape(text: str) -> str:
    """Write text so that troff prints just that: no ligatures, no typographic quotes."""
    return text.translate(_ESCAPES)


if __name__ == "__main__":
    write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "man"))
