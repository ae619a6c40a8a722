"""Describe the static vector of a word, or return its numbers."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ctxembed.context.columns import NUMBERS, VECTOR, WORD, vector_of
from ctxembed.context.hits import find_hits
from ctxembed.context.nearest import Axes, axis_cosines, known_axes, nearest
from ctxembed.context.occurrences import corpus_of, no_corpus, quote, spread_positions
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.table import Cell, Column, Table

PROPERTIES = "count, share, documents, composed, norm, nearest, axis NAME or occurrence"
VALUE = (
    "its value; share is the part of all words in the corpus that are this one, composed are the"
    " subwords or characters of a word that has no vector of its own"
)
SHOW = (WORD, Column("property", PROPERTIES, "label"), Column("value", VALUE, "text", between=", "))


@on_model(WORD, NUMBERS, VECTOR)
def vector(model: Model, words: str | Sequence[str]) -> Table:
    """Return the numbers of each word's vector."""
    known, notes, unknown = model.vocabulary.keep_known(words)
    columns = (WORD, vector_of(model.dim))
    return Table(columns, lambda: ((word, model.vector(word)) for word in known), notes, unknown)


@on_model(*SHOW)
def show(
    model: Model, words: str | Sequence[str], *, axes: Axes | None = None, nearest: int = 8,
    occurrences: int = 3, min_count: int = 1, raw: bool = False,
) -> Table:  # fmt: skip
    """Describe the static vector of each word: count, norm, nearest words, axes, occurrences."""
    ranking = {"min_count": min_count, "raw": raw}
    known, notes, unknown = model.vocabulary.keep_known(words)
    kept, axis_notes = known_axes(model, axes)
    rows = [
        (word, *line)
        for word in known
        for line in _describe(model, word, kept, nearest, occurrences, ranking)
    ]
    notes = [*notes, *axis_notes]
    if occurrences and model.index is None and not model.is_worked_example:
        notes.append(no_corpus(model))
    return Table(SHOW, rows, notes, unknown)


def _describe(
    model: Model, word: str, axes: Axes, number: int, occurrences: int, ranking: dict[str, Any]
) -> Iterator[tuple[str, Cell]]:
    """Yield each property of a word and its value."""
    vocabulary, vector = model.vocabulary, model.vector(word)
    row, parts, hits = vocabulary.find(word), vocabulary.parts(word), None
    if model.index is not None:
        with suppress(UsageError, UnknownWordError):  # of smaller units, it may not occur
            hits = find_hits(model, word)
    if row is None:
        units = (unit for unit in vocabulary.tokenizer.words(word) if unit not in vocabulary.rows)
        without = " ".join(units)
        mean = f"the mean of {' '.join(vocabulary.words[part] for part in parts)}"
        yield "composed", f"{mean}; no vector for {without}" if without else mean
    elif model.index is not None or not model.meta.get("counts_estimated"):
        count = int(model.counts[row])
        yield "count", count
        yield "share", count / model.tokens
    if hits is not None:
        yield "documents", corpus_of(model).count_documents(hits.positions)
    yield "norm", float(np.linalg.norm(vector))
    if number:
        (neighbors,) = nearest(model, vector, number, [parts], **ranking)
        yield "nearest", [f"{word} {cosine:.2f}" for word, cosine in neighbors]
    for name, cosine in zip(axes, axis_cosines(model, vector, axes)[0], strict=True):
        yield f"axis {name}", float(cosine)
    if hits is not None:
        for position in spread_positions(hits.positions, occurrences).tolist():
            yield "occurrence", quote(corpus_of(model), position, size=hits.size)
