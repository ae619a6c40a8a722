"""Answer `collocates --by`: how the company of a word differs between two groups of documents."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_each, find_hits
from ctxembed.context.sides import Side, Sides, choose_sides, describe_repeats
from ctxembed.errors import UnknownWordError
from ctxembed.model.bundled import ModelLike, on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.collocates import Steps, positions_around, read_steps
from ctxembed.stats.association import log_dice, log_ratio
from ctxembed.stats.many_tests import SIGNIFICANT, benjamini_hochberg
from ctxembed.stats.rate_test import UnitCounts, count_by_unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.function_words import stop_words
from ctxembed.text.tokenizer import MANY, is_content

WORD = Column("word", "what was asked for", "aside")
COLLOCATES_BY = (
    WORD,
    Column("collocate", "a word that goes with it in one of the groups", "label"),
    Column("count_a", "how often it stands within the window in the first group"),
    Column("count_b", "and in the second"),
    Column("log_dice_a", "logDice in the first group: 14 + log2 of twice the count over both"
           " frequencies"),
    Column("log_dice_b", "and in the second; empty where it never stands there"),
    Column("log_ratio", "log2 of the ratio of its rates in the windows: 1 is twice as often in the"
           " first group, -1 in the second"),
    Column("low", "lower end of its 95 % bootstrap interval, documents resampled", "aside"),
    Column("high", "upper end", "aside"),
    Column("p_value", "share of permutations of whole documents in which the rates differ at least"
           " as much", "chance"),
    Column("q_value", "p_value adjusted for all collocates tested", "chance"),
    Column("documents_a", "documents of the first group in which the two stand together", "aside"),
    Column("documents_b", "and of the second", "aside"),
)  # fmt: skip
DOTS = Chart(
    "dots", ["log_ratio"], label=["collocate"], panel=["word"], low="low", high="high",
    title="collocates of the first group (above 0) and of the second (below 0), log2 of the ratio",
)  # fmt: skip
MIN_LOG_DICE = 4  # in one of the groups, to be a collocate at all


@on_model(*COLLOCATES_BY)
def collocates_by(
    model: Model, words: str | Sequence[str], by: str | None = None, other: ModelLike = None, *,
    cluster: str | None = None, window: int = 5, position: str | Sequence[str] = (),
    number: int = 20, min_count: int = 3, function_words: bool = False,
    stopwords: str | None = None, permutations: int = 999, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the collocates of words that differ between two groups of documents, or two models.

    by: two groups of the documents of one model, such as party=Rep,Dem; or give another model.
    cluster: a column of the metadata; documents with one value of it are permuted together.
    Collocates of the first group come first, `number` of each, the surest first.
    """
    sides, steps = choose_sides(model, other, by, cluster), read_steps(position, window)
    matches, unknown = find_each(words, partial(_find_both, sides))
    notes = [] if cluster else describe_repeats(sides)
    rows = list[tuple[Cell, ...]]()
    for both in matches:
        total = " and ".join(
            f"{len(hits.positions)} in {side.name}" for hits, side in zip(both, sides, strict=True)
        )
        notes.insert(0, f"{both[0].query}: {total}")
        contrast = _Contrast(sides, both, steps)
        vocabulary = model.vocabulary
        known = None
        if not function_words:
            known = stop_words(vocabulary.words, vocabulary.tokenizer.language, stopwords)
        notes += contrast.test(min_count, known, permutations, seed, progress)
        rows += [(both[0].query, *row) for row in contrast.rows(number, seed)]
    columns = COLLOCATES_BY
    if len(matches) > 1:
        columns = (replace(WORD, role="label"), *COLLOCATES_BY[1:])
    return Table(columns, rows, notes, unknown, DOTS)


def _find_both(sides: Sides, query: str) -> tuple[Hits, Hits]:
    """Return the occurrences of a query on each side; an error if a side has none."""
    a, b = (find_hits(side.model, query) for side in sides)
    for hits, side in zip((a, b), sides, strict=True):
        if not len(hits.positions):
            raise UnknownWordError(f"{query!r} does not occur in {side.name}")
    return a, b


