"""Into how many senses do the occurrences of a word fall, and which is in which?"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ctxembed.analysis.context import Attention, Bag, Context, Representation, vectors_at
from ctxembed.analysis.occurrences import corpus_of, sample
from ctxembed.attention.scores import Floats
from ctxembed.errors import CtxembedError
from ctxembed.model import unit

Labels = NDArray[np.intp]

DIRECTIONS = 10  # principal directions in which senses are looked for
CHOOSING = 1000  # occurrences from which the number of senses is chosen
MOST = 6  # senses looked for
# Chosen on pseudowords (bench/senses.py tune), never on the ones that are reported.
APART = 5.0  # how far two senses lie apart, in standard deviations of one word's occurrences
CLEFT = (1.3, 1.6)  # how much deeper cleft than one cloud cut in two: for two senses, for more
STABLE = (0.7, 0.8)  # adjusted Rand index of two halves: for two senses, for more
RAREST = 0.03  # share of the occurrences below which a sense is noise


@dataclass(frozen=True)
class Space:
    """Where occurrences are compared: one step in any direction is one word's usual spread."""

    way: Representation
    matrix: Floats  # (d, d)
    baseline: float = 0.0  # mean cosine of occurrences of two different words

    def place(self, vectors: Floats) -> Floats:
        """Return (n, d) contextual vectors in this space."""
        return np.asarray(unit(vectors).astype(np.float64) @ self.matrix)


def evidence(context: Context, name: str) -> Representation:
    """Return the representation that senses are looked for in.

    A single vector is best made of the few words that matter most; over many occurrences all
    evidence counts. So general attention weighs more evenly here, over centred vectors.
    """
    way = context.get(name)
    if isinstance(way, Bag):
        return Bag(context.model.centred)
    if isinstance(way, Attention) and way.layer.w_q is None and way.layer.unit:
        layer = replace(way.layer, scale=way.layer.scale / 3)
        return replace(way, layer=layer, inputs=context.model.centred)
    return way


