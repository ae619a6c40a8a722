"""The one place where texts and names given on the command line are looked at."""

import os
from collections.abc import Iterator
from typing import Any

import click

from ctxembed.errors import UsageError

# Parameters that name files and folders; their names may be any bytes, all else is text.
NAMES = {
    "corpora", "corpus", "encoder", "encoders", "file", "file_", "model", "model_a", "model_b",
    "output", "task", "text", "train", "vectors", "vocabulary", "weights",
}  # fmt: skip
WRITTEN = {"file_", "output"}  # what is written to, not read


def check_given(command: click.Command, given: dict[str, Any]) -> None:
    """Refuse text that is no UTF-8, a NUL, and stdin asked for twice."""
    stdin = 0
    for param in command.params:
        name = param.name or ""
        for text in _texts(given.get(name)):
            if "\0" in text:
                raise UsageError(f"{param.get_error_hint(None)}: a NUL character")
            if name not in NAMES and text != text.encode("utf-8", "ignore").decode():
                raise UsageError(f"{os.fsencode(text)!r} is not UTF-8; give text in UTF-8")
            stdin += text == "-" and name not in WRITTEN and command.name != "export"
    if stdin > 1:
        raise UsageError("- is given twice, but stdin can be read once")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.items():
            yield from _texts(item)
