"""Answer `shift`: how far the meaning of words differs between two corpora."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.columns import COUNTS, WORD
from ctxembed.context.hits import find_each
from ctxembed.context.occurrences import corpus_of, sample_positions
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import on_model, open_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.kwic import classify_at
from ctxembed.stats import permutation_test as permutation
from ctxembed.stats.permutation_test import Documents, PermutationResult
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Chart, Column, Table, round_to_total
from ctxembed.word_senses.alignment import Aligned, align
from ctxembed.word_senses.cluster import cluster
from ctxembed.word_senses.sense_space import current_senses

SHIFT = (
    Column("rank", "1 has moved most: by effect among those whose q_value is at most 0.05, or --by"
           " static"),
    WORD, *COUNTS,
    Column("documents_a", "in how many documents of the first corpus, of those looked at", "aside"),
    Column("documents_b", "and of the second", "aside"),
    Column("static", "distance: 1 - cosine of its two static vectors after alignment", "aside"),
    Column("distance", "length of the difference of its mean contextual vectors in the two corpora",
           "aside"),
    Column("chance", "the same for documents assigned to the corpora at random: the baseline",
           "aside"),
    Column("effect", "distance beyond chance, in spreads of one occurrence; 0 is no difference"),
    Column("low", "lower end of its 95 % bootstrap interval"), Column("high", "upper end"),
    Column("p_value", "share of permutations of whole documents with at least this difference",
           "chance"),
    Column("q_value", "p_value adjusted for all words tested: among the words up to this one, the"
           " share that are false alarms is expected to be at most this", "chance"),
    Column("from_shares", "the part of distance that comes from other shares of the senses",
           "aside"),
    Column("from_senses", "the rest: the senses themselves are used in other contexts", "aside"),
    Column("shares_a", "percent of each sense in the first corpus, the largest first", "text"),
    Column("shares_b", "and in the second", "text"),
)  # fmt: skip
DOTS = Chart(
    "dots", ["effect"], label=["word"], low="low", high="high",
    title="how far the words have moved, in spreads of one occurrence",
)  # fmt: skip
BARS = Chart(
    "bars", ["percent"], label=["corpus"], series=["sense"], panel=["word"], stacked=True,
    domain=(0, 100), title="percent of each sense in the two corpora",
)  # fmt: skip
MIN_OCCURRENCES = 5  # in each corpus, to measure a word
MIN_DOCUMENTS = 2  # in each corpus, to test a word
MIN_TESTED = 20  # occurrences of words not named by the user: fewer cannot give a small p-value
SIGNIFICANT = 0.05  # q_value up to which a word has moved


@dataclass(frozen=True)
class Split:
    """The distance of two mean vectors in two parts, and the share of each sense."""

    from_shares: float
    from_senses: float
    shares: Floats  # (2, k) in each corpus, the largest sense first
    names: Sequence[str] = ()  # (k,) of the senses, where the first model has named ones


@dataclass(frozen=True)
class ShiftResult:
    """How far one word has moved between two corpora; None where it is too rare to measure."""

    word: str
    counts: tuple[int, int]  # in each corpus
    static: float  # 1 - cosine of the static vectors
    rank: int | None
    documents: tuple[int, int] | None = None
    distance: float | None = None  # of the mean contextual vectors
    test: PermutationResult | None = None
    interval: tuple[float, float] | None = None  # 95 % of the effect
    q_value: float | None = None
    split: Split | None = None

    @property
    def percents(self) -> list[list[str]]:
        """For each corpus, the percent of each sense as text; they add up to 100."""
        if self.split is None:
            return [[], []]
        return [round_to_total((100 * side).tolist(), 0) for side in self.split.shares]

    @property
    def shares(self) -> list[str | None]:
        """For each corpus, the percent of each sense, after its name if it has one."""
        if self.split is None:
            return [None, None]
        names = self.split.names or [""] * self.split.shares.shape[1]
        sides = (zip(names, percents, strict=True) for percents in self.percents)
        return [" ".join(f"{name} {p}".strip() for name, p in side) for side in sides]


@on_model(*SHIFT)
def shift(
    model_a: Model, model_b: Model | str | Path, words: str | Sequence[str] = (), *,
    min_count: int | None = None, by: str = "effect", number: int = 20, senses: int | None = None,
    function_words: bool = False, most: int = 1000, permutations: int = 999, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return how far words have shifted between two corpora; without words, those that moved most.

    senses: how many senses each word has; None chooses the number.
    most: read at most so many occurrences of a word in each corpus.
    """
    a, b = model_a, open_model(model_b)
    aligned = align(a, b, MIN_OCCURRENCES if min_count is None else min_count)
    known, unknown = find_each(words, aligned.find)
    any_word = function_words or by == "static"
    every = [word for word in range(len(aligned.rows_a)) if any_word or aligned.is_content(word)]
    counts = np.minimum(a.counts[aligned.rows_a], b.counts[aligned.rows_b])
    frequent = [word for word in every if min_count is not None or counts[word] >= MIN_TESTED]
    static = sorted(every, key=lambda word: -round(float(aligned.distances[word]), 9))
    tested = known or (static[:number] if by == "static" else frequent or every)
    tests: dict[int, PermutationResult] = {}
    with progress.stage("testing", len(tested), "words") as stage:
        for word in tested:
            test = run_permutation_test(aligned, word, most, permutations, seed)
            if test is not None:
                tests[word] = test
            stage.advance()
    adjusted = permutation.benjamini_hochberg(np.array([test.p_value for test in tests.values()]))
    q_values = dict(zip(tests, adjusted.tolist(), strict=True))

    def significance_order(word: int) -> tuple[float, ...]:
        if (test := tests.get(word)) is None:
            return 2, 0.0, 0.0
        moved = q_values[word] <= SIGNIFICANT
        return (0, -test.effect, test.p_value) if moved else (1, test.p_value, -test.effect)

    ranked = static if by == "static" else sorted(tested, key=significance_order)
    ranks = {word: rank for rank, word in enumerate(ranked, 1)}
    results = []
    for word in known or ranked[:number]:
        result = _measure(aligned, word, tests.get(word), senses, most, seed)
        results.append(replace(result, rank=ranks.get(word), q_value=q_values.get(word)))
    notes = list(_notes(aligned, [item.word for item in results if item.test is None], q_values))
    if by != "static" and not known and 0 < len(frequent) < len(every):
        rare = f"{len(every) - len(frequent)} words that a corpus has fewer than {MIN_TESTED} times"
        notes.append(f"{rare} were not tested; --min-count tests rarer ones")
    return _tabulate(results, [model.path.name for model in (a, b)], notes, unknown)


