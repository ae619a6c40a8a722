"""Text that is safe to show on a terminal: nothing in it moves the cursor or changes the screen."""

import re
import sys
from collections.abc import Iterable
from contextlib import suppress

# Controls but the end of a line and the tab; DEL; line and paragraph ends; changes of direction.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    r"""Show control characters as escapes; a corpus must not rewrite its reader's screen.

    >>> safe("\x1b[2Jcafé\t\u202e")
    '\\x1b[2Jcafé\t\\u202e'
    """
    return _CONTROL.sub(_escape, text)


def _escape(found: "re.Match[str]") -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def say(lines: Iterable[str]) -> None:
    """Write messages to stderr: a terminal gets them safe, a pipe or file as they are."""
    terminal = sys.stderr.isatty()
    with suppress(OSError):  # a full disk takes no message; the answer and the code go on
        for line in lines:
            sys.stderr.write(f"ctxembed: {safe(line) if terminal else line}\n")
        sys.stderr.flush()
