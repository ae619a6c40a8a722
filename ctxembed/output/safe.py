"""Make text safe for a terminal: no control characters, no escape sequences."""

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress

# Control characters except newline and tab, DEL, line separators, direction marks.
MAX_MESSAGE = 1000  # characters; a message may name a word or a line that is longer
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    r"""Return text with control characters as escapes; a corpus must not control the terminal.

    >>> safe("\x1b[2Jcafé\t\u202e")
    '\\x1b[2Jcafé\t\\u202e'
    """
    return _CONTROL.sub(
        lambda m: f"\\x{ord(m[0]):02x}" if m[0] <= "\xff" else f"\\u{ord(m[0]):04x}", text
    )


def shorten(text: str) -> str:
    """Return a message without the middle of what is too long to read.

    >>> len(shorten("x" * 1_000_000)), shorten("'apple' is unknown")
    (1000, "'apple' is unknown")
    """
    begin, end = MAX_MESSAGE * 7 // 10, MAX_MESSAGE * 3 // 10 - 3
    return text if len(text) <= MAX_MESSAGE else f"{text[:begin]}...{text[-end:]}"


def say(lines: Iterable[str]) -> None:
    """Write messages to stderr, each of bounded length: on a terminal escaped and wrapped."""
    terminal = sys.stderr.isatty()
    with suppress(OSError):  # a failed message must not stop the command
        for line in lines:
            message = f"ctxembed: {shorten(line)}"
            sys.stderr.write(f"{wrap_message(safe(message)) if terminal else message}\n")
        sys.stderr.flush()


def wrap_message(message: str) -> str:
    """Return a message with line breaks between words, for the width of the terminal on stderr."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        width = 80
    if len(message) <= width:
        return message
    from textwrap import fill

    return fill(
        message, max(width, 20), subsequent_indent="  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def discard_stdout() -> None:
    """Discard what stdout still holds: its reader has ended."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
