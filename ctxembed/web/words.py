"""A sentence as the page shows it: every word as it was written, and what lies between."""

import re
from collections.abc import Iterator

from ctxembed.context.representations import representations_of
from ctxembed.model.model import Model
from ctxembed.table import Column, Row, Table
from ctxembed.text.function_words import is_content
from ctxembed.text.tokenizer import Tokenizer

WORDS = (
    Column("before", "what stands before the word: spaces, punctuation", "text"),
    Column("written", "the word as it was written; empty behind the last one", "text"),
    Column("word", "the word as the model knows it", "label"),
    Column("known", "1 if the model knows it"),
    Column("content", "1 if it carries content"),
    Column("target", "1 if it was marked"),
)
_MARKED = re.compile(r"\[([^\[\]]*\w[^\[\]]*)\]")


def read_words(model: Model, sentence: str) -> Table:
    """List the words of a sentence; what stands in brackets is one word, and a target."""
    read = model.vocabulary.tokenizer
    split = read if read.unit == "word" else Tokenizer(cased=read.cased)
    frequency = representations_of(model).frequency
    parts: list[tuple[str, str, str, float | None, bool]] = []
    before = ""
    for text, marked in _parts(sentence):
        found = list(split.tokens(text))
        if marked and found:
            words = [word for word, _, _ in found]
            found = [(" ".join(words), found[0][1], found[-1][2])]
        place = 0
        for word, start, end in found:
            known = [row for part in word.split() for row in _rows(model, part)]
            share = float(frequency[known[0]]) if known else None
            parts.append((before + text[place:start], text[start:end], word, share, marked))
            before, place = "", end
        before += text[place:]

    def content(word: str, share: float | None, counted: int) -> bool:
        return share is not None and (" " in word or is_content(word, share * counted))

    # In a small corpus every word is frequent.
    counted = int(any(content(word, share, 1) for _, _, word, share, _ in parts))
    rows: list[Row] = [
        (left, text, word, int(share is not None), int(content(word, share, counted)), int(marked))
        for left, text, word, share, marked in parts
    ]
    return Table(WORDS, [*rows, *([(before, "", "", 0, 0, 0)] if before else [])])


def _rows(model: Model, word: str) -> list[int]:
    """Find a word as a sentence's reader does, in another form too."""
    form = model.vocabulary.find_form(word) if not model.vocabulary.parts(word) else None
    return model.vocabulary.parts(word) if form is None else [form]


def _parts(sentence: str) -> Iterator[tuple[str, bool]]:
    """Cut a sentence at its brackets; one that has no other, as while typing, is left out."""
    for i, text in enumerate(_MARKED.split(sentence)):  # what is marked is at each odd place
        yield (text, True) if i % 2 else (re.sub(r"[\[\]]", "", text), False)
