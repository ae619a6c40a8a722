"""Answer `shift`: how far the meaning of words differs between two corpora."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ctxembed.context.columns import COUNTS, WORD
from ctxembed.context.hits import find_each
from ctxembed.context.sides import Sides, choose_sides, describe_repeats
from ctxembed.model.attentions import TOGETHER
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.many_tests import SIGNIFICANT, benjamini_hochberg, compare_with_matched
from ctxembed.stats.permutation_test import PermutationResult, bootstrap_interval
from ctxembed.table import Cell, Chart, Column, Table, round_to_total
from ctxembed.word_senses.alignment import Aligned, align_sides
from ctxembed.word_senses.sense_shares import (
    SideSense,
    Split,
    describe_senses,
    label_both,
    split_distance,
)
from ctxembed.word_senses.shift_tests import (
    MIN_DOCUMENTS,
    MIN_OCCURRENCES,
    estimate_chance,
    test_words,
    word_vectors,
)

SHIFT = (
    Column("rank", "1 has moved most, by --sort"),
    WORD, *COUNTS,
    Column("documents_a", "in how many documents of the first corpus, of those looked at", "aside"),
    Column("documents_b", "and of the second", "aside"),
    Column("static", "distance: 1 - cosine of its two static vectors after alignment", "aside"),
    Column("distance", "length of the difference of its mean contextual vectors in the two corpora",
           "aside"),
    Column("chance", "the same for documents assigned to the corpora at random: the baseline",
           "aside"),
    Column("effect", "distance beyond chance, in spreads of one occurrence; 0 is no difference"),
    Column("low", "lower end of its 95 % bootstrap interval", "aside"),
    Column("high", "upper end", "aside"),
    Column("p_value", "share of permutations of whole documents with at least this difference",
           "chance"),
    Column("q_value", "p_value adjusted for all words tested: among the words up to this one, the"
           " share that are false alarms is expected to be at most this", "chance"),
    Column("background", "median effect of the words that are about as frequent", "aside"),
    Column("excess", "effect minus background: what sets this word apart from others"),
    Column("excess_q", "how seldom words that are about as frequent lie so far above the others,"
           " adjusted for all words as q_value is; at least q_value", "chance"),
    Column("from_shares", "the part of distance that comes from other shares of the senses",
           "aside"),
    Column("from_senses", "the rest: the senses themselves are used in other contexts", "aside"),
    Column("shares_a", "percent of each sense in the first corpus, the largest first", "text"),
    Column("shares_b", "and in the second", "text"),
    Column("change", "senses that are new in the second corpus, or lost there: their names or"
           " markers", "text"),
)  # fmt: skip
SENSES = (
    SHIFT[0], WORD,
    Column("sense", "number of the sense, the most frequent in both corpora first", "label"),
    Column("name", "the name that senses --name gave it in the first model", "label"),
    Column("sense_count_a", "how many of the occurrences looked at in the first corpus have it",
           "aside"),
    Column("sense_count_b", "and in the second", "aside"),
    Column("share_a", "its share of the occurrences in the first corpus", "share",
           group=("rank", "word")),
    Column("share_b", "and in the second", "share", group=("rank", "word")),
    Column("sense_change", "new: not in the first corpus; lost: not in the second", "label"),
    Column("markers", "context words that tell it from the other senses and from the corpora",
           "long"),
    Column("examples_a", "occurrences in the first corpus nearest to its centre", "long",
           between=" | "),
    Column("examples_b", "and in the second", "long", between=" | "),
)  # fmt: skip
DOTS = Chart(
    "dots", ["effect"], label=["word"], low="low", high="high",
    title="how far the words have moved, in spreads of one occurrence",
)  # fmt: skip
BARS = Chart(
    "bars", ["percent"], label=["corpus"], series=["sense"], panel=["word"], stacked=True,
    domain=(0, 100), title="percent of each sense in the two corpora",
)  # fmt: skip
SHARES = Table(("word", "corpus", "sense", "percent"), ())
MIN_TESTED = 20  # occurrences of words not named by the user: fewer cannot give a small p-value
COMPARED = 120  # words of about the same frequency that are measured for a word that is named
MAX_COMPARED = 240  # for several such words


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
    background: float | None = None
    excess_q: float | None = None
    split: Split | None = None
    senses: Sequence[SideSense] = ()

    @property
    def excess(self) -> float | None:
        """The effect beyond that of words about as frequent."""
        if self.test is None or not self.test.measurable or self.background is None:
            return None
        return self.test.effect - self.background

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
        names = [sense.name for sense in self.senses]
        sides = (zip(names, percents, strict=True) for percents in self.percents)
        return [" ".join(f"{name} {p}".strip() for name, p in side) for side in sides]

    @property
    def change(self) -> str | None:
        """Which senses are new or lost."""
        return "; ".join(f"{s.change}: {s.title}" for s in self.senses if s.change) or None


@on_model(*SHIFT, *SENSES[2:])
def shift(
    model_a: Model, model_b: Model | str | Path | None = None, words: str | Sequence[str] = (), *,
    by: str | None = None, cluster: str | None = None, sides: Sides | None = None,
    min_count: int | None = None, sort: str = "excess",
    number: int = 20, by_sense: bool = False, senses: int | None = None,
    function_words: bool = False, stopwords: str | None = None, most: int = 1000,
    permutations: int = 999, seed: int = 1, progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return how far words have shifted between two corpora; without words, those that moved most.

    by: two groups of the documents of one model, instead of two models: party=Rep,Dem.
    cluster: a column of the metadata; documents with one value of it are permuted together.
    sides: what is compared, instead of models and by.
    sort: excess, effect or static, the distance of static vectors.
    by_sense: return a row for each sense: its shares, markers and examples.
    senses: how many senses each word has; None chooses the number.
    most: read at most so many occurrences of a word in each corpus.
    """
    sides = sides or choose_sides(model_a, model_b, by, cluster)
    least = MIN_OCCURRENCES if min_count is None else min_count
    aligned = align_sides(sides, least, stopwords)
    known, unknown = find_each(words, aligned.find)
    any_word = function_words or sort == "static"
    every = [word for word in range(len(aligned.rows_a)) if any_word or aligned.is_content(word)]
    counts = aligned.counts.min(axis=0)
    frequent = [word for word in every if min_count is not None or counts[word] >= MIN_TESTED]
    static = sorted(every, key=lambda word: -round(float(aligned.distances[word]), 9))
    tested = known or (static[:number] if sort == "static" else frequent or every)
    tests = test_words(aligned, tested, most, permutations, seed, progress)
    matched: dict[int, PermutationResult] = {}
    if len(tests) < len(frequent or every):
        others = choose_matched(aligned, list(tests), frequent or every)
        matched = estimate_chance(aligned, others, most, seed, progress)
    q_values = _adjust({word: test.p_value for word, test in tests.items()})
    backgrounds, excess_q = find_background(tests, matched, q_values)

    def significance_order(word: int) -> tuple[float, ...]:
        if (test := tests.get(word)) is None:
            return 3, 0.0, 0.0
        excess = test.effect - backgrounds.get(word, 0.0)
        if sort == "excess" and excess_q.get(word, 1.0) <= SIGNIFICANT:
            return 0, -excess, test.p_value
        moved = q_values[word] <= SIGNIFICANT
        return (1, -test.effect, test.p_value) if moved else (2, test.p_value, -test.effect)

    ranked = static if sort == "static" else sorted(tested, key=significance_order)
    ranks = {word: rank for rank, word in enumerate(ranked, 1)}
    results = []
    for word in known or ranked[:number]:
        result = _measure(aligned, word, tests.get(word), senses, most, seed)
        results.append(replace(
            result, rank=ranks.get(word), q_value=q_values.get(word),
            background=backgrounds.get(word), excess_q=excess_q.get(word),
        ))  # fmt: skip
    notes = list(_notes(aligned, [item.word for item in results if item.test is None], q_values,
                        excess_q))  # fmt: skip
    notes += [
        f"{item.word}: its contexts in each corpus are all alike, so an effect has no unit"
        for item in results if item.test and not item.test.measurable
    ]  # fmt: skip
    notes += [] if cluster else describe_repeats(sides)
    if sort != "static" and not known and 0 < len(frequent) < len(every):
        rare = f"{len(every) - len(frequent)} words that a corpus has fewer than {MIN_TESTED} times"
        notes.append(f"{rare} were not tested; --min-count tests rarer ones")
    if by_sense:
        return _tabulate_senses(results, notes, unknown)
    return _tabulate(results, [side.name for side in aligned.sides], notes, unknown)


