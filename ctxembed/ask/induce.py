"""Into how many senses do the occurrences of a word fall, and which is in which?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms import Distance, Walls
from ctxembed.context.occurrences import corpus_of, sample
from ctxembed.context.representations import Attention, Bag, Ours, Representations, vectors_at
from ctxembed.errors import CtxembedError
from ctxembed.static.k_means import REST, Labels, find_centres, k_means, nearest
from ctxembed.static.space import Floats, unit

DIRECTIONS = 10  # principal directions in which senses are looked for
CHOOSING = 1000  # occurrences from which the number of senses is chosen
MOST = 6  # senses looked for
EVEN = 3  # how much more evenly attention weighs over many occurrences than in one sentence
# Chosen on pseudowords (bench/senses.py --tune), never on the ones that are reported.
WIDE = 1.0  # variance of the occurrences, as a multiple of that of the usual word of the model
CLEFT = (1.3, 1.6)  # how much deeper cleft than one cloud cut in two: for two senses, for more
STABLE = (0.6, 0.9)  # adjusted Rand index of two halves: for two senses, for more
RAREST = 0.03  # share of the occurrences below which a sense is noise


@dataclass(frozen=True)
class SenseSpace:
    """Where occurrences are compared: one step in any direction is one word's usual spread."""

    way: Ours
    matrix: Floats  # (d, d)
    baseline: float = 0.0  # mean cosine of occurrences of two different words
    usual: float = 1.0  # variance of the usual word's occurrences in this space
    alike: float = 0.0  # cosine over the baseline, halfway from one usual word to two made one

    def place(self, vectors: Floats) -> Floats:
        """Return (n, d) contextual vectors in this space."""
        return np.asarray(unit(vectors).astype(np.float64) @ self.matrix)

    def width(self, placed: Floats) -> float:
        """Return the variance of placed occurrences (n, d) as a multiple of the usual word's.

        >>> SenseSpace(None, np.eye(2), usual=2.0).width(np.array([[0.0, 0], [2, 2]]))
        2.0
        """
        variance = placed.var(axis=0).sum() * len(placed) / max(1, len(placed) - 1)
        return float(variance / self.usual)


def evidence(representations: Representations, name: str) -> Ours:
    """Return the representation that senses are looked for in.

    A single vector is best made of the few words that matter most; over many occurrences all
    evidence counts. So attention weighs more evenly here, general attention over centred vectors;
    and what has learned to shut other clauses out looks farther.
    """
    way = representations.get(name)
    if isinstance(way, Bag):
        return Bag("bag", representations.model.centred)
    if not isinstance(way, Attention):
        return way
    layer = replace(way.layer, scale=way.layer.scale / EVEN)
    if layer.w_q is None:
        return replace(way, layer=layer, inputs=representations.model.centred)
    terms = (
        replace(term, by_head=term.by_head / EVEN) if isinstance(term, Distance | Walls) else term
        for term in layer.terms
    )
    return replace(way, layer=replace(layer, terms=tuple(terms)))


