"""Split a sentence for the page: every word as written, and the text between words."""

import re
from collections.abc import Sequence

from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.table import Column, Row, Table
from ctxembed.text.tokenizer import Tokenizer, is_content

WORDS = (
    Column("before", "text before the word: spaces, punctuation", "text"),
    Column("written", "the word as it was written; empty after the last one", "text"),
    Column("word", "the word as the model knows it", "label"),
    Column("known", "1 if the model knows it"),
    Column("content", "1 if it carries content"),
    Column("target", "1 if it was marked"),
    Column("marked", "the sentence with this word as its target", "text"),
    Column("together", "the sentence with this and all content words as targets", "text"),
)
_MARKED = re.compile(r"\[([^\[\]]*\w[^\[\]]*)\]")


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
        flags = (relative is not None, i in carriers, marked)
        rows.append((left, text, word, *map(int, flags), *sentences))
    return Table(WORDS, [*rows, *([(before, "", "", 0, 0, 0, "", "")] if before else [])])


def _rows(model: Model, word: str) -> list[int]:
    """Return the vocabulary rows of a word, or of another form of it."""
    form = model.vocabulary.find_form(word) if not model.vocabulary.parts(word) else None
    return model.vocabulary.parts(word) if form is None else [form]
