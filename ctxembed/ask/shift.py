"""How does a word's meaning differ between two corpora?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.ask.induce import SenseSpace, cluster, usual_spread
from ctxembed.attention.starts import general
from ctxembed.context.occurrences import corpus_of, read, sample
from ctxembed.context.representations import Attention
from ctxembed.errors import ModelError, UnknownWordError
from ctxembed.progress import Progress
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model
from ctxembed.store.places import as_model, on_model
from ctxembed.table import Cell, Chart, Column, Table, round_to_total

SHIFT = (
    Column("rank", "by static, or by distance beyond chance with --by usage; 1 has moved most"),
    Column("word", "the word", "label"),
    Column("count_a", "how often the first corpus has it", "aside"),
    Column("count_b", "how often the second has it", "aside"),
    Column("static", "distance: 1 - cosine of its two static vectors after alignment"),
    Column(
        "distance",
        "length of the difference of its mean contextual vectors in the two corpora",
    ),
    Column(
        "chance",
        "the same for occurrences dealt out to the corpora at random: the baseline",
        "aside",
    ),
    Column("p_value", "share of random deals with at least this distance"),
    Column("from_shares", "the part of distance that comes from other shares of the senses"),
    Column("from_senses", "the rest: the senses themselves are used in other contexts"),
    Column("shares_a", "percent of each sense in the first corpus, the largest first", "text"),
    Column("shares_b", "and in the second", "text"),
)
DOTS = (
    Chart("dots", ["static"], label=["word"], title="distance of the static vectors"),
    Chart(
        "dots",
        ["distance", "chance"],
        label=["word"],
        title="distance of how the words are used, beside chance",
    ),
)
SHARES = Chart(
    "bars",
    ["percent"],
    label=["corpus"],
    series=["sense"],
    panel=["word"],
    stacked=True,
    domain=(0, 100),
    title="percent of each sense in the two corpora",
)
FEWEST = 5  # occurrences in each corpus; below this nothing can be said of senses


@dataclass(frozen=True)
class Aligned:
    """Two models in one space: the words they share, and the rotation that fits them best."""

    a: Model
    b: Model
    rows_a: NDArray[np.intp]  # (n,) rows of the shared words in each model
    rows_b: NDArray[np.intp]
    min_count: int = 1

    @cached_property
    def turned(self) -> Floats:
        """(n, d) static vectors of the first model, length 1, turned into the second's space."""
        units = self.a.units[self.rows_a].astype(np.float64)
        return units @ rotation(units, self.b.units[self.rows_b])

    @cached_property
    def distances(self) -> Floats:
        """(n,) 1 - cosine of each word's two static vectors."""
        cosines = np.einsum("nd,nd->n", self.turned, self.b.units[self.rows_b])
        return np.asarray(1 - np.clip(cosines, -1, 1))

    @cached_property
    def attention(self) -> Attention:
        """General attention over one table for both corpora: the mean of the models' vectors."""
        inputs = unit(self.turned + self.b.units[self.rows_b])
        frequency = (
            self.a.counts[self.rows_a] / self.a.tokens + self.b.counts[self.rows_b] / self.b.tokens
        ) / 2
        return Attention("general", inputs, general("cosine", self.b.dim, frequency=frequency))

    @cached_property
    def shared(self) -> list[NDArray[np.intp]]:
        """For each model, row to place among the shared words (V,); -1 where it is not shared."""
        places = []
        for model, rows in ((self.a, self.rows_a), (self.b, self.rows_b)):
            place = np.full(len(model.vocab), -1)
            place[rows] = np.arange(len(rows))
            places.append(place)
        return places

    @cached_property
    def places(self) -> dict[str, int]:
        """Shared word to its place among them."""
        return {self.a.vocab[row]: place for place, row in enumerate(self.rows_a)}

    def place(self, word: str) -> int:
        """Return the place of a word that must be shared."""
        place = self.places.get(word, self.places.get(self.a.tokenizer.normalise(word)))
        if place is None:
            for model in (self.a, self.b):
                if model.find(word) is None:
                    raise UnknownWordError(f"{model.path}: {model.unknown(word)}")
            raise UnknownWordError(
                f"{word!r} does not occur {self.min_count} times in both corpora; try --min-count 1"
            )
        return place

    def keep_known(self, words: Sequence[str]) -> tuple[list[int], list[str]]:
        """Return the places of the words both share, and what to say of the others."""
        known: list[int] = []
        unknown: list[str] = []
        for word in words:
            try:
                known.append(self.place(word))
            except UnknownWordError as error:
                unknown.append(str(error))
        if unknown and not known:
            raise UnknownWordError("\n".join(unknown))
        return known, unknown

    @cached_property
    def space(self) -> SenseSpace:
        """Where occurrences are told apart: one step is the usual spread of a word in a corpus."""
        rng = np.random.default_rng(1)
        drawn = rng.choice(len(self.rows_a), min(200, len(self.rows_a)), replace=False)
        groups = [self.vectors(side, int(word), 6, rng) for word in drawn for side in (0, 1)]
        matrix, usual = usual_spread(groups)
        return SenseSpace(self.attention, matrix, usual=usual)

    def vectors(self, side: int, word: int, most: int, rng: np.random.Generator) -> Floats:
        """Return (n, d) contextual vectors, of length 1, of a shared word in one of the corpora."""
        model, rows = ((self.a, self.rows_a), (self.b, self.rows_b))[side]
        shared = self.shared[side]
        places = sample(corpus_of(model).positions(int(rows[word])), most, rng)
        vectors: Floats = np.empty((len(places), self.b.dim))
        for batch in read(model, places):
            ids = shared[batch.ids]
            known = replace(batch, ids=np.maximum(ids, 0), mask=batch.mask & (ids >= 0))
            vectors[batch.rows] = self.attention.embed(known)
        return unit(vectors)


