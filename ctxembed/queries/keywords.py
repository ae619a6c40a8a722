"""Answer `keywords`: the words that are typical of one corpus against another."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.columns import COUNTS, WORD
from ctxembed.context.occurrences import corpus_of
from ctxembed.context.sides import choose_sides, describe_repeats
from ctxembed.errors import UsageError
from ctxembed.model.bundled import BUNDLED, find_corpus, open_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.association import Spread, log_likelihood, log_ratio
from ctxembed.stats.many_tests import SIGNIFICANT, benjamini_hochberg
from ctxembed.stats.rate_test import UnitCounts, count_by_unit
from ctxembed.table import Chart, Column, Table, answers
from ctxembed.text.build_index import write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.function_words import stop_words
from ctxembed.text.index import Index
from ctxembed.text.sampling import read_index
from ctxembed.text.tokenizer import MANY, Tokenizer, is_content

KEYWORDS = (
    WORD, Column("key_of", "a or b: the corpus it is typical of", "label"), *COUNTS,
    Column("per_million_a", "and of a million words"), Column("per_million_b", "in the second"),
    Column("log_likelihood", "Dunning's G²: how sure it is that the rates differ at all, if words"
           " were independent of each other"),
    Column("log_ratio", "how much they differ: 1 is twice as often, 2 four times; below 0 for b"),
    Column("low", "lower end of its 95 % bootstrap interval, documents resampled", "aside"),
    Column("high", "upper end", "aside"),
    Column("p_value", "share of permutations of whole documents in which the rates differ at least"
           " as much", "aside"),
    Column("q_value", "p_value adjusted for all words: of the words up to this one, the share that"
           " are false alarms is expected to be at most this", "chance"),
    Column("documents_a", "documents of the first that have it", "aside"),
    Column("documents_b", "and of the second", "aside"),
    Column("dispersion", "documents with it, in the corpus it is typical of, over those that would"
           " have it if its occurrences were spread at random: about 1 is spread evenly, near 0"
           " in few documents"),
)  # fmt: skip
BARS = Chart(
    "dots", ["log_ratio"], label=["word"], series=["key_of"], low="low", high="high",
    title="words typical of a (above 0) and b (below 0), log2 of the ratio of their rates",
)  # fmt: skip
Q_VALUE = 11  # number of its column
CHUNK_SIZE = 1 << 22  # words counted by document at once
Source = str | Path | Model | Corpus


@dataclass(frozen=True, eq=False)
class Counted:
    """A corpus to count in: its index, its words, how often each occurs."""

    index: Index
    words: Sequence[str]
    counts: NDArray[np.int64]  # (words,)
    units: NDArray[np.int64]  # (D,) the document or cluster of each document

    @cached_property
    def spread(self) -> Spread:
        """The sizes of its documents."""
        return Spread(np.diff(self.index.documents))

    def documents(self, row: int) -> int:
        """Return the number of documents that have a word; 0 for row -1."""
        if row < 0:
            return 0
        index, is_rare = self.index, row >= len(self.index.vocab)
        positions = np.flatnonzero(index.ids == row) if is_rare else index.positions(row)
        return index.count_documents(positions)

    def count_by_unit(self, rows: NDArray[np.int64], number: int, units: int) -> Any:
        """Return sparse counts (number, units); rows: (words,) row of each word there, or -1."""
        owners = np.repeat(self.units, np.diff(self.index.documents))
        total: Any = 0
        for first in range(0, len(owners), CHUNK_SIZE):
            some = slice(first, first + CHUNK_SIZE)
            total += count_by_unit(self.index.ids[some], owners[some], rows, (number, units))
        return total


@answers(*KEYWORDS)
def keywords(
    a: Source, b: Source | None = None, *, by: str | None = None, cluster: str | None = None,
    number: int = 20, sort: str = "log_likelihood", min_count: int = 5, min_documents: int = 2,
    function_words: bool = False, stopwords: str | None = None, permutations: int = 999,
    seed: int = 1, encoding: str = "utf-8",
    errors: str = "strict", progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the words typical of each of two corpora: models, or text files and folders.

    by: compare two groups of the documents of one model, such as party=Rep,Dem.
    cluster: a column of the metadata; documents with one value of it are permuted together.
    sort: log_likelihood, or log_ratio among words with a q_value up to 0.05.
    """
    names, repeats = ("a", "b"), list[str]()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        if by is not None or cluster is not None:
            one, other = (
                None if source is None else _open(source, encoding, errors) for source in (a, b)
            )
            if isinstance(one, Corpus) or isinstance(other, Corpus) or one is None:
                raise UsageError("--by and --cluster need models: index the texts with --meta")
            pair = choose_sides(one, other, by, cluster)
            repeats = [] if cluster else describe_repeats(pair)
            names = (f"a ({pair[0].name})", f"b ({pair[1].name})")
            sides = [_count(side.index, side.units) for side in pair]
        elif b is None:
            raise UsageError("give two corpora, or one model and --by COLUMN=A,B")
        else:
            sides = _read_both(a, b, Path(work), encoding, errors, progress)
        tested, rows = _compare(
            sides, sort, number, min_count, min_documents, function_words, stopwords,
            permutations, seed, progress,
        )  # fmt: skip
        sizes = [
            f"{len(s.index.ids)} words in {len(s.index.documents) - 1} documents" for s in sides
        ]
    notes = [f"{names[0]}: {sizes[0]}; {names[1]}: {sizes[1]}", *repeats]
    if not rows:
        notes.append("no word is typical of one of them; --all lists function words too")
    elif rows[0][Q_VALUE] is None:
        notes.append("a corpus has fewer than two documents: nothing to permute, no p_value")
    else:
        sure = sum(row[Q_VALUE] <= SIGNIFICANT for row in rows)
        notes.append(f"{sure} of {len(rows)} rows have a q_value up to {SIGNIFICANT}, adjusted for"
                     f" {tested} words")  # fmt: skip
    return Table(KEYWORDS, rows, notes, chart=BARS)


