"""Suggest axes for a word from its own senses, for the web page."""

from collections.abc import Sequence

import numpy as np

from ctxembed.context.representations import Representations
from ctxembed.errors import UnknownWordError
from ctxembed.explanation.substitutes import same_stem
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import saved_senses
from ctxembed.queries.compare import TARGET_COLUMNS
from ctxembed.queries.define import is_english, open_definitions
from ctxembed.stats.vectors import unit
from ctxembed.table import Column, Row, Table
from ctxembed.text.tokenizer import is_content
from ctxembed.word_senses.related import RELATED, related_words

COLUMNS = (
    Column("axis", "its name, the first of its words", "label"),
    Column("words", "words of one sense", "text"),
    Column("sense", "what the dictionary says of the sense, or words beside which it occurs"),
)
MIN_PRIOR = 0.04  # share of the occurrences of a word that a sense has
MAX_SENSES = 8  # of a word, the most frequent
WORDS = 3  # of an axis
Candidates = list[tuple[str, list[int]]]  # of each sense: what it is, and the rows of its words


@on_model(*COLUMNS)
def suggest_axes(model: Model, word: str) -> Table:
    """Return two axes: the word's most frequent sense, and the frequent one least like it.

    Senses are those of the dictionary if the model is English, else those saved in it. There is no
    row for a word with one sense.
    """
    try:
        own = model.vocabulary.parts(word)
    except UnknownWordError:
        own = []
    senses = _by_dictionary(model, word) if is_english(model) else []
    senses = senses if len(senses) > 1 else _by_saved_senses(model, word)
    if len(senses) < 2 or not own:
        return Table(COLUMNS, [])
    means = [model.space[rows].mean(axis=0) for _, rows in senses]
    likeness = unit(np.array(means)) @ unit(means[0])
    pair = [0, 1 + int(likeness[1:].argmin())]
    target, rows = unit(model.space[own].mean(axis=0)), list[Row]()
    for sense, other in (pair, pair[::-1]):
        some = [row for row in senses[sense][1] if row not in senses[other][1]]
        vectors = unit(model.space[some])
        fits = vectors @ target + vectors @ unit(means[sense]) - vectors @ unit(means[other])
        best = sorted(some[i] for i in np.argsort(-fits)[:WORDS])  # the most frequent first
        best = [model.vocabulary.words[row] for row in best]
        rows.append((best[0], best, senses[sense][0]) if best else ("", [], ""))
    names = [str(row[0]) for row in rows]
    taken = {column.name for column in TARGET_COLUMNS}
    return Table(COLUMNS, [] if "" in names or taken.intersection(names) else rows)


def _by_dictionary(model: Model, word: str) -> Candidates:
    """Return the frequent senses of the dictionary, with related words and those that define it."""
    definitions = open_definitions(model)
    choices = [choice for choice in definitions.entry(word) if choice.sure >= MIN_PRIOR]
    senses = []
    for choice in choices[:MAX_SENSES]:
        related = related_words(definitions, [choice._replace(sure=1.0)])
        near = [row for row, weight in related.items() if weight >= RELATED]
        rows = [*near, *definitions.find_rows(choice.sense.definition)]
        senses.append((choice.sense.definition, _content(model, word, rows)))
    return [(name, rows) for name, rows in senses if len(rows) >= WORDS]


def _by_saved_senses(model: Model, word: str) -> Candidates:
    """Return the saved senses, with the words that tell each from the others."""
    saved = saved_senses(model, word)
    if saved is None:
        return []
    find, senses = model.vocabulary.find, []
    for i, markers in enumerate(saved.markers):
        rows = [row for marker in markers if (row := find(marker)) is not None]
        senses.append((saved.describe(i), _content(model, word, rows)))
    return [(name, rows) for name, rows in senses if len(rows) >= WORDS]


def _content(model: Model, word: str, rows: Sequence[int]) -> list[int]:
    """Return the rows of content words of three letters or more, without forms of the word."""
    frequency, words = Representations.of(model).frequency, model.vocabulary.words
    return [
        row
        for row in dict.fromkeys(rows)
        if len(words[row]) > 2
        and is_content(words[row], float(frequency[row]))
        and not same_stem(*sorted((words[row].lower(), word.lower())))
    ]
