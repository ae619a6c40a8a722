"""Answer `collocates`: the words that go with a word, or with each of its senses."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import find_each, find_hits
from ctxembed.context.occurrences import Positions, corpus_of
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.kwic import NAME, classify_at, describe_count, find_known_senses
from ctxembed.stats.association import Spread, log_likelihood, log_ratio
from ctxembed.table import Cell, Column, Table
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import MANY, is_content

SENSE = Column("sense", "the sense, with --by-sense", "label")
COLLOCATES = (
    Column("word", "what was asked for", "aside"),
    Column("collocate", "a word that goes with it", "label"),
    Column("count", "how often it stands within the window"),
    Column("expected", "how often it would by chance"),
    Column("log_likelihood", "Dunning's G²: how sure it is that it stands there more often than it"
           " would"),
    Column("log_ratio", "how much more often than elsewhere, or beside the other senses: 1 is"
           " twice, 2 four times"),
    Column("documents", "documents in which the two stand together"),
    Column("dispersion", "documents, divided by the number expected if its occurrences were spread"
           " over the windows at random: about 1 is even, near 0 in few documents"),
)  # fmt: skip


@on_model(COLLOCATES[0], SENSE, NAME, *COLLOCATES[1:])
def collocates(
    model: Model, words: str | Sequence[str], *, by_sense: bool = False, window: int = 5,
    number: int = 20, sort: str = "log_likelihood", min_count: int = 3, min_documents: int = 2,
    function_words: bool = False, attention: str | None = None, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the words that occur near words more often than by chance, or near each sense."""
    matches, unknown = find_each(words, partial(find_hits, model))
    index, rows, notes = corpus_of(model), list[tuple[Cell, ...]](), list[str]()
    counts = index.count_all()
    rank = partial(
        _rank, index, sort=sort, number=number, min_count=min_count, min_documents=min_documents,
        function_words=function_words,
    )  # fmt: skip
    for hits in matches:
        notes.append(describe_count(model, hits, len(hits.positions)))
        near = positions_around(index, hits.positions, hits.size, window)
        elsewhere = counts - np.bincount(index.ids[near], minlength=len(counts))
        size = len(index.ids) - len(near)
        if not by_sense:
            rows += [(hits.query, *row) for row in rank(near, elsewhere, size)]
            continue
        representations = Representations.of(model)
        senses, more = find_known_senses(representations, hits, attention, True, seed, progress)
        notes += more
        labels, _ = classify_at(representations, senses, hits.positions, hits.size)
        for sense in range(int(labels.max(initial=0)) + 1):
            parts = hits.positions[labels == sense], hits.positions[labels != sense]
            mine, others = (positions_around(index, part, hits.size, window) for part in parts)
            against = elsewhere, size
            if len(others):
                against = np.bincount(index.ids[others], minlength=len(counts)), len(others)
            name = senses.names[sense] if senses else ""
            rows += [(hits.query, sense + 1, name, *row) for row in rank(mine, *against)]
    word = COLLOCATES[0] if len(matches) < 2 else replace(COLLOCATES[0], role="label")
    columns = (word, *([SENSE, NAME] if by_sense else []), *COLLOCATES[1:])
    if by_sense and not any(row[2] for row in rows):  # no sense has a name
        columns, rows = (*columns[:2], *columns[3:]), [(*row[:2], *row[3:]) for row in rows]
    return Table(columns, rows, notes, unknown)


def positions_around(index: Index, positions: Positions, size: int, window: int) -> Positions:
    """Return the positions within `window` words of an occurrence, in its sentence."""
    steps = np.array([*range(-window, 0), *range(size, size + window)])
    at = (positions[:, None] + steps).ravel()
    sentence = np.repeat(index.sentence_of(positions), len(steps))
    inside = (at >= index.offsets[sentence]) & (at < index.offsets[sentence + 1])
    return np.unique(at[inside])


def _rank(
    index: Index, near: Positions, elsewhere: NDArray[np.int64], size: int, *, sort: str,
    number: int, min_count: int, min_documents: int, function_words: bool,
) -> Iterator[tuple[Cell, ...]]:  # fmt: skip
    """Yield a row for each word that occurs more often at `near` than at `size` other positions."""
    ids, here = index.ids[near], len(near)
    counts = np.bincount(ids, minlength=len(elsewhere))
    rows = np.flatnonzero(counts >= min_count)
    mine, other = counts[rows].astype(np.float64), elsewhere[rows].astype(np.float64)
    likelihood = log_likelihood(mine, here, other, size)
    ratio = log_ratio(mine, here, other, size)
    expected = here * (mine + other) / (here + size)
    by = {"log_likelihood": likelihood, "count": mine}.get(sort, ratio)
    score = np.where(ratio > 0, by, -np.inf)
    owners = index.document_of(near)
    spread = Spread(np.bincount(owners)[np.unique(owners)] if len(owners) else np.zeros(1, int))
    for i in np.argsort(-score, kind="stable").tolist():
        if not number or score[i] == -np.inf:
            break
        (word,) = index.words(np.array([rows[i]], np.int32))
        frequency = float(elsewhere[rows[i]]) / size if len(elsewhere) > MANY else 0.0
        documents = len(np.unique(owners[ids == rows[i]]))
        if documents < min_documents or not (function_words or is_content(word, frequency)):
            continue
        number -= 1
        yield (
            word, int(mine[i]), float(expected[i]), float(likelihood[i]), float(ratio[i]),
            documents, spread.of(int(mine[i]), documents),
        )  # fmt: skip
