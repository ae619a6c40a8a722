"""Text on a picture: what may stand there, about how wide it is, and in which order it runs."""

import re
import unicodedata

SMALL, TEXT, TITLE = 12, 13, 15  # sizes of text
UNSEEN = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFFFE, 0xFFFF)  # turn text around
PLAIN = {**dict.fromkeys(UNSEEN), **dict.fromkeys(map(ord, "\t\n\r\x85\u2028\u2029"), " ")}
LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"  # Hebrew, Arabic and their kin
RUN = re.compile(f"{LEFT}(?:[{LEFT[1:-1]}\u200c\u200d ]*{LEFT})?")  # words of them
MARK = "\u200e"  # left to right; it is not seen


def clean(text: str) -> str:
    """Remove what no page may hold: control characters, and marks that turn text around.

    >>> clean("a\\x00b\\x1b[1m\\n\\u202ec"), clean("می\\u200cخواهم") == "می\\u200cخواهم"
    ('ab[1m c', True)
    """
    return "".join(c for c in text.translate(PLAIN) if unicodedata.category(c) not in ("Cc", "Cs"))


def measure(text: str, size: float = TEXT) -> float:
    """Return about how wide a text is: no font is asked, so that no font changes a picture."""
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


def shorten(text: str, room: float, size: float = TEXT) -> str:
    """Cut a text that is wider than its room.

    >>> shorten("apple", 100), shorten("apples and oranges", 60)
    ('apple', 'apples…')
    """
    if measure(text, size) <= room:
        return text
    while text and measure(f"{text}…", size) > room:
        text = text[:-1].rstrip()
    return f"{text}…"


def fold(text: str, room: float, size: float = TEXT) -> list[str]:
    """Break a text into lines that fit."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measure(longer, size) > room:
            lines.append(shorten(word, room, size))
        else:
            lines[-1] = shorten(longer, room, size)
    return lines if text.strip() else []


def runs_left(text: str) -> bool:
    """Tell whether a text is written from right to left: by most of its letters.

    >>> runs_left("بہت آسان کام"), runs_left("an apple")
    (True, False)
    """
    found = [unicodedata.bidirectional(c) for c in text]
    return sum(kind in ("R", "AL") for kind in found) > found.count("L")


def in_order(text: str) -> str:
    """Keep what stands beside a word that runs left in its place: a number behind it, an arrow.

    Without a mark of direction, سیب ≈ 0.3 is shown as 0.3 ≈ سیب by every viewer.

    >>> in_order("an apple"), in_order("سیب ≈ 0.3") == "\\u200eسیب\\u200e ≈ 0.3"
    ('an apple', True)
    """
    if not RUN.search(text) or RUN.fullmatch(text):
        return text
    return MARK + RUN.sub(rf"\g<0>{MARK}", text)
