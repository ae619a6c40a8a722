"""Which words are typical of one corpus against another?"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.columns import COUNTS, WORD
from ctxembed.context.occurrences import corpus_of
from ctxembed.errors import UsageError
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.association import Spread, log_likelihood, log_ratio
from ctxembed.table import Cell, Column, Table, answers
from ctxembed.text.build_index import write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.function_words import MANY, is_content
from ctxembed.text.index import Index
from ctxembed.text.mixture import read_ingredient
from ctxembed.text.tokenizer import Tokenizer

KEYWORDS = (
    WORD,
    Column("key_of", "a or b: the corpus it is typical of", "label"),
    *COUNTS,
    Column("per_million_a", "and of a million words"),
    Column("per_million_b", "in the second"),
    Column("log_likelihood", "Dunning's G²: how sure it is that the rates differ at all"),
    Column("log_ratio", "how much they differ: 1 is twice as often, 2 four times; below 0 for b"),
    Column("documents_a", "documents of the first that have it", "aside"),
    Column("documents_b", "and of the second", "aside"),
    Column(
        "dispersion",
        "documents with it, in the corpus it is typical of, over those that would have it if its"
        " occurrences were dealt out at random: about 1 is spread evenly, near 0 a matter of few",
    ),
)

LIKELIHOOD = [column.name for column in KEYWORDS].index("log_likelihood")
SURE = 15.13  # G² that chance alone exceeds once in 10,000 words


@dataclass(frozen=True)
class Side:
    """A corpus to count in: its index, its words, how often each occurs."""

    index: Index
    words: Sequence[str]
    counts: NDArray[np.int64]  # (words,)
    spread: Spread

    @property
    def tokens(self) -> int:
        """Words in all."""
        return len(self.index.ids)

    def documents(self, row: int) -> int:
        """Count the documents that have a word."""
        if row < 0:
            return 0
        if row < len(self.index.vocab):
            return self.index.count_documents(self.index.positions(row))
        return self.index.count_documents(np.flatnonzero(self.index.ids == row))


@answers(*KEYWORDS)
def keywords(
    a: str | Path | Model | Corpus,
    b: str | Path | Model | Corpus,
    *,
    number: int = 20,
    sort: str = "log_likelihood",
    min_count: int = 5,
    min_documents: int = 2,
    function_words: bool = False,
    encoding: str = "utf-8",
    errors: str = "strict",
    progress: Progress = SILENT,
) -> Table:
    """Compare how often words occur in two corpora: models, or text files and folders.

    sort: log_likelihood, or log_ratio among words whose G² is above 15.13 (p < 0.0001).
    """
    with tempfile.TemporaryDirectory() as work:
        opened = [_open(given, encoding, errors) for given in (a, b)]
        models = (one for one in opened if isinstance(one, Model))
        tokenizer = next((model.vocabulary.tokenizer for model in models), Tokenizer())
        sides = [
            _read(one, tokenizer, Path(work) / str(place), progress)
            for place, one in enumerate(opened)
        ]
        chosen = sort, number, min_count, min_documents, function_words
        rows = list(_compare(sides, *chosen))
    sizes = [f"{side.tokens} words in {len(side.index.documents) - 1} documents" for side in sides]
    notes = [f"a: {sizes[0]}; b: {sizes[1]}"]
    if not rows:
        notes.append("no word is typical of one of them; --all lists function words too")
    doubtful = sum(row[LIKELIHOOD] < SURE for row in rows)  # type: ignore[operator]
    if doubtful:
        notes.append(
            f"{doubtful} of {len(rows)} rows have a log_likelihood below {SURE}: among so many"
            " words, chance does that too"
        )
    return Table(KEYWORDS, rows, notes)


def _open(given: str | Path | Model | Corpus, encoding: str, errors: str) -> Model | Corpus:
    """Open what is a model, or was one; all else is a corpus."""
    if isinstance(given, Model | Corpus):
        return given
    was_model = any((Path(given) / name).exists() for name in ("model.json", "vectors.npy"))
    if was_model:
        return open_model(given)
    return Corpus([str(given)], encoding=encoding, errors=errors)


def _read(given: Model | Corpus, tokenizer: Tokenizer, folder: Path, progress: Progress) -> Side:
    """Take the corpus of a model, or read one into a folder."""
    if isinstance(given, Model):
        index = corpus_of(given)
    elif tokenizer.unit != "word":
        raise UsageError(f"a model of {tokenizer.unit}s can be compared with another model only")
    else:
        index = read_ingredient(given, tokenizer, folder, progress).index
    counts = index.count_all()
    if isinstance(given, Corpus):
        write_occurrences(folder, counts)
    words = [*index.vocab, *index.rare] if len(counts) > len(index.vocab) else list(index.vocab)
    return Side(index, words, counts, Spread(np.diff(index.documents)))


def _compare(
    sides: Sequence[Side],
    sort: str,
    number: int,
    min_count: int,
    min_documents: int,
    function_words: bool,
) -> Iterator[tuple[Cell, ...]]:
    """Yield the words that are typical of the first corpus, then those of the second."""
    found: dict[str, list[int]] = {}  # word -> its row in either corpus, -1 for none
    for which, side in enumerate(sides):
        for row in np.flatnonzero(side.counts > 0).tolist():
            found.setdefault(side.words[row], [-1, -1])[which] = row
    words, places = list(found), np.array(list(found.values()), np.int64).reshape(-1, 2).T  # (2, n)
    counts = np.array([np.where(p < 0, 0, s.counts[p]) for p, s in zip(places, sides, strict=True)])
    (one, other), sizes = counts.astype(np.float64), [side.tokens for side in sides]
    likelihood = log_likelihood(one, sizes[0], other, sizes[1])  # (n,)
    ratio = log_ratio(one, sizes[0], other, sizes[1])
    score = likelihood if sort == "log_likelihood" else np.abs(ratio)
    often = counts.sum(axis=0) >= min_count
    large = np.count_nonzero(often) > MANY
    asked = often & (likelihood > SURE) if sort == "log_ratio" else often
    for which, side in enumerate(sides):
        mine = np.flatnonzero(asked & (ratio < 0 if which else ratio > 0))
        left = number
        for row in mine[np.argsort(-score[mine], kind="stable")].tolist():
            count = counts[:, row].tolist()
            share = count[which] / side.tokens if large else 0.0
            if not (function_words or is_content(words[row], share)):
                continue
            documents = [
                s.documents(p) for s, p in zip(sides, places[:, row].tolist(), strict=True)
            ]
            if documents[which] < min_documents:
                continue
            yield (
                words[row], "ab"[which], *count,
                *(1e6 * times / size for times, size in zip(count, sizes, strict=True)),
                float(likelihood[row]), float(ratio[row]),
                *documents, side.spread.of(count[which], documents[which]),
            )  # fmt: skip
            left -= 1
            if not left:
                break