def rotation(x: Floats, y: Floats) -> Floats:
    """Return the orthogonal matrix R (d, d) for which x R comes nearest to y (n, d).

    >>> quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> x = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> rotation(x, x @ quarter).round(6) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    u, _, vt = np.linalg.svd(np.asarray(x, np.float64).T @ y)
    return np.asarray(u @ vt)


def align(a: Model, b: Model, min_count: int = 5) -> Aligned:
    """Find the words that both models have seen often enough."""
    for model in (a, b):
        corpus_of(model)
    if a.dim != b.dim:
        raise ModelError(
            f"{a.path} has {a.dim} dimensions and {b.path} {b.dim}; train both with the same --dim"
        )
    pairs = [
        (row, b.rows[word])
        for row, word in enumerate(a.vocab)
        if word in b.rows and min(a.counts[row], b.counts[b.rows[word]]) >= min_count
    ]
    if len(pairs) < a.dim:
        raise ModelError(
            f"{a.path} and {b.path} share {len(pairs)} words that occur {min_count} times in both;"
            f" {a.dim} dimensions need at least {a.dim} (a lower --min-count or --dim may do)"
        )
    rows_a, rows_b = np.array(pairs, np.intp).T
    return Aligned(a, b, rows_a, rows_b, min_count)


@on_model(*SHIFT)
def shift(
    model_a: Model,
    model_b: Model | str | Path,
    words: str | Sequence[str] = (),
    *,
    min_count: int = 5,
    by: str = "static",
    number: int = 20,
    senses: int | None = None,
    most: int = 1000,
    permutations: int = 999,
    seed: int = 1,
    progress: Progress | None = None,
) -> Table:
    """Measure how far words have shifted, the words given or those that shifted most.

    senses=None finds how many each word has.
    """
    b = as_model(model_b)
    aligned, a = align(model_a, b, min_count), model_a
    progress = progress or Progress()
    known, unknown = aligned.keep_known([words] if isinstance(words, str) else words)
    moved = usage(aligned, most, seed, progress) if by == "usage" else aligned.distances
    order = np.lexsort((aligned.rows_a, -moved.round(9)))  # ties: the more frequent word first
    rank = np.argsort(order) + 1
    asked = known or order[:number].tolist()
    rows: list[tuple[Cell, ...]] = []
    with progress.stage("words", len(asked), "word") as stage:
        for word in asked:
            row_a, row_b = aligned.rows_a[word], aligned.rows_b[word]
            cells = (int(rank[word]), a.vocab[row_a], int(a.counts[row_a]), int(b.counts[row_b]))
            split = measure(aligned, word, senses, most, permutations, seed)
            rows.append((*cells, float(aligned.distances[word]), *split))
            stage.advance()
    notes = list(_notes(rows, len(order), ranked_by_static=by == "static" and not words))
    names = [model.path.name for model in (a, b)]
    return Table(SHIFT, rows, notes, unknown, [*DOTS, replace(SHARES, of=_shares(rows, names))])


def usage(aligned: Aligned, most: int, seed: int, progress: Progress) -> Floats:
    """Return (n,) how much farther apart the two corpora use each word than chance would have it.

    By chance E|D|² = v N / (N - 1) (1/n + 1/m), v the variance of all N = n + m occurrences.
    """
    excess = np.zeros(len(aligned.rows_a))
    with progress.stage("usage", len(excess), "word") as stage:
        for word in range(len(excess)):
            rng = np.random.default_rng(seed)
            x, y = (aligned.vectors(side, word, most, rng) for side in (0, 1))
            stage.advance()
            if min(len(x), len(y)) < FEWEST:
                continue
            pooled = np.concatenate([x, y])
            variance = float(pooled.var(axis=0).sum()) * len(pooled) / (len(pooled) - 1)
            chance = np.sqrt(variance * (1 / len(x) + 1 / len(y)))
            excess[word] = float(np.linalg.norm(y.mean(axis=0) - x.mean(axis=0))) - chance
    return excess


def measure(
    aligned: Aligned, word: int, senses: int | None, most: int, permutations: int, seed: int
) -> tuple[Cell, ...]:
    """Return distance, chance, p-value, what shares and senses explain, and the shares."""
    rng = np.random.default_rng(seed)
    x, y = (aligned.vectors(side, word, most, rng) for side in (0, 1))
    if min(len(x), len(y)) < FEWEST:
        return (None,) * 7
    distance, chance, p_value = permute(x, y, permutations, rng)
    labels = group(np.concatenate([x, y]), aligned, senses, seed)
    from_shares, from_senses, shares = split(x, y, labels)
    told = (" ".join(round_to_total((100 * side).tolist(), 0)) for side in shares)
    return (distance, chance, p_value, from_shares, from_senses, *told)


def permute(
    x: Floats, y: Floats, permutations: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return |mean y - mean x|, its mean when occurrences change corpora at random, and p."""
    pooled = np.concatenate([x, y])
    distance = float(np.linalg.norm(y.mean(axis=0) - x.mean(axis=0)))
    total, n, m = pooled.sum(axis=0), len(x), len(y)
    by_chance = np.empty(permutations)
    for i in range(permutations):
        taken = pooled[rng.permutation(n + m)[:n]].sum(axis=0)
        by_chance[i] = np.linalg.norm((total - taken) / m - taken / n)
    p_value = (1 + np.count_nonzero(by_chance >= distance * (1 - 1e-12))) / (1 + permutations)
    return distance, float(by_chance.mean()), float(p_value)


