"""Text on a picture: clean it, measure it, shorten it, keep its direction."""

import re
import unicodedata
from functools import lru_cache

SMALL, TEXT, TITLE = 12, 13, 15  # sizes of text
UNSEEN = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFFFE, 0xFFFF)  # change direction
PLAIN = {**dict.fromkeys(UNSEEN), **dict.fromkeys(map(ord, "\t\n\r\x85\u2028\u2029"), " ")}
LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"  # Hebrew, Arabic and related scripts
RUN = re.compile(f"{LEFT}(?:[{LEFT[1:-1]}\u200c\u200d ]*{LEFT})?")  # words in these scripts
MARK = "\u200e"  # left to right; invisible


@lru_cache(8192)
def clean(text: str) -> str:
    """Return text without control characters and without marks that change its direction.

    >>> clean("a\\x00b\\x1b[1m\\n\\u202ec"), clean("می\\u200cخواهم") == "می\\u200cخواهم"
    ('ab[1m c', True)
    """
    return "".join(c for c in text.translate(PLAIN) if unicodedata.category(c) not in ("Cc", "Cs"))


@lru_cache(8192)
def measure(text: str, size: float = TEXT) -> float:
    """Return the approximate width of a text; independent of installed fonts."""
    wide = 0.0
    for c in text:
        if unicodedata.combining(c):
            continue
        if unicodedata.east_asian_width(c) in "WF":
            wide += 1.05
        elif c in "iljtfI.,:;'|![]() ":
            wide += 0.34
        elif c in "mwMW@%…—":
            wide += 0.92
        else:
            wide += 0.7 if c.isupper() else 0.57
    return wide * size


def shorten(text: str, width: float, size: float = TEXT) -> str:
    """Return a text cut to a width in pixels.

    >>> shorten("apple", 100), shorten("apples and oranges", 60)
    ('apple', 'apples…')
    """
    if measure(text, size) <= width:
        return text
    while text and measure(f"{text}…", size) > width:
        text = text[:-1].rstrip()
    return f"{text}…"


def wrap_text(text: str, width: float, size: float = TEXT) -> list[str]:
    """Return a text as lines of at most `width` pixels."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measure(longer, size) > width:
            lines.append(shorten(word, width, size))
        else:
            lines[-1] = shorten(longer, width, size)
    return lines if text.strip() else []


def runs_left(text: str) -> bool:
    """Return True if most letters of a text are written from right to left.

    >>> runs_left("بہت آسان کام"), runs_left("an apple")
    (True, False)
    """
    directions = [unicodedata.bidirectional(c) for c in text]
    return sum(kind in ("R", "AL") for kind in directions) > directions.count("L")


def mark_directions(text: str) -> str:
    """Return text with direction marks, so that numbers stay after a right-to-left word.

    Without a mark of direction, سیب ≈ 0.3 is shown as 0.3 ≈ سیب by every viewer.

    >>> mark_directions("an apple"), mark_directions("سیب ≈ 0.3") == "\\u200eسیب\\u200e ≈ 0.3"
    ('an apple', True)
    """
    if not RUN.search(text) or RUN.fullmatch(text):
        return text
    return MARK + RUN.sub(rf"\g<0>{MARK}", text)