def _read_both(
    a: Source, b: Source, work: Path, encoding: str, errors: str, progress: Progress
) -> list[Counted]:
    """Return two corpora, split into words alike; texts are indexed in a folder."""
    opened = [_open(source, encoding, errors) for source in (a, b)]
    models = (source for source in opened if isinstance(source, Model))
    tokenizer = next((model.vocabulary.tokenizer for model in models), Tokenizer())
    pairs = zip(opened, (work / "a", work / "b"), strict=True)
    sides = [_read(source, tokenizer, folder, progress) for source, folder in pairs]
    first = sides[0].units
    return [sides[0], replace(sides[1], units=sides[1].units + len(first))]


def _open(source: Source, encoding: str, errors: str) -> Model | Corpus:
    """Open a model, if it is a bundled one or its folder has a file of one, or else a corpus."""
    if isinstance(source, Model | Corpus):
        return source
    bundled = str(source) in BUNDLED and not Path(source).exists()
    if bundled or any((Path(source) / name).exists() for name in ("model.json", "vectors.npy")):
        return open_model(source)
    return Corpus([find_corpus(str(source))], encoding=encoding, errors=errors)


def _read(
    source: Model | Corpus, tokenizer: Tokenizer, folder: Path, progress: Progress
) -> Counted:
    """Return the corpus of a model, or read a corpus into a folder."""
    if isinstance(source, Model):
        index = corpus_of(source)
    elif tokenizer.unit != "word":
        raise UsageError(f"a model of {tokenizer.unit}s can be compared with another model only")
    else:
        index = read_index(source, tokenizer, folder, progress)
    side = _count(index, np.arange(len(index.documents) - 1))
    if isinstance(source, Corpus):
        write_occurrences(folder, side.counts)
    return side


def _count(index: Index, units: NDArray[np.int64]) -> Counted:
    """Return an index with its words and their counts."""
    counts = index.count_all()
    words = [*index.vocab, *index.rare] if len(counts) > len(index.vocab) else list(index.vocab)
    return Counted(index, words, counts, units)