def word_vectors(
    aligned: Aligned, word: int, most: int, seed: int
) -> tuple[Floats, Floats, Documents] | None:
    """Return a word's vectors (n, d), (m, d) and documents; None if occurrences are too few."""
    rng = np.random.default_rng(seed)
    (x, documents_x), (y, documents_y) = (aligned.vectors(side, word, most, rng) for side in (0, 1))
    if min(len(x), len(y)) < MIN_OCCURRENCES:
        return None
    return x, y, permutation.sum_by_document(x, documents_x, y, documents_y)


def run_permutation_test(
    aligned: Aligned, word: int, most: int, permutations: int, seed: int
) -> PermutationResult | None:
    """Return the permutation test of a word; None where occurrences or documents are too few."""
    vectors = word_vectors(aligned, word, most, seed)
    if vectors is None:
        return None
    x, y, documents = vectors
    if min(documents.first, len(documents.counts) - documents.first) < MIN_DOCUMENTS:
        return None
    generator = np.random.default_rng(seed)
    return permutation.permutation_test(x, y, documents, permutations, generator)


def _measure(
    aligned: Aligned, word: int, test: PermutationResult | None, senses: int | None, most: int,
    seed: int,
) -> ShiftResult:  # fmt: skip
    """Return the shift of a word, without its rank and q-value."""
    row, moved = aligned.rows_a[word], float(aligned.distances[word])
    counts = int(aligned.a.counts[row]), int(aligned.b.counts[aligned.rows_b[word]])
    result = ShiftResult(aligned.a.vocabulary.words[row], counts, moved, rank=None)
    vectors = word_vectors(aligned, word, most, seed)
    if vectors is None:
        return result
    x, y, documents = vectors
    both, rng = np.concatenate([x, y]), np.random.default_rng(seed)
    if senses is not None:
        senses = min(senses, len(np.unique(both.round(6), axis=0)))
    distance = test.distance if test else float(np.linalg.norm(y.mean(axis=0) - x.mean(axis=0)))
    labels = cluster(both, aligned.space, senses).labels
    names = _name_senses(aligned, word, labels[: len(x)], int(labels.max()) + 1, most, seed)
    return replace(
        result, documents=(documents.first, len(documents.counts) - documents.first), test=test,
        interval=permutation.bootstrap_interval(documents, test, rng) if test else None,
        distance=distance, split=split_distance(x, y, labels, names),
    )  # fmt: skip


