"""Answer `senses --by`: the share of each sense over time, or in each group of documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_each, find_hits
from ctxembed.context.occurrences import corpus_of, sample_positions
from ctxembed.context.representations import Representations
from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.group_shares import difference_test, share_intervals, slopes, trend_test
from ctxembed.stats.many_tests import benjamini_hochberg
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.index import Index
from ctxembed.text.metadata import Groups
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_space import classify_at, current_senses

SENSES_BY = (
    Column("word", "the word", "aside"),
    Column("period", "with --by: the value of the column, or a bin of values", "label"),
    Column("start", "with --by: where the period begins; empty for texts", "aside"),
    Column("words", "with --by: words of the text in the period", "aside"),
    Column("documents", "with --by: documents in the period", "aside"),
    Column("count", "with --by: occurrences of the word in it"),
    Column("per_million", "with --by: and in a million words", "aside"),
    Column("sense", "with --by: the number of the sense", "label"),
    Column("name", "with --by: its name, or else the words that mark it", "label"),
    Column("share", "with --by: its share of the occurrences in the period", "share",
           group=("word", "period")),
    Column("low", "with --by: lower end of its 95 % bootstrap interval, documents or clusters"
           " resampled; empty where the word has fewer than 3 of them"),
    Column("high", "with --by: upper end"),
    Column("trend", "with --by: change of the share of this sense from the first to the last value,"
           " along the line of least squares; empty for texts", "aside"),
    Column("p_value", "with --by: share of permutations of documents or clusters with at least this"
           " trend, or for texts this difference between the groups", "chance"),
    Column("q_value", "with --by: p_value adjusted for all senses in the table", "chance"),
)  # fmt: skip
MIN_CLUSTERS = 4  # with the word, for a test
MAX_GROUPS = 1000


@dataclass(frozen=True)
class Usage:
    """The occurrences of a word, in clusters: cells of one cluster in one period."""

    senses: SavedSenses
    counts: NDArray[np.int64]  # (G,) occurrences in each period
    hits: Floats  # (n, k) of each sense in each cell
    periods: NDArray[np.int64]  # (n,) of each cell
    clusters: NDArray[np.int64]  # (n,)
    times: Floats  # (n,) mean value of the column, of the occurrences in a cell


@on_model(*SENSES_BY)
def senses_by(
    model: Model, words: str | Sequence[str], by: str, *, bin: float | None = None,
    cluster: str | None = None, k: int | None = None, attention: str | None = None,
    most: int = 10_000, seed: int = 1, min_score: float | None = None,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the share of each sense in each period or group, with intervals and tests.

    by: a column of the corpus's metadata; numbers and dates are periods, texts are groups.
    bin: the size of a period, in the column's numbers, or in years for dates.
    cluster: the column whose values are resampled and permuted as a whole, such as speaker;
    by default each document.
    """
    index = corpus_of(model)
    column = index.metadata.column(by)
    groups = column.groups(bin)
    if not groups.names:
        raise UsageError(f"--by {by}: no document has a value")
    if len(groups.names) > MAX_GROUPS:
        few = "take a larger --bin" if groups.starts else "choose a column with fewer values"
        raise UsageError(f"--by {by}: {len(groups.names):,} groups, at most {MAX_GROUPS:,}; {few}")
    owners = _clusters(index, cluster)
    times = column.times() if groups.starts else np.zeros(len(groups.numbers))
    matches, unknown = find_each(words, lambda word: find_hits(model, word))
    representations, notes, usages = Representations.of(model), list[str](), list[Usage]()
    for hits in matches:
        senses = current_senses(model.whole or model, hits.query, attention)
        if senses is None or k not in (None, senses.number) or min_score is not None:
            senses = find_senses(
                representations, hits.query, k=k, attention=attention, most=most, seed=seed,
                min_score=min_score, progress=progress,
            )  # fmt: skip
        usages.append(_count(representations, hits, senses, groups, owners, times, most, seed))
        notes += _notes(usages[-1], hits, most)
    tests = [_test(usage, groups, len(np.unique(owners)), seed) for usage in usages]
    q_values = _adjust([p for p, _ in tests])
    words_in = _totals(np.diff(index.documents), groups)
    documents = _totals(np.ones(len(groups.numbers), np.int64), groups)
    rows = list[tuple[Cell, ...]]()
    for usage, (p, trends), q in zip(usages, tests, q_values, strict=True):
        sides = zip(trends, p, q, strict=True)  # (k,) of each
        tested = [tuple(None if np.isnan(x) else float(x) for x in side) for side in sides]
        for sense, cells in _rows(usage, groups, words_in, documents, seed):
            rows.append((*cells, *tested[sense]))
        notes += _describe_trends(usage, tested, bool(groups.starts), cluster)
    missing = int((groups.numbers < 0).sum())
    if missing:
        notes.append(f"{missing} of {len(groups.numbers)} documents have no {by} and are left out")
    lines = Chart(
        "lines", ["share"], x="start", series=["sense", "name"], panel=["word"], low="low",
        high="high", domain=(0, 1), title=f"share of each sense by {by}",
    )  # fmt: skip
    dots = Chart(
        "dots", ["share"], label=["period"], series=["sense", "name"], panel=["word"], low="low",
        high="high", domain=(0, 1), title=f"share of each sense by {by}",
    )  # fmt: skip
    return Table(SENSES_BY, rows, notes, unknown, lines if groups.starts else dots)


def _clusters(index: Index, cluster: str | None) -> NDArray[np.int64]:
    """Return the cluster (D,) of each document; a document without one is its own."""
    documents = np.arange(len(index.documents) - 1)
    if cluster is None:
        return documents
    column = index.metadata.column(cluster)
    _, numbers = np.unique(column.array, return_inverse=True)
    return np.where(column.missing, numbers.max(initial=0) + 1 + documents, numbers.ravel())