def _compare(
    sides: Sequence[Counted], sort: str, number: int, min_count: int, min_documents: int,
    function_words: bool, stopwords: str | None, permutations: int, seed: int, progress: Progress,
) -> tuple[int, list[tuple[Any, ...]]]:  # fmt: skip
    """Return how many words were tested, and a row for each word typical of a, then of b."""
    rows_of: dict[str, list[int]] = {}  # word -> its row in either corpus, -1 for none
    for which, side in enumerate(sides):
        for row in np.flatnonzero(side.counts > 0).tolist():
            rows_of.setdefault(side.words[row], [-1, -1])[which] = row
    words = list(rows_of)
    columns = np.array(list(rows_of.values()), np.int64).reshape(-1, 2).T  # (2, n)
    pairs = zip(columns, sides, strict=True)
    counts = np.array([np.where(rows < 0, 0, side.counts[rows]) for rows, side in pairs])
    sizes = [len(side.index.ids) for side in sides]
    frequent = counts.sum(axis=0) >= min_count
    large = np.count_nonzero(frequent) > MANY
    frequency = (counts / np.maximum(1, sizes)[:, None]).max(axis=0) * large
    known = stop_words(sides[0].words, path=stopwords)
    kept = [
        i for i in np.flatnonzero(frequent).tolist()
        if function_words or is_content(words[i], float(frequency[i]), known)
    ]  # fmt: skip
    words, columns, counts = [words[i] for i in kept], columns[:, kept], counts[:, kept]
    one, other = counts.astype(np.float64)
    likelihood = log_likelihood(one, sizes[0], other, sizes[1])  # (n,)
    ratio = log_ratio(one, sizes[0], other, sizes[1])
    units = _by_unit(sides, columns)
    p_values = q_values = np.full(len(words), np.nan)
    if units.testable and words:
        p_values = units.p_values(permutations, np.random.default_rng(seed), progress)
        q_values = benjamini_hochberg(p_values)
    candidates = ~(q_values > SIGNIFICANT) if sort == "log_ratio" else np.ones(len(words), np.bool_)
    score, chosen = likelihood if sort == "log_likelihood" else np.abs(ratio), []
    for which, side in enumerate(sides):
        mine = np.flatnonzero(candidates & (ratio < 0 if which else ratio > 0))
        left = number
        for row in mine[np.argsort(-score[mine], kind="stable")].tolist():
            documents = [s.documents(int(columns[i, row])) for i, s in enumerate(sides)]
            if left and documents[which] >= min_documents:
                spread = side.spread.of(int(counts[which, row]), documents[which])
                chosen.append((row, "ab"[which], documents, spread))
                left -= 1
            if not left:
                break
    rows = np.array([row for row, *_ in chosen], np.intp)
    low = high = np.full(len(rows), np.nan)
    if units.testable and len(rows):
        low, high = units.intervals(rows, np.random.default_rng(seed))
    table = [
        (
            words[row], key, *counts[:, row].tolist(),
            *(1e6 * counts[:, row] / np.maximum(1, sizes)).tolist(),
            float(likelihood[row]), float(ratio[row]), *map(_number, (low[i], high[i])),
            *map(_number, (p_values[row], q_values[row])), *documents, spread,
        )
        for i, (row, key, documents, spread) in enumerate(chosen)
    ]  # fmt: skip
    return len(words), table


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _by_unit(sides: Sequence[Counted], columns: NDArray[np.int64]) -> UnitCounts:
    """Return the counts of words by unit; columns (2, n): the rows of the words on each side."""
    number = 1 + max((int(side.units.max(initial=-1)) for side in sides), default=-1)
    counts, sizes = [], np.zeros((2, number))
    for which, (side, rows) in enumerate(zip(sides, columns, strict=True)):
        place = np.full(len(side.words), -1)
        known = rows >= 0
        place[rows[known]] = np.flatnonzero(known)
        counts.append(side.count_by_unit(place, columns.shape[1], number))
        np.add.at(sizes[which], side.units, np.diff(side.index.documents))
    used = sizes.sum(axis=0) > 0
    return UnitCounts([count.tocsc()[:, used].tocsr() for count in counts], sizes[:, used])
