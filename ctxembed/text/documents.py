"""Where one document ends and the next begins: files, blank lines, lines, or what a line says."""

import re

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import UsageError

FILE, BLOCK, LINE = 1, 2, 4  # what begins with a sentence, as bits
KINDS = {"file": FILE, "block": BLOCK, "line": LINE}
ENOUGH = 20  # documents, below which a smaller kind is taken
_MAY_BE_BLANK = np.array([code > 127 or chr(code).isspace() for code in range(256)])


def check_kind(kind: str) -> str | None:
    """Return the pattern of a line that begins a document, or None for one of our own kinds."""
    if kind == "auto" or kind in KINDS:
        return None
    try:
        re.compile(kind.encode())
    except re.error as error:
        raise UsageError(
            f"--document {kind!r}: {error}; give auto, file, block, line, or a regular expression"
            " for the first line of a document"
        ) from None
    return kind


def choose(kind: str, files: int, blocks: int) -> str:
    """Say what a document is where it was left open: the largest of which there are enough.

    >>> choose("auto", 1, 300), choose("auto", 40, 300), choose("auto", 1, 1), choose("file", 1, 1)
    ('block', 'file', 'line', 'file')
    """
    if kind != "auto":
        return kind
    return "file" if files >= ENOUGH else "block" if blocks >= ENOUGH else "line"


def find_blank_lines(data: bytes, breaks: NDArray[np.int64]) -> NDArray[np.int64]:
    """List where blank lines begin, given where lines end; the first line may be one.

    >>> text = b"\\none\\ntwo\\n \\nthree\\n"
    >>> find_blank_lines(text, np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\\n"))).tolist()
    [0, 9]
    """
    begins = np.append(0, breaks[:-1] + 1)[: len(breaks)]
    empty = begins == breaks
    letters = np.frombuffer(data, np.uint8)
    spaces = _MAY_BE_BLANK[letters[begins]] & _MAY_BE_BLANK[letters[breaks - 1]] & ~empty
    for row in np.flatnonzero(spaces).tolist():
        empty[row] = data[begins[row] : breaks[row]].decode("utf-8", "replace").isspace()
    return np.asarray(begins[empty])


def find_borders(data: bytes, pattern: str) -> NDArray[np.int64]:
    """List where lines begin that a pattern matches from their first letter on.

    >>> find_borders(b"# one\\ntext # no\\n# two\\n", "# ").tolist()
    [0, 16]
    """
    found = re.compile(b"^(?:" + pattern.encode() + b")", re.MULTILINE).finditer(data)
    return np.array([match.start() for match in found], np.int64)