def _totals(of_documents: NDArray[np.int64], groups: Groups) -> NDArray[np.int64]:
    """Return (G,) the sum in each group."""
    known = groups.numbers >= 0
    totals = np.zeros(len(groups.names), np.int64)
    np.add.at(totals, groups.numbers[known], of_documents[known])
    return totals


def _count(
    representations: Representations, hits: Hits, senses: SavedSenses, groups: Groups,
    owners: NDArray[np.int64], times: Floats, most: int, seed: int,
) -> Usage:  # fmt: skip
    """Return the senses of a word's occurrences, counted in each cluster and period."""
    index = corpus_of(representations.model)
    every = groups.numbers[index.document_of(hits.positions)]
    counts = np.bincount(every[every >= 0], minlength=len(groups.names))
    positions = sample_positions(hits.positions[every >= 0], most, np.random.default_rng(seed))
    labels, _ = classify_at(representations, senses, positions, hits.size)
    documents = index.document_of(positions)
    pairs = np.stack([owners[documents], groups.numbers[documents]])
    cells, number = np.unique(pairs, axis=1, return_inverse=True)
    number = number.ravel()
    table = np.zeros((cells.shape[1], senses.number))
    np.add.at(table, (number, labels), 1)
    sums = np.bincount(number, times[documents], cells.shape[1])
    means = sums / np.maximum(table.sum(axis=1), 1)
    return Usage(senses, counts, table, cells[1], cells[0], means)


def _test(usage: Usage, groups: Groups, clusters: int, seed: int) -> tuple[Floats, Floats]:
    """Return the p-value and the trend (k,) of each sense; NaN where there is none.

    Numbers: a cluster has one time, the mean of its occurrences. Texts: a cluster that is in
    several groups counts as one in each, since its group is what is permuted.
    """
    rng, none = np.random.default_rng(seed), np.full(usage.senses.number, np.nan)
    hits, clusters_of, times = usage.hits, usage.clusters, usage.times
    groups_of = usage.periods
    if groups.starts:
        _, number = np.unique(clusters_of, return_inverse=True)
        size = int(number.max(initial=-1)) + 1
        totals = np.bincount(number, hits.sum(axis=1), size)
        times = np.bincount(number, times * hits.sum(axis=1), size) / np.maximum(totals, 1)
        hits = np.stack([np.bincount(number, column, size) for column in hits.T], axis=1)
    totals = hits.sum(axis=1)
    varied = len(np.unique(times if groups.starts else groups_of)) > 1
    if usage.senses.number < 2 or len(totals) < MIN_CLUSTERS or not varied:
        return none, none
    if not groups.starts:
        return difference_test(hits, totals, groups_of, rng), none
    trends = slopes(hits, totals, times) * (times.max() - times.min())
    return trend_test(hits, totals, times, rng), trends


def _adjust(p_values: Sequence[Floats]) -> list[Floats]:
    """Return q-values over all words and senses; NaN stays NaN."""
    joined = np.concatenate(p_values) if p_values else np.zeros(0)
    q_values, tested = np.full(len(joined), np.nan), ~np.isnan(joined)
    if tested.any():
        q_values[tested] = benjamini_hochberg(joined[tested])
    return np.split(q_values, np.cumsum([len(p) for p in p_values])[:-1])


def _rows(
    usage: Usage, groups: Groups, words: NDArray[np.int64], documents: NDArray[np.int64], seed: int
) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Yield each sense, from 0, in each period that has the word, and its row without the tests."""
    senses, rng = usage.senses, np.random.default_rng(seed)
    parts = []
    for group in range(len(groups.names)):
        hits = usage.hits[usage.periods == group]
        totals = hits.sum(axis=1)
        if len(totals):
            parts.append(
                (group, hits.sum(axis=0) / totals.sum(), share_intervals(hits, totals, rng))
            )
    for sense in range(senses.number):
        for group, shares, intervals in parts:
            count = int(usage.counts[group])
            low, high = (None, None) if intervals is None else map(float, intervals[sense])
            yield sense, (
                senses.word, groups.names[group], groups.starts[group] if groups.starts else None,
                int(words[group]), int(documents[group]), count, 1e6 * count / int(words[group]),
                sense + 1, senses.describe(sense) or None, float(shares[sense]), low, high,
            )  # fmt: skip


def _notes(usage: Usage, hits: Hits, most: int) -> Iterator[str]:
    """Yield notes on the occurrences that were read, and on a word with one sense."""
    total = int(usage.counts.sum())
    if total > most:
        yield f"{hits.query}: {most} of {total} occurrences were drawn; --max takes more"
    if usage.senses.number < 2:
        yield f"{hits.query} has one sense here, so only per_million can change; --k 2 splits it"


def _describe_trends(
    usage: Usage, tested: Sequence[tuple[float | None, ...]], in_time: bool, cluster: str | None
) -> Iterator[str]:
    """Yield a note for each sense on its trend or difference."""
    unit = f"values of {cluster}" if cluster else "documents"
    for sense, (trend, p, q) in enumerate(tested):
        described = usage.senses.describe(sense)
        name = f"{usage.senses.word} {sense + 1}{f' ({described})' if described else ''}"
        if p is None or q is None:
            continue
        what = "differs between the groups"
        if in_time and trend is not None:
            what = f"{'rises' if trend > 0 else 'falls'} by {abs(100 * trend):.1f} points"
        yield f"{name} {what}: p {p:.4f}, q {q:.4f}, {unit} permuted"
