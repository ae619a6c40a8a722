"""What a terminal can do: its columns, and 256 colours."""

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


def light_paper() -> bool:
    """Tell whether the terminal says that its background is light."""
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")


def paint(text: str, series: int, colours: bool, share: float | None = None) -> str:
    """Colour a text by its series; with a share from 0 to 1, its background."""
    if not colours or (not text.strip() and share is None):
        return text
    if share is None:
        return f"\x1b[38;5;{SERIES[series % len(SERIES)]}m{text}\x1b[0m"
    level = min(5, round(share * 5.5))
    if level == 0:
        return text
    paper, ink = RAMPS[light_paper()][series][level - 1]
    return f"\x1b[48;5;{paper};38;5;{ink}m{text}\x1b[0m"


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for 中, none for a lone accent.

    >>> cells("bank"), cells("中文"), cells("e\\u0301"), cells("किताब")
    (4, 4, 1, 5)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def fit(text: str, size: int, right: bool = False, end: bool = False) -> str:
    """Cut a text to so many columns, keeping its beginning or its end, or fill it up to them.

    >>> fit("apple", 3), fit("apple", 3, end=True), fit("apple", 7), fit("0.5", 5, right=True)
    ('ap…', '…le', 'apple  ', '  0.5')
    """
    room = size - cells(text)
    if room < 0:
        kept = list(text)
        while kept and room < 1:  # for the dots
            room += _columns(kept.pop(0 if end else -1))
        dots, room = "…"[:size], room - 1
        text = dots + "".join(kept) if end else "".join(kept) + dots
    filling = " " * room
    return filling + text if right else text + filling