def make_space(
    representations: Representations, name: str, seed: int = 1, *, words: int = 200, each: int = 12
) -> SenseSpace:
    """Measure how the occurrences of one word usually spread, over words drawn at random.

    Distances are then taken in units of that spread (within-class covariance normalisation,
    Hatch et al. 2006), with half an even spread mixed in.
    """
    model, rng = representations.model, np.random.default_rng(seed)
    way = evidence(representations, name)
    common = min(200, len(model.vocab) // 50)  # the first words are function words
    rows = common + np.flatnonzero(model.counts[common:] >= 4 * each)
    if len(rows) < 20:  # a small corpus: take what there is
        rows = np.flatnonzero(model.counts >= 2)
    drawn = rng.choice(rows, min(words, len(rows)), replace=False)
    index = corpus_of(model)
    places = [sample(index.positions(int(row)), each, rng) for row in drawn]
    if not places:
        return SenseSpace(way, np.eye(model.dim))
    made = vectors_at(model, way, np.concatenate(places)).astype(np.float64)
    ends = np.cumsum([len(p) for p in places])[:-1]
    groups = np.split(unit(made), ends)
    baseline = _between(groups)
    merged = _merged(np.split(made, ends), way, drawn)
    alike = (_self_similarity(groups) + _self_similarity(merged)) / 2 - baseline
    matrix, usual = usual_spread(groups)
    return SenseSpace(way, matrix, baseline, usual, alike)


def usual_spread(groups: Sequence[Floats]) -> tuple[Floats, float]:
    """Return the matrix (d, d) that makes the usual spread of groups one, and what it comes to.

    groups: (n, d) each, the occurrences of one word.
    """
    dim = groups[0].shape[1]
    scatter, freedom = np.zeros((dim, dim)), 0
    for group in groups:
        centred = group - group.mean(axis=0)
        scatter += centred.T @ centred
        freedom += len(group) - 1
    within = scatter / max(1, freedom)
    even = np.trace(within) / dim or 1.0
    values, axes = np.linalg.eigh(within + 0.5 * even * np.eye(dim))
    usual = float((1 - 0.5 * even / values).sum())  # the trace of `within` in this space
    return np.asarray(axes / np.sqrt(values)), usual if usual > 1e-9 else 1.0


def _between(groups: Sequence[Floats]) -> float:
    """Return the mean cosine of unit vectors of different groups."""
    sums = np.array([group.sum(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    total = sums.sum(axis=0)
    pairs = sizes.sum() ** 2 - (sizes**2).sum()
    return float((total @ total - (sums * sums).sum()) / pairs) if pairs else 0.0


def _self_similarity(groups: Sequence[Floats]) -> float:
    """Return the mean over groups of the cosine of two different unit vectors of one group."""
    means = []
    for group in groups:
        n, total = len(group), group.sum(axis=0)
        if n > 1:
            means.append((total @ total - (group * group).sum()) / (n * (n - 1)))
    return float(np.mean(means)) if means else 0.0


def _merged(groups: Sequence[Floats], way: Ours, rows: NDArray[np.intp]) -> list[Floats]:
    """Make pseudowords of each two words: their contexts as they are, one vector for both words."""
    own = way.layer.own if isinstance(way, Attention) else 0.0
    inputs = np.asarray(way.inputs[rows], np.float64)  # (n, d)
    made = []
    for i in range(0, len(groups) - 1, 2):
        middle = unit(inputs[i] + inputs[i + 1]) * np.linalg.norm(inputs[i])
        pair = [groups[j] + own * (middle - inputs[j]) for j in (i, i + 1)]
        made.append(unit(np.concatenate(pair)).astype(np.float64))
    return made


@dataclass(frozen=True)
class Clustering:
    """Which occurrence has which sense, the most frequent sense first."""

    labels: Labels  # (n,)
    weights: Floats  # (k, d) a sense's score is unit(vector) @ weights + bias
    bias: Floats  # (k,)
    stability: float | None  # adjusted Rand index of the senses of two halves; None for one sense
    width: float  # variance of the occurrences as a multiple of the usual word's

    @property
    def number(self) -> int:
        """How many senses."""
        return len(self.bias)


def judge(
    vectors: Floats, weights: Floats, bias: Floats | Sequence[float]
) -> tuple[Labels, Floats]:
    """Return the sense of each vector (n, d), and its distance to the border of the next sense.

    The distance is in standard deviations of one word's occurrences; NaN where there is one sense.
    """
    scores = unit(vectors).astype(np.float64) @ weights.T + np.asarray(bias)  # (n, k)
    labels = scores.argmax(axis=1)
    if scores.shape[1] < 2:
        return labels, np.full(len(labels), np.nan)
    second = np.argsort(scores, axis=1)[:, -2]
    rows = np.arange(len(labels))
    return labels, scores[rows, labels] - scores[rows, second]


def cluster(vectors: Floats, space: SenseSpace, k: int | None, seed: int = 1) -> Clustering:
    """Find k senses among contextual vectors (n, d), or as many as there are."""
    rng = np.random.default_rng(seed)
    placed = space.place(vectors)
    middle = placed.mean(axis=0)
    directions = _principal(placed - middle)  # (d, 10)
    x = (placed - middle) @ directions  # (n, 10)
    chosen = x if len(x) <= CHOOSING else x[rng.permutation(len(x))[:CHOOSING]]
    width = space.width(placed)
    if k is None:
        k, stability = count_senses(chosen, rng) if width >= WIDE else (1, None)
    else:
        stability = _stability(chosen, k, rng) if k > 1 else None
    centres = np.zeros((1, x.shape[1]))
    if k > 1:
        centres = find_centres(chosen, k, seed, starts=10)
        centres = centres if chosen is x else k_means(x, centres, tolerance=REST)
    labels = nearest(x, centres)
    sizes = np.bincount(labels, minlength=k)
    if not sizes.all():
        different = int(np.count_nonzero(sizes))
        raise CtxembedError(f"only {different} of {k} senses have an occurrence; give a lower --k")
    order = np.argsort(-sizes, kind="stable")
    centres = centres[order] @ directions.T + middle  # (k, d)
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    step = apart[apart > 0].mean() if k > 1 else 1.0
    weights = centres @ space.matrix.T / step
    bias = -0.5 * (centres * centres).sum(axis=1) / step
    return Clustering(np.argsort(order)[labels], weights, bias, stability, width)


def count_senses(x: Floats, rng: np.random.Generator) -> tuple[int, float | None]:
    """Return the largest number of senses that are stable and each two cleft, and how stable."""
    found: tuple[int, float | None] = (1, None)
    for k in range(2, min(MOST, len(x) // 10) + 1):
        more = int(k > 2)
        labels = nearest(x, find_centres(x, k, 0, starts=4))
        sizes = np.bincount(labels, minlength=k)
        if sizes.min() < max(2, RAREST * len(x)):
            continue
        groups = [x[labels == sense] for sense in range(k)]
        if all(cleft(a, b, rng) >= CLEFT[more] for a, b in combinations(groups, 2)):
            stability = _stability(x, k, rng)
            if stability >= STABLE[more]:
                found = (k, stability)
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
    halves = nearest(cloud, find_centres(cloud, 2, 0, starts=2))
    null = separation(cloud[halves == 0], cloud[halves == 1])[1]
    return separation(a, b)[1] / null


def _stability(x: Floats, k: int, rng: np.random.Generator, repeats: int = 5) -> float:
    """Cluster two halves apart, let both judge all: how far do they agree?"""
    if len(x) < 4 * k:
        return 0.0
    scores = []
    for _ in range(repeats):
        order = rng.permutation(len(x))
        one, other = (
            nearest(x, find_centres(x[half], k, 0, starts=4)) for half in np.array_split(order, 2)
        )
        scores.append(adjusted_rand(one, other))
    return float(np.median(scores))  # a half that is stuck says little


def adjusted_rand(one: Labels, other: Labels) -> float:
    """Return how far two groupings agree: 1 for the same, 0 for chance (Hubert and Arabie 1985).

    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one, other), 1)
    both, rows, columns, pairs = (
        float((n * (n - 1)).sum())
        for n in (table, table.sum(axis=1), table.sum(axis=0), np.float64(len(one)))
    )
    chance, most = rows * columns / pairs, (rows + columns) / 2
    return (both - chance) / (most - chance) if most > chance else 1.0


def _principal(x: Floats) -> Floats:
    """Return the directions (d, 10) in which x (n, d) varies most."""
    _, axes = np.linalg.eigh(x.T @ x)
    return np.asarray(axes[:, ::-1][:, :DIRECTIONS])
