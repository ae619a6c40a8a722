"""Measure what speaks for several senses of a word: three signs in its occurrences and vector.

An ambiguous word is used in unlike contexts (self-similarity), these fall into groups (score), and
no other word is near it, because its vector lies between its senses (neighbors).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import sample_positions
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.cluster import Clustering, cluster
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
    clustering: Clustering
    similarity: float  # mean cosine of two occurrences, over that of different words
    low: float  # 95 % of the bootstrap samples lie between these
    high: float
    neighbors: float  # mean cosine of its static vector with the nearest words
    explained: float  # fraction of the vectors' squared length along the static vector

    @property
    def signs(self) -> Floats:
        """(3,) score, unlikeness of the occurrences, distance of the neighbors."""
        return np.array([self.clustering.scores[0], -self.similarity, -self.neighbors])

    @property
    def errors(self) -> Floats:
        """(3,) the standard errors of the signs; the static vector is taken as it is."""
        return np.array([self.clustering.error, (self.high - self.low) / (2 * Z), 0.0])


@dataclass(frozen=True)
class EvidenceReader:
    """Reads the evidence of words; that of a word does not depend on other words."""

    representations: Representations
    space: SenseSpace  # of an attention

    def read(self, word: str | Hits) -> Evidence | None:
        """Return the evidence of a word; None if it occurs too rarely."""
        hits = word if isinstance(word, Hits) else find_hits(self.representations.model, word)
        if len(hits.positions) < MIN_OCCURRENCES:
            return None
        model, key = self.representations.model, crc32(hits.query.encode("utf-8", "surrogatepass"))
        rng = np.random.default_rng(key)  # depends on the word only
        positions = sample_positions(hits.positions, OCCURRENCES, rng)
        vectors = vectors_at(model, self.space.representation, positions, hits.size)
        rows = model.vocabulary.parts(hits.query) or model.vocabulary.parts(hits.query.split()[0])
        own = self.space.representation.inputs[rows].mean(axis=0) if rows else None
        return measure_evidence(vectors, own, self.space, self.near(rows), key)

    def near(self, rows: Sequence[int], weights: Sequence[float] | None = None) -> float:
        """Return the mean cosine of words, merged by weights, with the words nearest to them."""
        if not rows:
            return 0.0
        model = self.representations.model
        mean = np.average(np.asarray(model.vectors[list(rows)]), axis=0, weights=weights)
        target = unit(mean - model.mean)[None].astype(np.float32)
        cosines = model.centred_space.cosines(target, 0, len(self._compared))[:, 0]
        compared = self._compared.copy()
        compared[[row for row in rows if row < len(compared)]] = False
        return float(np.sort(cosines[compared])[-NEIGHBORS:].mean()) if compared.any() else 0.0

    @cached_property
    def _compared(self) -> NDArray[np.bool_]:
        """(n,) which of the frequent words are compared."""
        return np.asarray(self.representations.model.seen[:MAX_COMPARED] >= MIN_SEEN)


def measure_evidence(
    vectors: Floats, own: Floats | None, space: SenseSpace, neighbors: float, seed: int
) -> Evidence:
    """Return the evidence in contextual vectors (n, d) of a word, whose static vector is own."""
    units = unit(vectors)
    n = len(units)
    cosines = units @ units.T  # (n, n)
    similarity = float((cosines.sum() - np.trace(cosines)) / (n * (n - 1)))
    # A bootstrap sample has pairs of the same occurrence; these are left out.
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), 200)  # (200, n)
    weights, squares = draws.astype(np.float32), draws.astype(np.float32) ** 2
    drawn = np.einsum("bn,bn->b", weights @ cosines, weights) - squares @ np.diag(cosines)
    low, high = np.quantile(drawn / (n * n - squares.sum(axis=1)), [0.025, 0.975]).tolist()
    explained = np.nan if own is None else float(((units @ unit(own)) ** 2).mean())
    similarity, low, high = (value - space.baseline for value in (similarity, low, high))
    clustering = cluster(vectors, space, None, resamples=RESAMPLES)
    return Evidence(n, clustering, similarity, low, high, neighbors, explained)