def _name_senses(
    aligned: Aligned, word: int, labels: NDArray[np.intp], number: int, most: int, seed: int
) -> list[str]:
    """Return the name of the saved sense that most occurrences of each sense here have.

    labels: (n,) of the occurrences in the first model. No names if it has none for the word.
    """
    model, row = aligned.a, int(aligned.rows_a[word])
    saved = current_senses(model, model.vocabulary.words[row])
    if saved is None or not any(saved.names):
        return []
    positions = corpus_of(model).positions(row)
    drawn = sample_positions(positions, most, np.random.default_rng(seed))  # as word_vectors does
    own, _ = classify_at(Representations.of(model), saved, drawn)
    votes = [np.bincount(own[labels == label], minlength=saved.number) for label in range(number)]
    return [
        saved.names[int(some.argmax())] if 2 * some.max() > some.sum() else "" for some in votes
    ]


def split_distance(
    x: Floats, y: Floats, labels: NDArray[np.intp], names: Sequence[str] = ()
) -> Split:
    """Return |mean y - mean x| split into what sense shares explain, and the senses themselves.

    With shares p and q and sense means m and n, the difference of the means is exactly
    Σ (q - p) (m + n) / 2  +  Σ (p + q) / 2 (n - m); each part is measured along the whole.
    A sense that one corpus lacks adds to the first part only. labels (n + m,), names (k,).

    >>> x, y = np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([[1.0, 0], [0, 1], [0, 1]])
    >>> parts = split_distance(x, y, np.array([0, 0, 1, 0, 1, 1]))
    >>> round(parts.from_shares, 6), round(parts.from_senses, 6)
    (0.471405, 0.0)
    """
    of_x, of_y = labels[: len(x)], labels[len(x) :]
    k = int(labels.max()) + 1
    shares = np.array([np.bincount(of, minlength=k) / len(of) for of in (of_x, of_y)])  # (2, k)
    order = np.argsort(-shares.sum(axis=0), kind="stable")  # the largest sense first
    by_shares = np.zeros(x.shape[1])
    for sense in order:
        some = (v[of == sense] for v, of in ((x, of_x), (y, of_y)))
        means = [vectors.mean(axis=0) for vectors in some if len(vectors)]
        by_shares += (shares[1, sense] - shares[0, sense]) * sum(means) / len(means)
    whole = y.mean(axis=0) - x.mean(axis=0)
    length = float(np.linalg.norm(whole))
    along = float(by_shares @ whole) / length if length else 0.0
    named = [names[sense] for sense in order] if names else ()
    return Split(along, length - along, shares[:, order], named)


def _tabulate(
    results: Sequence[ShiftResult], names: Sequence[str], notes: Sequence[str],
    unknown: Sequence[str],
) -> Table:  # fmt: skip
    """Return a row for each word, with charts of the effects and of the sense shares."""
    rows: list[tuple[Cell, ...]] = []
    shares: list[tuple[Cell, ...]] = []
    for item in results:
        test, parts = item.test, item.split
        rows.append((
            item.rank, item.word, *item.counts, *(item.documents or (None, None)), item.static,
            item.distance, *((test.chance, test.effect) if test else (None, None)),
            *(item.interval or (None, None)), test.p_value if test else None, item.q_value,
            *((parts.from_shares, parts.from_senses) if parts else (None, None)),
            *item.shares,
        ))  # fmt: skip
        for name, percents in zip(names, item.percents, strict=True):
            labels = (parts and parts.names) or [""] * len(percents)
            for sense, (label, percent) in enumerate(zip(labels, percents, strict=True), 1):
                shares.append((item.word, name, f"{sense} {label}".strip(), int(percent)))
    bars = replace(BARS, of=lambda: Table(("word", "corpus", "sense", "percent"), shares))
    return Table(SHIFT, rows, list(notes), list(unknown), [DOTS, bars])


def _notes(aligned: Aligned, untested: Sequence[str], q_values: dict[int, float]) -> Iterator[str]:
    """Yield notes on the alignment, the words tested, and those that were not."""
    shared, common = f"{len(aligned.rows_a)} shared words", aligned.common
    yield (f"{shared}, same vectors, {common.name} attention" if common else f"aligned on {shared}")
    if q_values:
        number = sum(q <= SIGNIFICANT for q in q_values.values())
        doubt = ", of which about one in twenty may be a false alarm" if number else ""
        tested = f"{len(q_values)} words were tested by permuting documents"
        yield f"{tested}: {number} have a q_value up to {SIGNIFICANT}{doubt}"
    if untested:
        few = f"fewer than {MIN_OCCURRENCES} occurrences or {MIN_DOCUMENTS} documents in a corpus"
        yield f"{few}, no test: {', '.join(untested)}"
