"""ctxembed help: the list of commands, a whole page of one, or a topic; and `ctxembed` alone."""

import re
import textwrap
from collections.abc import Iterator
from typing import Any, cast

import click

from ctxembed.cli.command import Command, read_help
from ctxembed.cli.groups import COMMANDS, GROUPS
from ctxembed.cli.screen import WIDTH
from ctxembed.errors import UsageError

TOPICS = {  # the file of help/ and its section
    "formats": ("ctxembed", "Output"),
    "models": ("topics", "Models"),
    "exit-codes": ("ctxembed", "Exit status"),
    "axes": ("topics", "Axes"),
    "targets": ("topics", "Targets"),
    "environment": ("ctxembed", "Environment"),
    "files": ("ctxembed", "Files"),
}


@click.command("help", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("topic", required=False)
@click.pass_context
def command_(context: click.Context, topic: str | None) -> None:
    """Explain a command or a topic; without one, list all commands."""
    parent = context.find_root()
    if topic is None or topic == "help":
        click.echo_via_pager(cast(Any, parent.command).whole_help(parent))
    elif topic in COMMANDS:
        command = cast(click.Group, parent.command).get_command(parent, topic)
        assert isinstance(command, Command)
        own = click.Context(command, parent, topic, **command.context_settings)
        click.echo_via_pager(command.whole_help(own))
    elif topic in TOPICS:
        click.echo("\n".join(write_topic(topic)))
    else:
        from difflib import get_close_matches

        close = get_close_matches(topic, [*TOPICS, *COMMANDS], n=1)
        hint = f"Did you mean {close[0]}?" if close else f"Topics: {', '.join(TOPICS)}."
        raise UsageError(f"no command or topic {topic[:60]!r}. {hint}")


def write_topic(topic: str) -> Iterator[str]:
    """Yield the lines of a topic."""
    file, section = TOPICS[topic]
    text = read_help(file)[section]
    if has_terms(text):
        text = re.sub(r"\n\s+", " ", text)
        for line in text.splitlines():
            yield from _wrap(line, other="    ")
        return
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text)):
        yield from [""] if number else []
        lines = paragraph.splitlines()
        indented = all(line.startswith("  ") for line in lines)
        yield from lines if indented else _wrap(" ".join(lines))


def has_terms(text: str) -> bool:
    """Return whether a text is a list of terms, each with its meaning."""
    return bool(re.match(r"[\w-]+/?: ", text))


def write_overview() -> Iterator[str]:
    """Yield what `ctxembed` alone prints: where to begin, and the names of all commands."""
    yield from ("What does this word mean here? Static and contextual word vectors.", "")
    beginning, *_ = GROUPS.values()
    others = [*GROUPS.items()][1:]
    for name, summary in beginning.items():
        short = re.split(r", each|, or |, with|:", summary)[0]
        line = f"{short[:1].lower()}{short[1:]}"
        yield from _wrap(line, f"  ctxembed {name:9}", " " * 20)
    yield from ("", 'Try: ctxembed compare "She put her money in the [bank]"', "")
    for group, commands in others:
        yield from _wrap(" ".join(commands), f"{group:24}", " " * 24)
    yield from ("", "ctxembed COMMAND --help  a command on one screen")
    yield "ctxembed help COMMAND    all of it; without COMMAND, a list of all commands"
    yield from _wrap(", ".join(TOPICS), "ctxembed help TOPIC      ", " " * 25)
    yield "ctxembed --version       the version"


def _wrap(text: str, first: str = "", other: str = "") -> list[str]:
    """Return text as lines that fit the width and break between words only."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=other,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