def make_space(
    context: Context, name: str, seed: int = 1, *, words: int = 200, each: int = 12
) -> Space:
    """Measure how the occurrences of one word usually spread, over words drawn at random.

    Distances are then taken in units of that spread (within-class covariance normalisation,
    Hatch et al. 2006), with half an even spread mixed in.
    """
    model, rng = context.model, np.random.default_rng(seed)
    way = evidence(context, name)
    common = min(200, len(model.vocab) // 50)  # the first words are function words
    rows = common + np.flatnonzero(model.counts[common:] >= 4 * each)
    if len(rows) < 20:  # a small corpus: take what there is
        rows = np.flatnonzero(model.counts >= 2)
    scatter, freedom = np.zeros((model.dim, model.dim)), 0
    drawn = rng.choice(rows, min(words, len(rows)), replace=False)
    index = corpus_of(model)
    places = [sample(index.positions(int(row)), each, rng) for row in drawn]
    baseline = 0.0
    if places:
        vectors = unit(vectors_at(model, way, np.concatenate(places))).astype(np.float64)
        groups = np.split(vectors, np.cumsum([len(p) for p in places])[:-1])
        baseline = _between(groups)
        for group in groups:
            centred = group - group.mean(axis=0)
            scatter += centred.T @ centred
            freedom += len(group) - 1
    within = scatter / max(1, freedom)
    even = np.trace(within) / model.dim or 1.0
    values, axes = np.linalg.eigh(within + 0.5 * even * np.eye(model.dim))
    return Space(way, axes / np.sqrt(values), baseline)


def _between(groups: Sequence[Floats]) -> float:
    """Return the mean cosine of unit vectors of different groups."""
    sums = np.array([group.sum(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    total = sums.sum(axis=0)
    pairs = sizes.sum() ** 2 - (sizes**2).sum()
    return float((total @ total - (sums * sums).sum()) / pairs) if pairs else 0.0


@dataclass(frozen=True)
class Clustering:
    """Which occurrence has which sense, the most frequent sense first."""

    labels: Labels  # (n,)
    weights: Floats  # (k, d) a sense's score is unit(vector) @ weights + bias
    bias: Floats  # (k,)
    stability: float | None  # adjusted Rand index of the senses of two halves; None for one sense

    @property
    def number(self) -> int:
        """How many senses."""
        return len(self.bias)


def judge(vectors: Floats, weights: Floats, bias: Floats) -> tuple[Labels, Floats]:
    """Return the sense of each vector (n, d), and its distance to the border of the next sense.

    The distance is in standard deviations of one word's occurrences; NaN where there is one sense.
    """
    scores = unit(vectors).astype(np.float64) @ weights.T + bias  # (n, k)
    labels = scores.argmax(axis=1)
    if scores.shape[1] < 2:
        return labels, np.full(len(labels), np.nan)
    second = np.argsort(scores, axis=1)[:, -2]
    rows = np.arange(len(labels))
    return labels, scores[rows, labels] - scores[rows, second]


def cluster(vectors: Floats, space: Space, k: int | None, seed: int = 1) -> Clustering:
    """Find k senses among contextual vectors (n, d), or as many as there are."""
    rng = np.random.default_rng(seed)
    placed = space.place(vectors)
    middle = placed.mean(axis=0)
    directions = _principal(placed - middle)  # (d, 10)
    x = (placed - middle) @ directions  # (n, 10)
    chosen = x if len(x) <= CHOOSING else x[rng.permutation(len(x))[:CHOOSING]]
    if k is None:
        k = count_senses(chosen, rng)
    stability = _stability(chosen, k, rng) if k > 1 else None
    centres = _means(x, k, seed, starts=10) if k > 1 else np.zeros((1, x.shape[1]))
    labels = _nearest(x, centres)
    sizes = np.bincount(labels, minlength=k)
    if not sizes.all():
        different = int(np.count_nonzero(sizes))
        raise CtxembedError(f"only {different} of {k} senses have an occurrence; give a lower --k")
    order = np.argsort(-sizes, kind="stable")
    centres = centres[order] @ directions.T + middle  # (k, d)
    # |z - c|² = |z|² - 2 z·c + |c|²: the nearest centre has the greatest z·c - |c|²/2
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    step = apart[apart > 0].mean() if k > 1 else 1.0
    weights = centres @ space.matrix.T / step
    bias = -0.5 * (centres * centres).sum(axis=1) / step
    return Clustering(np.argsort(order)[labels], weights, bias, stability)


def count_senses(x: Floats, rng: np.random.Generator) -> int:
    """Return the largest number of senses of which each two are apart, cleft and stable."""
    found = 1
    for k in range(2, min(MOST, len(x) // 10) + 1):
        more = int(k > 2)
        labels = _nearest(x, _means(x, k, 0, starts=4))
        sizes = np.bincount(labels, minlength=k)
        if sizes.min() < max(2, RAREST * len(x)):
            continue
        groups = [x[labels == sense] for sense in range(k)]
        if (
            all(separation(a, b)[0] >= APART for a, b in combinations(groups, 2))
            and all(cleft(a, b, rng) >= CLEFT[more] for a, b in combinations(groups, 2))
            and _stability(x, k, rng) >= STABLE[more]
        ):
            found = k
    return found


def separation(a: Floats, b: Floats) -> tuple[float, float]:
    """Return how far apart two groups lie, and the same in their own spread along that line.

    >>> near, far = np.array([[-1.0], [1.0]]), np.array([[9.0], [11.0]])
    >>> separation(near, far)
    (10.0, 10.0)
    """
    line = b.mean(axis=0) - a.mean(axis=0)
    apart = float(np.linalg.norm(line))
    line = line / (apart or 1.0)
    spread = ((a @ line).var() * len(a) + (b @ line).var() * len(b)) / (len(a) + len(b))
    return apart, apart / float(np.sqrt(spread) or 1.0)


def cleft(a: Floats, b: Floats, rng: np.random.Generator) -> float:
    """Compare the separation of two groups with that of one cloud of the same shape, cut in two."""
    both = np.concatenate([a, b])
    shape = np.linalg.cholesky(np.cov(both.T) + 1e-9 * np.eye(both.shape[1]))
    cloud = rng.normal(size=(max(len(both), 200), both.shape[1])) @ shape.T
    halves = _nearest(cloud, _means(cloud, 2, 0, starts=2))
    null = separation(cloud[halves == 0], cloud[halves == 1])[1]
    return separation(a, b)[1] / null


def _stability(x: Floats, k: int, rng: np.random.Generator, repeats: int = 3) -> float:
    """Cluster two halves apart, let both judge all: how far do they agree?"""
    from sklearn.metrics import adjusted_rand_score

    if len(x) < 4 * k:
        return 0.0
    scores = []
    for _ in range(repeats):
        order = rng.permutation(len(x))
        one, other = (
            _nearest(x, _means(x[half], k, 0, starts=2)) for half in np.array_split(order, 2)
        )
        scores.append(adjusted_rand_score(one, other))
    return float(np.mean(scores))


def _principal(x: Floats) -> Floats:
    """Return the directions (d, 10) in which x (n, d) varies most."""
    _, axes = np.linalg.eigh(x.T @ x)
    return np.asarray(axes[:, ::-1][:, :DIRECTIONS])


def _means(x: Floats, k: int, seed: int, starts: int) -> Floats:
    """Return the k centres (k, d) that k-means finds."""
    from sklearn.cluster import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer different points than centres: seen by the caller
        found = KMeans(k, n_init=starts, random_state=seed).fit(np.ascontiguousarray(x))
    return np.asarray(found.cluster_centers_)


def _nearest(x: Floats, centres: Floats) -> Labels:
    return np.asarray((x @ centres.T - 0.5 * (centres * centres).sum(axis=1)).argmax(axis=1))