class _Contrast:
    """The words around a word on two sides, by document or cluster."""

    def __init__(self, sides: Sides, hits: tuple[Hits, Hits], steps: Steps) -> None:
        self.sides, self.hits = sides, hits
        pairs = list(zip(sides, hits, strict=True))
        self.near = [positions_around(s.index, h.positions, h.size, steps) for s, h in pairs]
        self.ids = [side.index.ids[near] for side, near in zip(sides, self.near, strict=True)]
        self.words: list[str] = []

    def test(
        self, min_count: int, known: Container[str] | None, permutations: int, seed: int,
        progress: Progress,
    ) -> list[str]:  # fmt: skip
        """Choose the collocates and test each; return notes."""
        rows, places = self._choose(min_count, known)
        self.rows_of = rows
        self.units = self._count(places, len(self.words))
        self.p_values = self.q_values = np.full(len(self.words), np.nan)
        if not self.words:
            return ["no word is a collocate in either group; --min-count takes rarer ones"]
        if not self.units.testable:
            return ["a group has fewer than two documents with this word: no p_value"]
        self.p_values = self.units.p_values(permutations, np.random.default_rng(seed), progress)
        self.q_values = benjamini_hochberg(self.p_values)
        number = int((self.q_values <= SIGNIFICANT).sum())
        return [f"{len(self.words)} collocates were tested: {number} have a q_value up to"
                f" {SIGNIFICANT}"]  # fmt: skip

    def _choose(
        self, min_count: int, known: Container[str] | None
    ) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
        """Return rows (2, n) of the collocates on each side, and for each side id to number."""
        counts = [np.bincount(ids, minlength=1) for ids in self.ids]
        own = {word for hits in self.hits for word in hits.query.split()}
        rows_of: dict[str, list[int]] = {}
        for which, side in enumerate(self.sides):
            seen = np.flatnonzero(counts[which]).astype(np.int32)
            for row, word in zip(seen.tolist(), side.index.words(seen), strict=True):
                rows_of.setdefault(word, [-1, -1])[which] = row
        totals = [side.index.count_all() for side in self.sides]
        large = max(np.count_nonzero(total) for total in totals) > MANY
        kept = []
        for word, rows in rows_of.items():
            both = [int(counts[i][row]) if row >= 0 else 0 for i, row in enumerate(rows)]
            if sum(both) < min_count or word in own:
                continue
            frequencies = [int(totals[i][row]) if row >= 0 else 0 for i, row in enumerate(rows)]
            sizes = [len(side.index.ids) for side in self.sides]
            share = max(f / size for f, size in zip(frequencies, sizes, strict=True))
            if known is None or is_content(word, share * large, known):
                dice = self._dice(both, frequencies)
                if max(d for d in dice if d is not None) >= MIN_LOG_DICE:
                    kept.append((word, rows, both, frequencies))
        self.words = [word for word, *_ in kept]
        self.counts = np.array([both for _, _, both, _ in kept]).reshape(-1, 2).T
        self.frequencies = [frequencies for *_, frequencies in kept]
        places = [np.full(len(total), -1) for total in totals]
        for number, (_, rows, *_) in enumerate(kept):
            for place, row in zip(places, rows, strict=True):
                if row >= 0:
                    place[row] = number
        return np.array([rows for _, rows, *_ in kept]).reshape(-1, 2).T, places

    def _dice(self, both: Sequence[int], frequencies: Sequence[int]) -> list[float | None]:
        return [
            float(log_dice(np.array(count), len(hits.positions), np.array(frequency)))
            if count else None
            for count, frequency, hits in zip(both, frequencies, self.hits, strict=True)
        ]  # fmt: skip

    def _count(self, places: Sequence[NDArray[np.int64]], number: int) -> UnitCounts:
        """Return the counts of the collocates in the windows of each document or cluster."""
        units = [side.units_of(near) for side, near in zip(self.sides, self.near, strict=True)]
        known, flat = np.unique(np.concatenate(units), return_inverse=True)
        split = np.split(flat, [len(units[0])])
        counts = [
            count_by_unit(ids, unit, place, (number, len(known)))
            for ids, unit, place in zip(self.ids, split, places, strict=True)
        ]
        sizes = np.array([np.bincount(unit, minlength=len(known)) for unit in split], np.float64)
        return UnitCounts(counts, sizes)

    def rows(self, number: int, seed: int) -> Iterator[tuple[Cell, ...]]:
        """Yield a row for each collocate of the first side, then of the second."""
        if not self.words:
            return
        one, other = self.counts.astype(np.float64)
        sizes = [len(near) for near in self.near]
        ratio = log_ratio(one, max(1, sizes[0]), other, max(1, sizes[1]))
        order = np.lexsort((-np.abs(ratio), np.nan_to_num(self.p_values)))
        chosen = [*order[ratio[order] > 0][:number], *order[ratio[order] < 0][:number]]
        at = np.array(chosen, np.intp)
        low = high = np.full(len(at), np.nan)
        if self.units.testable and len(at):
            low, high = self.units.intervals(at, np.random.default_rng(seed))
        for i, row in enumerate(at.tolist()):
            both = self.counts[:, row].tolist()
            numbers = (ratio[row], low[i], high[i], self.p_values[row], self.q_values[row])
            documents = [self._documents(side, int(place)) for side, place in
                         zip(range(2), self.rows_of[:, row], strict=True)]  # fmt: skip
            yield (
                self.words[row], *both, *self._dice(both, self.frequencies[row]),
                *(None if np.isnan(value) else float(value) for value in numbers), *documents,
            )  # fmt: skip

    def _documents(self, which: int, row: int) -> int:
        """Return in how many documents of a side a collocate stands near the word."""
        side: Side = self.sides[which]
        return side.index.count_documents(self.near[which][self.ids[which] == row])
