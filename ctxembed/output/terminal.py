"""Terminal output: column widths and 256 colours."""

import os
import unicodedata

# Colours of the 256 that terminals have: those of a sheet's series, and two ramps of blue and of
# red, each from the paper to the strongest; on dark paper the strongest is the lightest.
SERIES = (32, 166, 36, 175, 178, 117, 245)
RAMPS = {
    False: (((17, 15), (18, 15), (25, 15), (32, 15), (39, 16)),
            ((52, 15), (88, 15), (124, 15), (166, 15), (208, 16))),
    True: (((195, 16), (153, 16), (111, 16), (69, 16), (27, 15)),
           ((224, 16), (217, 16), (209, 16), (203, 16), (160, 15))),
}  # fmt: skip


def paint(text: str, series: int, colours: bool, fraction: float | None = None) -> str:
    """Return a text coloured by its series; with a fraction from 0 to 1, its background."""
    if not colours or (not text.strip() and fraction is None):
        return text
    if fraction is None:
        return f"\x1b[38;5;{SERIES[series % len(SERIES)]}m{text}\x1b[0m"
    level = min(5, round(fraction * 5.5))
    if level == 0:
        return text
    light = os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    paper, ink = RAMPS[light][series][level - 1]
    return f"\x1b[48;5;{paper};38;5;{ink}m{text}\x1b[0m"


def display_width(text: str) -> int:
    """Return the width of a text in terminal columns: 2 for 中, 0 for a combining accent.

    >>> [display_width(word) for word in ("bank", "中文", "e\\u0301", "किताब")]
    [4, 4, 1, 5]
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def fit(text: str, size: int, right: bool = False, end: bool = False) -> str:
    """Return a text cut or padded to `size` columns; its beginning is kept or (with end) its end.

    >>> fit("apple", 3), fit("apple", 3, end=True), fit("apple", 7), fit("0.5", 5, right=True)
    ('ap…', '…le', 'apple  ', '  0.5')
    """
    free = size - display_width(text)
    if free < 0:
        kept = list(text)
        while kept and free < 1:  # leave a column for the ellipsis
            free += _columns(kept.pop(0 if end else -1))
        dots, free = "…"[:size], free - 1
        text = dots + "".join(kept) if end else "".join(kept) + dots
    padding = " " * free
    return padding + text if right else text + padding
