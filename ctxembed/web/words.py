"""Split a sentence for the page, and place its words and the arcs between them."""

import re
from collections.abc import Sequence

from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses
from ctxembed.output.letters import measure, runs_left
from ctxembed.output.sentence import arc_above, arc_beside, arc_height, place_across
from ctxembed.output.sheet import short
from ctxembed.table import Column, Row, Table
from ctxembed.text.tokenizer import Tokenizer, is_content

WORDS = (
    Column("before", "text before the word: spaces, punctuation", "text"),
    Column("written", "the word as it was written; empty after the last one", "text"),
    Column("word", "the word as the model knows it", "label"),
    Column("known", "1 if the model knows it"),
    Column("content", "1 if it carries content"),
    Column("target", "1 if it was marked"),
    Column("mapped", "1 if its occurrences or its saved senses can be drawn"),
    Column("marked", "the sentence with this word as its target", "text"),
    Column("together", "the sentence with this and all content words as targets", "text"),
)
_MARKED = re.compile(r"\[([^\[\]]*\w[^\[\]]*)\]")
WIDTHS = (340, 520, 720, 1080, 1480)  # pixels for a sentence: the page takes what fits
SIZES = (24, 21, 18, 16)  # of letters on one line
MIN_BOX = 36  # the width of a word: its number is written below it
SIDE, LINE, BOX = 74, 36, 30  # a word per line: space for arcs, height of line and box
LAYOUT = (
    Column("size", "size of the letters"),
    Column("x", "left side of the word's box, in pixels"),
    Column("y", "upper side of the box"),
    Column("width", "width of the box"),
    Column("height", "height of the box"),
    Column("arc", "SVG path from the target; in the first row the direction of the text", "text"),
)


def read_words(model: Model, sentence: str, gone: Sequence[int] = ()) -> Table:
    """Return a row for each word of a sentence; text in brackets is one word and a target.

    gone: indices of words that are left out of the sentences in `marked` and `together`.
    """
    tokenizer = model.vocabulary.tokenizer
    if tokenizer.unit != "word":
        tokenizer = Tokenizer(cased=tokenizer.cased)
    frequency = Representations.of(model).frequency
    parts: list[tuple[str, str, str, float | None, bool]] = []
    before = ""
    for i, text in enumerate(_MARKED.split(sentence)):  # what is marked is at each odd index
        text = text if i % 2 else re.sub(r"[\[\]]", "", text)
        tokens = list(tokenizer.tokens(text))
        if i % 2 and tokens:
            tokens = [(" ".join(word for word, _, _ in tokens), tokens[0][1], tokens[-1][2])]
        done = 0
        for word, start, end in tokens:
            known = [row for part in word.split() for row in _rows(model, part)]
            relative = float(frequency[known[0]]) if known else None
            parts.append((before + text[done:start], text[start:end], word, relative, i % 2 == 1))
            before, done = "", end
        before += text[done:]

    def content_words(counted: int) -> list[int]:
        return [
            i
            for i, (_, _, word, relative, _) in enumerate(parts)
            if relative is not None and (" " in word or is_content(word, relative * counted))
        ]

    # In a small corpus every word is frequent: then use the word list only.
    carriers = content_words(1) or content_words(0)

    def mark_targets(*targets: int) -> str:
        kept = [(i, *part[:2]) for i, part in enumerate(parts) if i not in gone]
        words = [f"[{text}]" if i in targets else text for i, _, text in kept]
        gaps = ["", *(left or " " for _, left, _ in kept[1:])]
        return "".join(gap + word for gap, word in zip(gaps, words, strict=False))

    rows: list[Row] = []
    for i, (left, text, word, relative, marked) in enumerate(parts):
        answers = relative is not None and i not in gone
        sentences = [mark_targets(i), mark_targets(i, *carriers)] if answers else ["", ""]
        mapped = relative is not None and (model.index is not None or word in open_senses(model))
        flags = (relative is not None, i in carriers, marked, mapped)
        rows.append((left, text, word, *map(int, flags), *sentences))
    return Table(WORDS, [*rows, *([(before, "", "", 0, 0, 0, 0, "", "")] if before else [])])


def _rows(model: Model, word: str) -> list[int]:
    """Return the vocabulary rows of a word, or of another form of it."""
    form = model.vocabulary.find_form(word) if not model.vocabulary.parts(word) else None
    return model.vocabulary.parts(word) if form is None else [form]


