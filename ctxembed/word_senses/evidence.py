"""Measure what speaks for several senses of a word: three signs in its occurrences and vector.

An ambiguous word is used in unlike contexts (self-similarity), these fall into groups (score), and
no other word is near it, because its vector lies between its senses (neighbors).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import sample_positions
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.cluster import Separation, separate
from ctxembed.word_senses.sense_space import SenseSpace

MIN_OCCURRENCES = 20  # fewer are too few to tell senses apart
RESAMPLES = 6  # of the occurrences, for the score and its error
OCCURRENCES = 400  # drawn of each word, at most: always the same ones
NEIGHBORS = 15  # words whose mean cosine is a sign
MIN_SEEN = 20  # times: the vectors of rarer words are noisy
MAX_COMPARED = 50_000  # frequent words that neighbors are looked for among
Z = 1.96  # standard errors to the ends of a 95 % interval


@dataclass(frozen=True)
class Evidence:
    """The signs of several senses in the occurrences of one word."""

    occurrences: int  # that were read
    separation: Separation
    similarity: float  # mean cosine of two occurrences, over that of different words
    low: float  # 95 % of the bootstrap samples lie between these
    high: float
    neighbors: float  # mean cosine of its static vector with the nearest words
    explained: float  # fraction of the vectors' squared length along the static vector

    @property
    def signs(self) -> Floats:
        """(3,) score, unlikeness of the occurrences, distance of the neighbors."""
        return np.array([self.separation.scores[0], -self.similarity, -self.neighbors])

    @property
    def errors(self) -> Floats:
        """(3,) the standard errors of the signs; the static vector is taken as it is."""
        return np.array([self.separation.error, (self.high - self.low) / (2 * Z), 0.0])


@dataclass(frozen=True)
class EvidenceReader:
    """Reads the evidence of words; that of a word does not depend on other words."""

    representations: Representations
    space: SenseSpace  # of an attention

    def read(self, words: Sequence[str | Hits]) -> list[Evidence | None]:
        """Return the evidence of each word, read together; None of one that occurs too rarely."""
        model = self.representations.model
        all_hits = [w if isinstance(w, Hits) else find_hits(model, w) for w in words]
        often = [hits for hits in all_hits if len(hits.positions) >= MIN_OCCURRENCES]
        rows = [
            model.vocabulary.parts(hits.query) or model.vocabulary.parts(hits.query.split()[0])
            for hits in often
        ]
        measured = map(
            self._measure, self._vectors(often), rows, self.near([(own, None) for own in rows])
        )
        return [next(measured) if len(h.positions) >= MIN_OCCURRENCES else None for h in all_hits]

    def _measure(self, vectors: Floats, rows: Sequence[int], neighbors: float) -> Evidence:
        own = self.space.representation.inputs[rows].mean(axis=0) if rows else None
        return measure_evidence(vectors, own, self.space, neighbors)

    def _vectors(self, all_hits: Sequence[Hits]) -> list[Floats]:
        """Return vectors (n, d) of some occurrences of each word; they depend on the word only."""
        drawn = []
        for hits in all_hits:
            rng = np.random.default_rng(crc32(hits.query.encode("utf-8", "surrogatepass")))
            drawn.append(sample_positions(hits.positions, OCCURRENCES, rng))
        vectors: list[Floats] = [np.empty(0)] * len(all_hits)
        model, representation = self.representations.model, self.space.representation
        for size in {hits.size for hits in all_hits}:
            mine = [number for number, hits in enumerate(all_hits) if hits.size == size]
            ends = np.cumsum([len(drawn[number]) for number in mine])
            positions = np.concatenate([drawn[number] for number in mine])
            together = vectors_at(model, representation, positions, size)
            for number, some in zip(mine, np.split(together, ends[:-1]), strict=True):
                vectors[number] = some
        return vectors

    def near(self, words: Sequence[tuple[Sequence[int], Sequence[float] | None]]) -> list[float]:
        """Return the mean cosine of each word, rows merged by weights, with the nearest words."""
        model, targets = self.representations.model, list[Floats]()
        for rows, weights in words:
            own = np.asarray(model.vectors[list(rows)]) if rows else np.zeros((1, model.dim))
            targets.append(unit(np.average(own, axis=0, weights=weights) - model.mean))
        if not targets:
            return []
        compared = len(self._compared)
        cosines = model.centred_space.cosines(np.array(targets, np.float32), 0, compared)
        means = []
        for (rows, _), column in zip(words, cosines.T, strict=True):
            kept = self._compared.copy()
            kept[[row for row in rows if row < compared]] = False
            nearest = column[kept]
            last = max(0, len(nearest) - NEIGHBORS)
            some = rows and len(nearest)
            means.append(float(np.partition(nearest, last)[last:].mean()) if some else 0.0)
        return means

    @cached_property
    def _compared(self) -> NDArray[np.bool_]:
        """(n,) which of the frequent words are compared."""
        return np.asarray(self.representations.model.seen[:MAX_COMPARED] >= MIN_SEEN)


def measure_evidence(
    vectors: Floats, own: Floats | None, space: SenseSpace, neighbors: float
) -> Evidence:
    """Return the evidence in contextual vectors (n, d) of a word, whose static vector is own."""
    units = unit(vectors)
    n = len(units)
    lengths = np.einsum("nd,nd->n", units, units)
    total = units.sum(axis=0, dtype=np.float64)
    similarity = float((total @ total - lengths.sum()) / (n * (n - 1)))
    # A bootstrap sample has pairs of the same occurrence; these are left out.
    weights = _bootstrap(n)
    squares = weights * weights
    sums = weights @ units  # (200, d)
    drawn = np.einsum("bd,bd->b", sums, sums) - squares @ lengths
    low, high = np.quantile(drawn / (n * n - squares.sum(axis=1)), [0.025, 0.975]).tolist()
    explained = np.nan if own is None else float(((units @ unit(own)) ** 2).mean())
    similarity, low, high = (value - space.baseline for value in (similarity, low, high))
    separation = separate(vectors, space, RESAMPLES)
    return Evidence(n, separation, similarity, low, high, neighbors, explained)


@lru_cache(maxsize=8)
def _bootstrap(n: int) -> Floats:
    """Return (200, n) how often each of n occurrences is in each sample: the same for all words."""
    return np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), 200).astype(np.float32)