def choose_matched(aligned: Aligned, words: Sequence[int], others: Sequence[int]) -> list[int]:
    """Return the other words whose counts are nearest to those of words, for a background."""
    counts = np.log(aligned.counts.min(axis=0) + 1.0)
    pool = np.array([word for word in others if word not in set(words)], np.int64)
    each = min(COMPARED, max(1, MAX_COMPARED // max(1, len(words))))
    near = [
        pool[np.argsort(np.abs(counts[pool] - counts[word]), kind="stable")[:each]]
        for word in words
    ]
    chosen: list[int] = np.unique(np.concatenate([*near, pool[:0]])).tolist()
    return chosen


def find_background(
    tests: Mapping[int, PermutationResult], matched: Mapping[int, PermutationResult],
    q_values: Mapping[int, float],
) -> tuple[dict[int, float], dict[int, float]]:  # fmt: skip
    """Return the background and the q-value of the excess of each tested word.

    matched: more words that lend their effects; q_values: those of the tests. A word that may not
    differ at all has no excess, however little its matches differ, so the q-value of the excess is
    at least its own. Both results are empty if there are too few words.
    """
    every = [*tests.values(), *matched.values()]
    squares, chances, spreads = (
        np.array([getattr(test, name) for test in every])
        for name in ("distance", "chance", "spread")
    )
    compared = compare_with_matched(squares**2, chances**2, spreads)
    if compared is None:
        return {}, {}
    adjusted = _adjust(dict(zip(tests, compared.p_values.tolist(), strict=False)))
    excess_q = {word: max(q, q_values[word]) for word, q in adjusted.items()}
    return dict(zip(tests, compared.effects.tolist(), strict=False)), excess_q


def _adjust(p_values: Mapping[int, float]) -> dict[int, float]:
    """Return the q-value of each p-value."""
    adjusted = benjamini_hochberg(np.array([*p_values.values()]))
    return dict(zip(p_values, adjusted.tolist(), strict=True))


def _measure(
    aligned: Aligned, word: int, test: PermutationResult | None, senses: int | None, most: int,
    seed: int,
) -> ShiftResult:  # fmt: skip
    """Return the shift of a word, without its rank and what depends on other words."""
    row, moved = aligned.rows_a[word], float(aligned.distances[word])
    counts = int(aligned.counts[0, word]), int(aligned.counts[1, word])
    result = ShiftResult(aligned.a.vocabulary.words[row], counts, moved, rank=None)
    vectors = word_vectors(aligned, word, most, seed)
    if vectors is None:
        return result
    x, y, units = vectors
    labels, names = label_both(aligned, word, senses, most, seed)
    split, rng = split_distance(x, y, labels), np.random.default_rng(seed)
    paired = units.number - units.first - units.second
    return replace(
        result, documents=(units.first + paired, units.second + paired), test=test,
        interval=bootstrap_interval(units, test, rng) if test and test.measurable else None,
        distance=test.distance if test else float(np.linalg.norm(y.mean(axis=0) - x.mean(axis=0))),
        split=split, senses=describe_senses(
            aligned, word, np.concatenate([x, y]), labels, names, split, most, seed
        ),
    )  # fmt: skip


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
            item.distance, test.chance if test else None,
            test.effect if test and test.measurable else None,
            *(item.interval or (None, None)), test.p_value if test else None, item.q_value,
            item.background, item.excess, item.excess_q,
            *((parts.from_shares, parts.from_senses) if parts else (None, None)),
            *item.shares, item.change,
        ))  # fmt: skip
        for name, percents in zip(names, item.percents, strict=True):
            pairs = zip(item.senses, percents, strict=True)
            for sense, (part, percent) in enumerate(pairs, 1):
                title = f"{sense} {part.title if len(percents) > 1 else part.name}".strip()
                shares.append((item.word, name, title, int(percent)))
    bars = replace(BARS, of=lambda: Table(SHARES.columns, shares))
    return Table(SHIFT, rows, list(notes), list(unknown), [DOTS, bars])


