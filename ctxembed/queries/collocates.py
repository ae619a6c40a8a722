"""Answer `collocates`: the words that go with a word, or with each of its senses."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_each_length
from ctxembed.context.occurrences import Positions, corpus_of
from ctxembed.context.representations import Representations
from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.kwic import NAME, describe_count, find_known_senses
from ctxembed.stats.association import Spread, log_dice, log_likelihood, log_ratio
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.function_words import stop_words
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import MANY, is_content
from ctxembed.word_senses.sense_space import classify_at

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
    Column("log_dice", "logDice: 14 + log2 of twice the count over both frequencies; 14 at most,"
           " and comparable between corpora of any size", "aside"),
    Column("mi", "mutual information: log2 of count over expected; favours rare words", "aside"),
    Column("t_score", "count minus expected, over the root of count; favours frequent words",
           "aside"),
    Column("left", "how often it stands to the left", "aside"),
    Column("right", "and to the right", "aside"),
    Column("position", "where it stands most often: L1 is right before, R1 right after", "label"),
    Column("documents", "documents in which the two stand together"),
    Column("dispersion", "documents, divided by the number expected if its occurrences were spread"
           " over the windows at random: about 1 is even, near 0 in few documents"),
)  # fmt: skip


BARS = Chart(
    "bars", ["log_likelihood"], label=["collocate"], panel=["word"],
    title="collocates, by log-likelihood",
)  # fmt: skip
Steps = NDArray[np.int64]  # places of a window


@on_model(COLLOCATES[0], SENSE, NAME, *COLLOCATES[1:])
def collocates(
    model: Model, words: str | Sequence[str], *, by_sense: bool = False, window: int = 5,
    position: str | Sequence[str] = (), number: int = 20, sort: str = "log_likelihood",
    min_count: int = 3, min_documents: int = 2, function_words: bool = False,
    stopwords: str | None = None, attention: str | None = None, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the words that occur near words more often than by chance, or near each sense.

    stopwords: a file of function words; by default a list of the language of the model.
    position: only these places, such as L1 for right before the word and R1 for right after it.
    """
    steps = read_steps(position, window)
    matches, unknown = find_each_length(model, words)
    index, rows, notes = corpus_of(model), list[tuple[Cell, ...]](), list[str]()
    counts = index.count_all()
    rank = partial(
        _rank, index, sort=sort, number=number, min_count=min_count, min_documents=min_documents,
        known=None if function_words else stop_words(
            model.vocabulary.words, model.vocabulary.tokenizer.language, stopwords
        ),
    )  # fmt: skip
    for hits in matches:
        notes.append(describe_count(model, hits, len(hits.positions)))
        near = positions_around(index, hits.positions, hits.size, steps)
        elsewhere = counts - np.bincount(index.ids[near], minlength=len(counts))
        size = len(index.ids) - len(near)
        if not by_sense:
            rows += [(hits.query, *row) for row in rank(hits, steps, near, elsewhere, size)]
            continue
        representations = Representations.of(model)
        senses, more = find_known_senses(representations, hits, attention, True, seed, progress)
        notes += more
        labels, _ = classify_at(representations, senses, hits.positions, hits.size)
        for sense in range(int(labels.max(initial=0)) + 1):
            parts = hits.positions[labels == sense], hits.positions[labels != sense]
            mine, others = (positions_around(index, part, hits.size, steps) for part in parts)
            against = elsewhere, size
            if len(others):
                against = np.bincount(index.ids[others], minlength=len(counts)), len(others)
            name = senses.names[sense] if senses else ""
            own = replace(hits, positions=parts[0])
            ranked = rank(own, steps, mine, *against)
            rows += [(hits.query, sense + 1, name, *row) for row in ranked]
    word = COLLOCATES[0] if len(matches) < 2 else replace(COLLOCATES[0], role="label")
    columns = (word, *([SENSE, NAME] if by_sense else []), *COLLOCATES[1:])
    if by_sense and not any(row[2] for row in rows):  # no sense has a name
        columns, rows = (*columns[:2], *columns[3:]), [(*row[:2], *row[3:]) for row in rows]
    chart = replace(BARS, panel=["word", "sense"]) if by_sense else BARS
    return Table(columns, rows, notes, unknown, chart)


