"""Which words are typical of one corpus against another?"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.ask.association import Spread, log_likelihood, log_ratio
from ctxembed.ask.columns import COUNTS, WORD
from ctxembed.context.occurrences import corpus_of
from ctxembed.errors import UsageError
from ctxembed.progress import SILENT, Progress
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.store.places import open_model
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
        "documents with it, in the corpus it is typical of, as a share of those that would have it"
        " if its occurrences were dealt out at random; near 0 is a matter of few documents",
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
    progress: Progress = SILENT,
) -> Table:
    """Compare how often words occur in two corpora: models, or text files and folders.

    sort: log_likelihood, or log_ratio among words whose G² is above 15.13 (p < 0.0001).
    """
    with tempfile.TemporaryDirectory() as work:
        models = [_open_model(given) for given in (a, b)]
        tokenizer = next((model.tokenizer for model in models if model), Tokenizer())
        sides = [
            _side(corpus_of(model))
            if model
            else _read(given, tokenizer, Path(work) / str(place), progress)
            for place, (model, given) in enumerate(zip(models, (a, b), strict=True))
        ]
        table = _Compared.of(sides[0], sides[1], min_count)
        rows = [
            row
            for typical in (True, False)
            for row in table.rows(typical, sort, number, min_documents, function_words)
        ]
    sizes = [f"{side.tokens} words in {len(side.index.documents) - 1} documents" for side in sides]
    notes = [f"a: {sizes[0]}; b: {sizes[1]}"]
    doubtful = sum(row[LIKELIHOOD] < SURE for row in rows)  # type: ignore[operator]
    if doubtful:
        notes.append(
            f"{doubtful} of {len(rows)} rows have a log_likelihood below {SURE}: among so many"
            " words, chance does that too"
        )
    return Table(KEYWORDS, rows, notes)


def _open_model(given: str | Path | Model | Corpus) -> Model | None:
    """Open what is a model, or was one; a corpus is none."""
    files = ("model.json", "vectors.npy")
    if isinstance(given, str | Path) and any((Path(given) / name).exists() for name in files):
        return open_model(given)
    return given if isinstance(given, Model) else None


def _read(
    given: str | Path | Model | Corpus, tokenizer: Tokenizer, folder: Path, progress: Progress
) -> Side:
    """Read a corpus into a folder."""
    assert not isinstance(given, Model)
    corpus = given if isinstance(given, Corpus) else Corpus([str(given)])
    if tokenizer.unit != "word":
        raise UsageError(f"a model of {tokenizer.unit}s can be compared with another model only")
    side = _side(read_ingredient(corpus, tokenizer, folder, progress).index)
    write_occurrences(folder, side.counts)
    return side


def _side(index: Index) -> Side:
    counts = index.count_all()
    words = [*index.vocab, *index.rare] if len(counts) > len(index.vocab) else list(index.vocab)
    return Side(index, words, counts, Spread(np.diff(index.documents)))


@dataclass(frozen=True)
class _Compared:
    """The words of two corpora, in one order."""

    a: Side
    b: Side
    words: Sequence[str]
    places: NDArray[np.int64]  # (n, 2) the row of each in either corpus, -1 for none
    counts: NDArray[np.int64]  # (n, 2)
    likelihood: Floats  # (n,)
    ratio: Floats  # (n,)

    @classmethod
    def of(cls, a: Side, b: Side, min_count: int) -> "_Compared":
        """Count the words of both that occur often enough."""
        rows: dict[str, list[int]] = {}
        for place, side in enumerate((a, b)):
            for row in np.flatnonzero(side.counts > 0).tolist():
                rows.setdefault(side.words[row], [-1, -1])[place] = row
        places = np.array(list(rows.values()), np.int64).reshape(-1, 2)
        counts = np.stack(
            [
                np.where(places[:, i] < 0, 0, side.counts[places[:, i]])
                for i, side in enumerate((a, b))
            ],
            axis=1,
        )
        enough = counts.sum(axis=1) >= min_count
        words = [word for word, keep in zip(rows, enough.tolist(), strict=True) if keep]
        counts, places = counts[enough], places[enough]
        sizes = a.tokens, b.tokens
        one, other = counts[:, 0].astype(float), counts[:, 1].astype(float)
        return cls(
            a, b, words, places, counts,
            log_likelihood(one, sizes[0], other, sizes[1]),
            log_ratio(one, sizes[0], other, sizes[1]),
        )  # fmt: skip

    def rows(
        self, first: bool, sort: str, number: int, min_documents: int, function_words: bool
    ) -> Iterator[tuple[Cell, ...]]:
        """Yield the words that are typical of the first corpus, or of the second."""
        mine = self.ratio > 0 if first else self.ratio < 0
        if sort == "log_ratio":
            mine &= self.likelihood > SURE
        score = self.likelihood if sort == "log_likelihood" else np.abs(self.ratio)
        order = np.flatnonzero(mine)
        order = order[np.argsort(-score[order], kind="stable")]
        side = self.a if first else self.b
        sizes = self.a.tokens, self.b.tokens
        for row in order.tolist():
            word, counts = self.words[row], self.counts[row].tolist()
            own = counts[0 if first else 1]
            share = own / side.tokens if len(self.words) > MANY else 0.0
            if not (function_words or is_content(word, share)):
                continue
            documents = [
                one.documents(int(place))
                for one, place in zip((self.a, self.b), self.places[row], strict=True)
            ]
            here = documents[0 if first else 1]
            if here < min_documents:
                continue
            yield (
                word, "a" if first else "b", *counts,
                *(1e6 * count / size for count, size in zip(counts, sizes, strict=True)),
                float(self.likelihood[row]), float(self.ratio[row]),
                *documents, side.spread.of(own, here),
            )  # fmt: skip
            number -= 1
            if not number:
                break