def split(x: Floats, y: Floats, labels: NDArray[np.intp]) -> tuple[float, float, Floats]:
    """Split |mean y - mean x| into what sense shares explain and what the senses themselves do.

    With shares p and q and sense means m and n, the difference of the means is exactly
    Σ (q - p) (m + n) / 2  +  Σ (p + q) / 2 (n - m); each part is measured along the whole.
    A sense that one corpus lacks has not changed: all it does is a matter of shares.

    >>> x, y = np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([[1.0, 0], [0, 1], [0, 1]])
    >>> shares, senses, _ = split(x, y, np.array([0, 0, 1, 0, 1, 1]))
    >>> round(shares, 6), round(senses, 6)
    (0.471405, 0.0)
    """
    of_x, of_y = labels[: len(x)], labels[len(x) :]
    k = int(labels.max()) + 1
    shares = np.array([np.bincount(of, minlength=k) / len(of) for of in (of_x, of_y)])  # (2, k)
    order = np.argsort(-shares.sum(axis=0), kind="stable")  # the largest sense first
    by_shares = np.zeros(x.shape[1])
    for sense in order:
        m, n = (
            v[of == sense].mean(axis=0) if (of == sense).any() else None
            for v, of in ((x, of_x), (y, of_y))
        )
        middle = m if n is None else n if m is None else (m + n) / 2
        assert middle is not None
        by_shares += (shares[1, sense] - shares[0, sense]) * middle
    whole = y.mean(axis=0) - x.mean(axis=0)
    length = float(np.linalg.norm(whole))
    along = float(by_shares @ whole) / length if length else 0.0
    return along, length - along, shares[:, order]


def group(vectors: Floats, aligned: Aligned, senses: int | None, seed: int) -> NDArray[np.intp]:
    """Return the sense (n,) of each vector (n, d), in as many senses as given or as there are."""
    if senses is not None:
        senses = min(senses, len(np.unique(vectors.round(6), axis=0)))
    return cluster(vectors, aligned.space, senses, seed).labels


def _shares(rows: Sequence[Sequence[Cell]], names: Sequence[str]) -> Callable[[], Table]:
    """List the shares of the senses, one a row, as the columns shares_a and shares_b have them."""
    found: list[tuple[Cell, ...]] = [
        (row[1], name, sense, int(percent))
        for row in rows
        for name, shares in zip(names, row[-2:], strict=True)
        for sense, percent in enumerate(str(shares or "").split(), 1)
    ]
    return lambda: Table(("word", "corpus", "sense", "percent"), found)


def _notes(rows: Sequence[Sequence[Cell]], shared: int, *, ranked_by_static: bool) -> Iterator[str]:
    yield f"aligned on {shared} shared words; rank is among them"
    if ranked_by_static:
        yield "static vectors also move by chance; --by usage ranks by how words are used"
    few = [str(row[1]) for row in rows if row[5] is None]
    if few:
        yield f"fewer than {FEWEST} occurrences, nothing to say of senses: {', '.join(few)}"
    if len(rows) > 1 and len(few) < len(rows):
        yield (
            f"{len(rows)} words were tested: by chance alone {0.05 * len(rows):.1f} of them"
            " have a p_value under 0.05"
        )
