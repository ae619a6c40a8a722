"""The help of a command on one screen; `ctxembed help COMMAND` and the man page have the rest."""

import math
import re
from collections.abc import Sequence

import click

LINES, WIDTH = 23, 80  # of a small terminal, with a line left for the prompt
SHORT = {  # long ones of many commands: said once, in the topics of `ctxembed help`
    "--model": "Model to use; see: ctxembed help models",
    "--format": "tsv, csv, json, svg ...; see: ctxembed help formats",
    "--output": "Write the table or a picture to a file",
}
LONG = 60  # letters; what is shorter says itself
METAVARS = {"--format": "FORMAT"}  # its values are too many for a line
Lines = list[str]


def write_screen(
    context: click.Context,
    description: str,
    examples: Sequence[tuple[str, str]],
    advanced: set[str],
) -> str:
    """Return usage, purpose, options and an example of a command in at most LINES lines.

    Options that do not fit, and `advanced` ones, are named without their meaning.
    """
    command = context.command
    first, *others = re.split(r"\n\s*\n", description)
    head = [*_text(command.get_usage(context), ""), "", *_text(first)]
    (meaning, line), *more = examples
    example = ["", *_text(f"Example: {meaning[:1].lower()}{meaning[1:]}", ""), f"  {line}"]
    foot = ["", f"All options, columns and examples: ctxembed help {command.name}"]
    room = LINES - sum(map(_height, (head, example, foot)))
    common, rare = _options(context, advanced)
    shown = len(common)
    if _height(_list_options(common, shown, rare)) > room:  # model and file are chosen most often
        common.sort(key=lambda option: not option[0].startswith(("-m,", "-o,")))
    while shown and _height(_list_options(common, shown, rare)) > room:
        shown -= 1
    options = _list_options(common, shown, rare)
    room -= _height(options)
    for paragraph in others:
        lines = ["", *_text(paragraph)]
        if "\b" in paragraph or _height(lines) > room:
            break
        head += lines
        room -= _height(lines)
    for meaning, line in more:
        if _height([meaning, line]) > room:
            break
        example += [f"  # {meaning}", f"  {line}"]
        room -= _height([meaning, line])
    return "\n".join([*head, *options, *example, *foot])


def _options(context: click.Context, advanced: set[str]) -> tuple[list[tuple[str, str]], Lines]:
    """Return the common options with their meaning, and the names of the advanced ones."""
    common, rare = [], []
    for parameter in context.command.params:
        if not isinstance(parameter, click.Option) or parameter.hidden:
            continue
        name = parameter.opts[-1]
        if not advanced.isdisjoint(parameter.opts):
            rare.append(name)
            continue
        metavar = METAVARS.get(name) or parameter.make_metavar(context)
        if parameter.is_flag:
            metavar = ""
        term = f"{', '.join(parameter.opts)} {metavar}".rstrip()
        meaning = (parameter.help or "").removesuffix(".")
        common.append((term, SHORT.get(name, meaning) if len(meaning) > LONG else meaning))
    return common, rare


def _list_options(common: list[tuple[str, str]], shown: int, rare: Lines) -> Lines:
    """Return the first options with their meaning, and the names of all others."""
    some = common[:shown]
    width = max((len(term) for term, _ in some if len(term) <= 26), default=0) + 2
    lines = ["", "Options:"]
    for term, meaning in some:
        if len(term) + 2 > width:
            lines.append(f"  {term}")
            term = ""
        short, *clauses = re.split(r"(?<=[;.])\s", meaning)
        for clause in clauses:
            if width + 2 + len(f"{short} {clause}") > WIDTH:
                break
            short = f"{short} {clause}"
        lines += _text(short.rstrip(";."), f"  {term:{width}}", " " * (width + 2))
    names = [re.split(", | ", term)[", --" in term] for term, _ in common[shown:]]
    return [*lines, *_text(" ".join([*names, *rare]), "  More: ", "        ")]


def _text(text: str, first: str = "  ", other: str = "  ") -> Lines:
    """Return text as lines that fit the width."""
    from textwrap import wrap

    return wrap(
        " ".join(text.split()), WIDTH, initial_indent=first, subsequent_indent=other,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _height(lines: Lines) -> int:
    """Return the number of lines on a terminal, where a long line takes several."""
    return sum(max(1, math.ceil(len(line) / WIDTH)) for line in lines)
