"""Answer `keywords`: the words that are typical of one corpus against another."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.columns import COUNTS, WORD
from ctxembed.context.occurrences import corpus_of
from ctxembed.errors import UsageError
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.association import Spread, log_likelihood, log_ratio
from ctxembed.table import Column, Table, answers
from ctxembed.text.build_index import write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.sampling import read_index
from ctxembed.text.tokenizer import MANY, Tokenizer, is_content

KEYWORDS = (
    WORD, Column("key_of", "a or b: the corpus it is typical of", "label"), *COUNTS,
    Column("per_million_a", "and of a million words"), Column("per_million_b", "in the second"),
    Column("log_likelihood", "Dunning's G²: how sure it is that the rates differ at all"),
    Column("log_ratio", "how much they differ: 1 is twice as often, 2 four times; below 0 for b"),
    Column("documents_a", "documents of the first that have it", "aside"),
    Column("documents_b", "and of the second", "aside"),
    Column("dispersion", "documents with it, in the corpus it is typical of, over those that would"
           " have it if its occurrences were spread at random: about 1 is spread evenly, near 0"
           " in few documents"),
)  # fmt: skip
SIGNIFICANT = 15.13  # G² that chance alone exceeds once in 10,000 words
LIKELIHOOD = 6  # number of its column
Source = str | Path | Model | Corpus


@dataclass(frozen=True)
class Side:
    """A corpus to count in: its index, its words, how often each occurs."""

    index: Index
    words: Sequence[str]
    counts: NDArray[np.int64]  # (words,)
    spread: Spread

    def documents(self, row: int) -> int:
        """Return the number of documents that have a word; 0 for row -1."""
        if row < 0:
            return 0
        index, is_rare = self.index, row >= len(self.index.vocab)
        positions = np.flatnonzero(index.ids == row) if is_rare else index.positions(row)
        return index.count_documents(positions)


@answers(*KEYWORDS)
def keywords(
    a: Source, b: Source, *, number: int = 20, sort: str = "log_likelihood", min_count: int = 5,
    min_documents: int = 2, function_words: bool = False, encoding: str = "utf-8",
    errors: str = "strict", progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the words typical of each of two corpora: models, or text files and folders.

    sort: log_likelihood, or log_ratio among words whose G² is above 15.13 (p < 0.0001).
    """
    with tempfile.TemporaryDirectory() as work:
        opened = [_open(source, encoding, errors) for source in (a, b)]
        models = (source for source in opened if isinstance(source, Model))
        tokenizer = next((model.vocabulary.tokenizer for model in models), Tokenizer())
        pairs = zip(opened, (Path(work) / "a", Path(work) / "b"), strict=True)
        sides = [_read(source, tokenizer, folder, progress) for source, folder in pairs]
        rows = list(_compare(sides, sort, number, min_count, min_documents, function_words))
    indexes = [side.index for side in sides]
    sizes = [f"{len(i.ids)} words in {len(i.documents) - 1} documents" for i in indexes]
    notes = [f"a: {sizes[0]}; b: {sizes[1]}"]
    if not rows:
        notes.append("no word is typical of one of them; --all lists function words too")
    doubtful = sum(row[LIKELIHOOD] < SIGNIFICANT for row in rows)
    if doubtful:
        low = f"{doubtful} of {len(rows)} rows have a log_likelihood below {SIGNIFICANT}"
        notes.append(f"{low}: among so many words, chance does that too")
    return Table(KEYWORDS, rows, notes)


def _open(source: Source, encoding: str, errors: str) -> Model | Corpus:
    """Open a model, if the folder has a file of one, or else a corpus."""
    if isinstance(source, Model | Corpus):
        return source
    if any((Path(source) / name).exists() for name in ("model.json", "vectors.npy")):
        return open_model(source)
    return Corpus([str(source)], encoding=encoding, errors=errors)


def _read(source: Model | Corpus, tokenizer: Tokenizer, folder: Path, progress: Progress) -> Side:
    """Return the corpus of a model, or read a corpus into a folder."""
    if isinstance(source, Model):
        index = corpus_of(source)
    elif tokenizer.unit != "word":
        raise UsageError(f"a model of {tokenizer.unit}s can be compared with another model only")
    else:
        index = read_index(source, tokenizer, folder, progress)
    counts = index.count_all()
    if isinstance(source, Corpus):
        write_occurrences(folder, counts)
    words = [*index.vocab, *index.rare] if len(counts) > len(index.vocab) else list(index.vocab)
    return Side(index, words, counts, Spread(np.diff(index.documents)))


def _compare(
    sides: Sequence[Side], sort: str, number: int, min_count: int, min_documents: int,
    function_words: bool,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """Yield a row for each word typical of the first corpus, then of the second."""
    rows_of: dict[str, list[int]] = {}  # word -> its row in either corpus, -1 for none
    for which, side in enumerate(sides):
        for row in np.flatnonzero(side.counts > 0).tolist():
            rows_of.setdefault(side.words[row], [-1, -1])[which] = row
    words = list(rows_of)
    columns = np.array(list(rows_of.values()), np.int64).reshape(-1, 2).T  # (2, n)
    pairs = zip(columns, sides, strict=True)
    counts = np.array([np.where(rows < 0, 0, side.counts[rows]) for rows, side in pairs])
    (one, other), sizes = counts.astype(np.float64), [len(side.index.ids) for side in sides]
    likelihood = log_likelihood(one, sizes[0], other, sizes[1])  # (n,)
    ratio = log_ratio(one, sizes[0], other, sizes[1])
    score = likelihood if sort == "log_likelihood" else np.abs(ratio)
    frequent = counts.sum(axis=0) >= min_count
    large = np.count_nonzero(frequent) > MANY
    candidates = frequent & (likelihood > SIGNIFICANT) if sort == "log_ratio" else frequent
    for which, side in enumerate(sides):
        mine = np.flatnonzero(candidates & (ratio < 0 if which else ratio > 0))
        left = number
        for row in mine[np.argsort(-score[mine], kind="stable")].tolist():
            count = counts[:, row].tolist()
            frequency = count[which] / sizes[which] if large else 0.0
            if not (function_words or is_content(words[row], frequency)):
                continue
            documents = [s.documents(int(columns[i, row])) for i, s in enumerate(sides)]
            if documents[which] < min_documents:
                continue
            yield (
                words[row], "ab"[which], *count, 1e6 * count[0] / sizes[0],
                1e6 * count[1] / sizes[1], float(likelihood[row]), float(ratio[row]), *documents,
                side.spread.of(count[which], documents[which]),
            )  # fmt: skip
            left -= 1
            if not left:
                break