def lay_out(
    model: Model, sentence: str, target: int | None = None, width: int = WIDTHS[-2],
    over: str | None = None,
) -> Table:  # fmt: skip
    """Return a row for the whole drawing, then for each word; with over, for each of its words.

    width: one of WIDTHS, the most that the drawing may take.
    """
    parts = [(str(row[0]), str(row[1])) for row in read_words(model, sentence).rows]
    words, tails = [word for _, word in parts if word], [left.strip() for left, _ in parts[1:]]
    turned = runs_left(" ".join(words))
    target = target if target in range(len(words)) else None
    if over is not None:
        others = [str(row[1]) for row in read_words(model, over).rows if row[1]]
        return Table(LAYOUT, _place_in_two_columns(words, others, target, min(width, 640), turned))
    across = _place_on_one_line(words, tails, target, width, turned)
    return Table(LAYOUT, across or _place_in_lines(words, target, width, turned))


def _box_widths(words: Sequence[str], size: int) -> list[float]:
    return [max(MIN_BOX, measure(word, size) * 1.06 + 14) for word in words]


def _place_on_one_line(
    words: Sequence[str], tails: Sequence[str], target: int | None, width: float, turned: bool
) -> list[Row]:
    """Place words on one line in the largest letters that fit, arcs above; [] if none fit."""
    for size in SIZES:
        sizes = _box_widths(words, size)
        gaps = [measure(tail, size) + size / 2.5 for tail in (*tails, "")[: len(words)]]
        if (total := sum(sizes) + sum(gaps)) <= width:
            break
    else:
        return []
    middles = place_across(sizes, gaps, 0, total, turned=turned)
    top = max(40.0, arc_height(total)) + 8
    arcs = [arc_above(middles[target], x, top) if target is not None else "" for x in middles]
    whole: Row = (size, 0, 0, total, top + LINE, "rtl" if turned else "ltr")
    boxes = zip(middles, sizes, arcs, strict=True)
    return [whole, *((size, x - wide / 2, top, wide, LINE, arc) for x, wide, arc in boxes)]


def _place_in_lines(
    words: Sequence[str], target: int | None, width: float, turned: bool
) -> list[Row]:
    """Place one word per line, arcs at the side."""
    width = min(width, 560)
    rows: list[Row] = [(18, 0, 0, width, LINE * len(words) + 8, "rtl" if turned else "ltr")]
    for i, wide in enumerate(_box_widths(words, 18)):
        wide, y, arc = min(wide, width - SIDE - 120), 4.0 + LINE * i, ""
        if target is not None and i != target:
            reach = SIDE * min(0.9, abs(i - target) / max(1, len(words) - 1) + 0.25)
            start, end = 4 + LINE * target + BOX / 2, y + BOX / 2
            arc = arc_beside(width - SIDE if turned else SIDE, start, end, reach, right=turned)
        rows.append((18, width - SIDE - wide if turned else SIDE, y, wide, BOX, arc))
    return rows


def _place_in_two_columns(
    words: Sequence[str], others: Sequence[str], target: int | None, width: float, turned: bool
) -> list[Row]:
    """Place two sequences side by side, arcs from the target to each word of the other."""
    sizes = [[min(w, width * 0.34) for w in _box_widths(some, 18)] for some in (words, others)]
    left, right = (max(some, default=0.0) for some in sizes)
    end = width - 126 - right  # where arcs end
    height = LINE * max(len(words), len(others)) + 8
    rows: list[Row] = [(18, 0, 0, width, height, "rtl" if turned else "ltr")]
    starts = [(height - LINE * len(some)) / 2 + 3 for some in (words, others)]

    def box(x: float, y: float, wide: float, arc: str) -> Row:
        return (18, width - x - wide if turned else x, y, wide, BOX, arc)

    rows += [box(left - wide, starts[0] + LINE * i, wide, "") for i, wide in enumerate(sizes[0])]
    a, b = (width - left, width - end) if turned else (left, end)
    for i, wide in enumerate(sizes[1]):
        y, arc = starts[1] + LINE * i, ""
        if target is not None:
            from_, to, middle = starts[0] + LINE * target + BOX / 2, y + BOX / 2, (a + b) / 2
            points = [(a, from_), (middle, from_), (middle, to), (b, to)]
            start, *bend = [f"{short(x)} {short(y)}" for x, y in points]
            arc = f"M{start}C{' '.join(bend)}"
        rows.append(box(end, y, wide, arc))
    return rows