def _tabulate_senses(
    results: Sequence[ShiftResult], notes: Sequence[str], unknown: Sequence[str]
) -> Table:
    """Return a row for each sense of each word."""
    rows: list[tuple[Cell, ...]] = [
        (
            item.rank,
            item.word,
            number,
            sense.name or None,
            *sense.counts,
            *sense.shares,
            sense.change or None,
            list(sense.markers),
            *map(list, sense.examples),
        )
        for item in results
        for number, sense in enumerate(item.senses, 1)
    ]
    return Table(SENSES, rows, list(notes), list(unknown))


def _notes(
    aligned: Aligned, untested: Sequence[str], q_values: dict[int, float],
    excess_q: dict[int, float],
) -> Iterator[str]:  # fmt: skip
    """Yield notes on the alignment, the words tested, and those that were not."""
    shared, compared = f"{len(aligned.rows_a)} shared words", aligned.compared
    name = (compared or aligned.attention).name
    name = "learned attention and encoder together" if name == TOGETHER else f"{name} attention"
    yield f"{shared}, same vectors, {name}" if compared else f"aligned on {shared}"
    if q_values:
        number = sum(q <= SIGNIFICANT for q in q_values.values())
        doubt = ", of which about one in twenty may be a false alarm" if number else ""
        words = "1 word was" if len(q_values) == 1 else f"{len(q_values)} words were"
        tested = f"{words} tested by permuting documents"
        yield f"{tested}: {number} have a q_value up to {SIGNIFICANT}{doubt}"
    if excess_q:
        number = sum(q <= SIGNIFICANT for q in excess_q.values())
        yield f"{number} have moved further than words of their frequency (excess_q up to 0.05)"
    elif q_values:
        yield "too few words to say how far a word of this frequency moves: no excess"
    if untested:
        few = f"fewer than {MIN_OCCURRENCES} occurrences or {MIN_DOCUMENTS} documents in a corpus"
        yield f"{few}, no test: {', '.join(untested)}"
