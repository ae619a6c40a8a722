"""Which words go with a word, and which with each of its senses?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.ask.association import Spread, log_likelihood, log_ratio
from ctxembed.ask.kwic import find_all, find_known_senses, judge_at, tell_count
from ctxembed.context.hits import Hits
from ctxembed.context.occurrences import corpus_of
from ctxembed.context.representations import Representations, representations_of
from ctxembed.errors import UsageError
from ctxembed.progress import SILENT, Progress
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Cell, Column, Table
from ctxembed.text.function_words import MANY, is_content
from ctxembed.text.index import Index

SENSE = Column("sense", "the sense, with --by-sense", "label")
COLLOCATES = (
    Column("word", "what was asked for", "aside"),
    Column("collocate", "a word that goes with it", "label"),
    Column("count", "how often it stands within the window"),
    Column("expected", "how often it would by chance"),
    Column(
        "log_likelihood",
        "Dunning's G²: how sure it is that it stands there more often than it would",
    ),
    Column("log_ratio", "how much more often: 1 is twice, 2 four times"),
    Column("documents", "documents in which the two stand together"),
    Column(
        "dispersion",
        "these, as a share of the documents in which they would if dealt out to the windows at"
        " random; near 0 is a matter of few documents",
    ),
)


@dataclass(frozen=True)
class Window:
    """The words around some occurrences, each place of the corpus once."""

    places: NDArray[np.int64]  # (n,)
    ids: NDArray[np.int32]  # (n,)


@on_model(COLLOCATES[0], SENSE, *COLLOCATES[1:])
def collocates(
    model: Model,
    words: str | Sequence[str],
    *,
    by_sense: bool = False,
    window: int = 5,
    number: int = 20,
    sort: str = "log_likelihood",
    min_count: int = 3,
    min_documents: int = 2,
    function_words: bool = False,
    attention: str | None = None,
    seed: int = 1,
    progress: Progress = SILENT,
) -> Table:
    """List the words that stand near words more often than chance would have it.

    by_sense: for each sense, those that tell it from the other senses; senses are those saved for
    the word, or are looked for.
    """
    found, unknown = find_all(model, [words] if isinstance(words, str) else list(words))
    index, rows, notes = corpus_of(model), list[tuple[Cell, ...]](), list[str]()
    counts = index.count_all()
    chosen: dict[str, Any] = {
        "sort": sort,
        "number": number,
        "min_count": min_count,
        "min_documents": min_documents,
        "function_words": function_words,
    }
    for hits in found:
        notes.append(tell_count(model, hits, len(hits.places)))
        everywhere = look_around(index, hits.places, hits.size, window)
        rest = counts - _count(everywhere, len(counts)), len(index.ids) - len(everywhere.places)
        if not by_sense:
            ranked = _rank(index, everywhere, *rest, **chosen)
            rows += [(hits.asked, *row) for row in ranked]
            continue
        labels, told = _label(representations_of(model), hits, attention, seed, progress)
        notes += told
        for sense in range(int(labels.max(initial=0)) + 1):
            mine = look_around(index, hits.places[labels == sense], hits.size, window)
            others = look_around(index, hits.places[labels != sense], hits.size, window)
            against = rest
            if len(others.places):
                against = _count(others, len(counts)), len(others.places)
            ranked = _rank(index, mine, *against, **chosen)
            rows += [(hits.asked, sense + 1, *row) for row in ranked]
    columns = (COLLOCATES[0], SENSE, *COLLOCATES[1:]) if by_sense else COLLOCATES
    return Table(columns, rows, notes, unknown)


def _label(
    representations: Representations,
    hits: Hits,
    attention: str | None,
    seed: int,
    progress: Progress,
) -> tuple[NDArray[np.intp], list[str]]:
    """Return (n,) the sense of each occurrence, and what there is to say of them."""
    known, told = find_known_senses(representations, hits, attention, True, seed, progress)
    if known is None:
        raise UsageError(f"{hits.asked!r} has no senses")
    labels, _ = judge_at(representations, known, hits.places, hits.size)
    return labels, told


def look_around(index: Index, places: NDArray[np.int64], size: int, window: int) -> Window:
    """Return the words within so many of each occurrence, in its sentence, without itself."""
    steps = np.array([*range(-window, 0), *range(size, size + window)])
    at = (places[:, None] + steps).ravel()
    sentence = np.repeat(index.sentence_of(places), len(steps))
    inside = (at >= index.offsets[sentence]) & (at < index.offsets[sentence + 1])
    found = np.unique(at[inside])
    return Window(found, np.asarray(index.ids[found]))


def _count(window: Window, types: int) -> NDArray[np.int64]:
    return np.bincount(window.ids, minlength=types)


def _rank(
    index: Index,
    window: Window,
    elsewhere: NDArray[np.int64],
    size: int,
    *,
    sort: str,
    number: int,
    min_count: int,
    min_documents: int,
    function_words: bool,
) -> Iterator[tuple[Cell, ...]]:
    """Yield the words that stand in a window more often than elsewhere."""
    counts, here = _count(window, len(elsewhere)), len(window.places)
    rows = np.flatnonzero(counts >= min_count)
    mine, other = counts[rows].astype(np.float64), elsewhere[rows].astype(np.float64)
    likelihood = log_likelihood(mine, here, other, size)
    ratio = log_ratio(mine, here, other, size)
    expected: Floats = here * (mine + other) / (here + size)
    score = np.where(ratio > 0, likelihood if sort == "log_likelihood" else ratio, -np.inf)
    if sort == "count":
        score = np.where(ratio > 0, mine, -np.inf)
    owners = index.document_of(window.places)
    spread = Spread(np.bincount(owners)[np.unique(owners)] if len(owners) else np.zeros(1, int))
    for i in np.argsort(-score, kind="stable").tolist():
        if not number or score[i] == -np.inf:
            break
        (word,) = index.words(np.array([rows[i]], np.int32))
        share = float(elsewhere[rows[i]]) / size if len(elsewhere) > MANY else 0.0
        documents = len(np.unique(owners[window.ids == rows[i]]))
        if documents < min_documents or not (function_words or is_content(word, share)):
            continue
        number -= 1
        yield (
            word, int(mine[i]), float(expected[i]), float(likelihood[i]), float(ratio[i]),
            documents, spread.of(int(mine[i]), documents),
        )  # fmt: skip