def read_steps(position: str | Sequence[str], window: int) -> Steps:
    """Return the places of a window: -1 is L1, right before the word, and 1 is R1.

    >>> read_steps("L2, r1", 5).tolist(), read_steps((), 2).tolist()
    ([-2, 1], [-2, -1, 1, 2])
    """
    names = position.split(",") if isinstance(position, str) else list(position)
    steps = set[int]()
    for name in names:
        match = re.fullmatch("([LR])([1-9][0-9]{0,2})", name.strip(), re.I)
        if match is None:
            raise UsageError(
                f"--position {name[:20]}: write L1 for right before, R1 for right after"
            )
        steps.add(int(match[2]) * (-1 if match[1] in "Ll" else 1))
    return np.array(sorted(steps) or [*range(-window, 0), *range(1, window + 1)])


def pairs_around(
    index: Index, positions: Positions, size: int, steps: Steps
) -> tuple[Positions, Steps]:
    """Return positions (n,) around all occurrences, in their sentences, and their steps (n,)."""
    at = (positions[:, None] + np.where(steps > 0, steps + size - 1, steps)).ravel()
    sentence = np.repeat(index.sentence_of(positions), len(steps))
    inside = (at >= index.offsets[sentence]) & (at < index.offsets[sentence + 1])
    return at[inside], np.tile(steps, len(positions))[inside]


def positions_around(index: Index, positions: Positions, size: int, steps: Steps) -> Positions:
    """Return the positions around an occurrence, in its sentence; each one once."""
    return np.unique(pairs_around(index, positions, size, steps)[0])


def _rank(
    index: Index, hits: Hits, steps: Steps, near: Positions, elsewhere: NDArray[np.int64],
    size: int, *, sort: str, number: int, min_count: int, min_documents: int,
    known: Container[str] | None,
) -> Iterator[tuple[Cell, ...]]:  # fmt: skip
    """Yield a row for each word that occurs more often at `near` than at `size` other positions."""
    ids, here = index.ids[near], len(near)
    counts = np.bincount(ids, minlength=len(elsewhere))
    rows = np.flatnonzero(counts >= min_count)
    mine, other = counts[rows].astype(np.float64), elsewhere[rows].astype(np.float64)
    likelihood = log_likelihood(mine, here, other, size)
    ratio = log_ratio(mine, here, other, size)
    expected = here * (mine + other) / (here + size)
    frequencies = mine + other
    measures = {
        "log_likelihood": likelihood, "log_ratio": ratio, "count": mine,
        "log_dice": log_dice(mine, len(hits.positions), frequencies),
        "mi": np.log2(mine / expected), "t_score": (mine - expected) / np.sqrt(mine),
    }  # fmt: skip
    large = np.count_nonzero(elsewhere) > MANY
    by = measures[sort]
    score = np.where(ratio > 0, by, -np.inf)
    owners = index.document_of(near)
    around, where = pairs_around(index, hits.positions, hits.size, steps)
    words_around = index.ids[around]
    spread = Spread(np.bincount(owners)[np.unique(owners)] if len(owners) else np.zeros(1, int))
    for i in np.argsort(-score, kind="stable").tolist():
        if not number or score[i] == -np.inf:
            break
        (word,) = index.words(np.array([rows[i]], np.int32))
        frequency = float(elsewhere[rows[i]]) / size if large else 0.0
        documents = len(np.unique(owners[ids == rows[i]]))
        if documents < min_documents or not (known is None or is_content(word, frequency, known)):
            continue
        number -= 1
        yield (
            word, int(mine[i]), float(expected[i]), float(likelihood[i]), float(ratio[i]),
            *(float(measures[name][i]) for name in ("log_dice", "mi", "t_score")),
            *_describe_places(where[words_around == rows[i]]), documents,
            spread.of(int(mine[i]), documents),
        )  # fmt: skip


def _describe_places(steps: Steps) -> tuple[int, int, str]:
    """Return how many steps lie to the left and to the right, and the most frequent one."""
    values, counts = np.unique(steps, return_counts=True)
    best = int(values[counts.argmax()])
    return int((steps < 0).sum()), int((steps > 0).sum()), f"{'L' if best < 0 else 'R'}{abs(best)}"
