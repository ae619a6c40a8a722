"""Cluster the occurrences of a word into senses, and choose how many senses there are.

k-means cuts them into small parts, then the nearest two parts are merged repeatedly (agglomerative
clustering), as long as they lie nearer to each other than two different words of the model do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.stats.k_means import Labels, find_centres, nearest
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.sense_space import SenseSpace, principal_directions

DIRECTIONS = 12  # principal directions in which the number of senses is chosen
ASSIGN_DIRECTIONS = 30  # and those in which each occurrence is assigned to a sense
CHOOSING = 2000  # occurrences from which the number of senses is chosen
RESAMPLE_SIZE = 800  # of them for each resample, at most four fifths
MAX_SENSES = 6
OCCURRENCES_PER_SENSE = 25  # beyond the second sense: among fewer, chance makes groups too
RESAMPLES = 16  # the number of senses is their consensus
FIRST_RESAMPLES, CLEAR_SCORE = 4, 0.75  # these are enough where all scores are below 0.75
PARTS = 12  # parts that each resample is cut into before they are merged
# Chosen on pseudowords (bench/senses.py --tune), never on the ones that are reported.
APART = 0.209  # squared distance of two senses, as a fraction of that of two random words
MIN_APART = 4.7  # the same for small corpora, where two random words lie near each other
EVENNESS = 0.3  # a small sense must lie farther apart: its fraction to this power
MIN_FRACTION = 0.03  # of the occurrences; a smaller group is noise
MIN_CONTEXTS = 20  # different contexts; where there are fewer, each occurrence counts
SAME_CONTEXT = 0.95  # cosine from which two contexts count as the same


@dataclass(frozen=True)
class Separation:
    """How far apart the groups lie that the occurrences of a word fall into."""

    scores: Sequence[float]  # for 2, 3, ... senses: how far apart, 1 is enough
    error: float  # standard error of the score of two senses
    points: Floats  # (m, 12) the occurrences that were compared, in the first directions
    resamples: "Resamples | None" = None  # None for one sense

    @cached_property
    def agreements(self) -> list[float]:
        """For 2, 3, ... senses: the mean adjusted Rand index of the groups of two resamples."""
        means = []
        for number in range(2, len(self.scores) + 2):
            agree = adjusted_rand(self.label(number))
            means.append(float((agree.sum() - len(agree)) / (len(agree) * (len(agree) - 1))))
        return means

    def label(self, number: int) -> Labels:
        """Return (R, m) the group of each point in each resample, for a number of groups."""
        assert self.resamples is not None
        owners = self.resamples.owners
        groups = owners[min(number, len(owners)) - 1]  # (R, parts)
        numbered = np.array([np.unique(own, return_inverse=True)[1] for own in groups])
        return np.take_along_axis(numbered, self._parts, axis=1)

    @cached_property
    def _parts(self) -> Labels:
        """(R, m) the part of each point in each resample."""
        assert self.resamples is not None
        return np.array([nearest(self.points, centres) for centres in self.resamples.centres])


@dataclass(frozen=True)
class Clustering:
    """The sense of each occurrence; sense 0 is the most frequent."""

    labels: Labels  # (n,)
    weights: Floats  # (k, d) a sense's score is unit(vector) @ weights + bias
    bias: Floats  # (k,)
    stability: float | None  # adjusted Rand index of the senses of resamples; None for one sense
    scores: Sequence[float]  # for 2, 3, ... senses: how far apart, 1 is enough
    agreements: Sequence[float]  # for 2, 3, ... senses: as stability

    @property
    def number(self) -> int:
        """How many senses."""
        return len(self.bias)


def cluster(vectors: Floats, space: SenseSpace, k: int | None, min_score: float = 1) -> Clustering:
    """Return clusters of contextual vectors (n, d): k senses, or as many as score min_score."""
    rng = np.random.default_rng(1)  # the same senses for any seed
    points, chosen, middle = _compared_points(vectors, space, rng)
    separation = _separate(chosen, space, rng, k, min_score)
    scores = separation.scores
    if k is None:
        max_k = max(2, len(vectors) // OCCURRENCES_PER_SENSE)
        apart = (k for k, score in enumerate(scores, 2) if score >= min_score and k <= max_k)
        k = max(apart, default=1)
    directions = principal_directions(chosen, ASSIGN_DIRECTIONS)  # (d, 30)
    x = (points - middle) @ directions
    centres, priors, spread = x.mean(axis=0)[None], np.ones(1), 1.0
    if k > 1:
        labelled = separation.label(k)
        best = int(adjusted_rand(labelled).sum(axis=1).argmax())  # agrees most with the others
        centres, priors, spread = _refine(chosen @ directions, labelled[best], k)
    agreements = separation.agreements if separation.resamples else []
    stability = agreements[k - 2] if k > 1 else None
    labels = _scores(x, centres, priors, spread).argmax(axis=1)
    sizes = np.bincount(labels, minlength=k)
    _check_sizes(sizes)
    seen = np.array([(labels == sense).argmax() for sense in range(k)])
    order = np.lexsort((seen, -sizes))  # equal sizes: in the order of the text
    centres, priors = centres[order], priors[order]
    apart_ = np.linalg.norm(centres[:, None] - centres, axis=2)
    step = (apart_[apart_ > 0].mean() if (apart_ > 0).any() else 1.0) * np.sqrt(spread)
    # x·c - |c|²/2 + spread log p, with x = (v A - middle) directions, is linear in v.
    lines = centres @ directions.T  # (k, d)
    weights = lines @ space.matrix.T / step
    bias = (spread * np.log(priors) - 0.5 * (centres * centres).sum(axis=1) - lines @ middle) / step
    labels = np.argsort(order)[labels]
    return Clustering(labels, weights, bias, stability, scores, agreements)


def separate(vectors: Floats, space: SenseSpace, resamples: int) -> Separation:
    """Return how far apart the groups of contextual vectors (n, d) lie; as cluster scores them."""
    rng = np.random.default_rng(1)
    chosen = _compared_points(vectors, space, rng)[1]
    return _separate(chosen, space, rng, resamples=resamples)


def _compared_points(
    vectors: Floats, space: SenseSpace, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return all points (n, d), those that are compared, less their mean (m, d), and the mean."""
    points = space.project(vectors)
    rows = rng.permutation(len(points))[:CHOOSING]
    distinct = rows[distinct_rows(unit(vectors[rows]).astype(np.float32))]
    chosen = points[np.sort(distinct if len(distinct) >= MIN_CONTEXTS else rows)]
    middle = chosen.mean(axis=0)
    return points, chosen - middle, middle


def _separate(
    chosen: Floats, space: SenseSpace, rng: np.random.Generator, k: int | None = None,
    min_score: float = 1, resamples: int = RESAMPLES,
) -> Separation:  # fmt: skip
    """Return how far apart groups of points (m, d) lie: those of two senses up to k or six."""
    first = chosen[:, : space.kept]
    few = first @ principal_directions(first, DIRECTIONS)  # (m, 12)
    if k == 1:
        return Separation([], 0.0, few)
    drawn = Resamples.draw(few, k or MAX_SENSES, rng, FIRST_RESAMPLES)
    far = max(APART * space.apart, MIN_APART)
    if k is not None or drawn.heights.mean(axis=0).max() / far >= CLEAR_SCORE * min_score:
        more = Resamples.draw(few, k or MAX_SENSES, rng, resamples - FIRST_RESAMPLES)
        drawn = drawn.join(more)
    # For 2, 3, ... senses, how far apart the nearest two lie; 1 is far enough.
    wanted = (k or MAX_SENSES) - 1
    heights = np.zeros((len(drawn.heights), wanted))
    heights[:, : drawn.heights.shape[1]] = drawn.heights[:, :wanted]
    scores = (heights.mean(axis=0) / far).tolist()
    return Separation(scores, jackknife_error(heights[:, 0] / far, len(chosen)), few, drawn)


def jackknife_error(values: Floats, items: int) -> float:
    """Return the standard error of a figure from its values in samples without replacement.

    That is the delete-d jackknife (Shao and Wu 1989): samples of four fifths of the items vary
    less than new items would.

    >>> jackknife_error(np.array([1.0, 3.0]), 100).__round__(3)
    2.828
    """
    drawn = resample_size(items)
    left = items - drawn
    return float(np.sqrt(drawn / max(1, left) * values.var(ddof=1))) if len(values) > 1 else 0.0


def resample_size(items: int) -> int:
    """Return how many of the items each resample draws."""
    return max(2, min(RESAMPLE_SIZE, int(0.8 * items)))


def _check_sizes(sizes: Labels) -> None:
    """Raise CtxembedError if a sense has no occurrence."""
    if not sizes.all():
        number = f"{np.count_nonzero(sizes)} of {len(sizes)}"
        raise CtxembedError(f"only {number} senses have an occurrence; give a lower --k")


def distinct_rows(vectors: Floats) -> NDArray[np.intp]:
    """Return the rows of unit vectors (n, d) that are not nearly equal to an earlier row.

    >>> distinct_rows(np.array([[1.0, 0], [1, 0], [0, 1]])).tolist()
    [0, 2]
    """
    first = (vectors @ vectors.T > SAME_CONTEXT).argmax(axis=1)  # nearly equal row, or itself
    return np.flatnonzero(first == np.arange(len(first)))


@dataclass(frozen=True)
class Resamples:
    """Random samples of points, each cut into parts that are merged one by one."""

    centres: Floats  # (R, m, d) of the parts
    owners: Labels  # (m, R, m) for 1, 2, ... groups: which one each part is in
    heights: Floats  # (R, m - 1) for 2, 3, ... groups: how far the nearest two lie apart

    @classmethod
    def draw(cls, x: Floats, max_k: int, rng: np.random.Generator, number: int) -> "Resamples":
        """Return samples of the rows of x (n, d)."""
        size = resample_size(len(x))
        parts = max(2, min(max(PARTS, 2 * max_k), size // 4))
        draws = [(rng.permutation(len(x))[:size], int(rng.integers(2**31))) for _ in range(number)]
        some = x[np.array([rows for rows, _ in draws])]  # (R, size, d)
        centres = find_centres(some, parts, [seed for _, seed in draws])
        labels = np.array([nearest(*pair) for pair in zip(some, centres, strict=True)])
        sizes = (labels[:, None] == np.arange(parts)[:, None]).sum(axis=2)
        left = some - np.take_along_axis(centres, labels[..., None], axis=1)
        within = np.einsum("rnd,rnd->r", left, left) / max(1, size - parts)
        return cls(centres, *merge_parts(centres, sizes, within))

    def join(self, other: "Resamples") -> "Resamples":
        """Return these samples and others."""
        return Resamples(
            np.concatenate([self.centres, other.centres]),
            np.concatenate([self.owners, other.owners], axis=1),
            np.concatenate([self.heights, other.heights]),
        )


def merge_parts(centres: Floats, sizes: Labels, within: Floats) -> tuple[Labels, Floats]:
    """Return the groupings of parts (R, m, d) as the two nearest groups are merged, down to one.

    within: (R,) variance inside the parts. Returns for 1, 2, ... groups which one each part is in,
    (m, R, m), and for 2, 3, ... the squared distance of the nearest two, less what chance adds to
    it, and less for smaller groups, (R, m - 1). Groups that are too small are merged first.

    >>> centres, sizes = np.array([[[0.0], [1], [9]]]), np.array([[10, 10, 20]])
    >>> owners, heights = merge_parts(centres, sizes, np.zeros(1))
    >>> owners[:, 0].tolist(), heights[0].round(2).tolist()
    ([[0, 0, 0], [0, 0, 2], [0, 1, 2]], [72.25, 0.81])
    """
    runs, number = centres.shape[:2]
    means, n = centres.astype(np.float64).copy(), np.maximum(sizes, 1e-9).astype(np.float64)
    every, total = np.arange(runs), n.sum(axis=1)
    owners = np.tile(np.arange(number), (number, runs, 1))  # the last is the first grouping
    heights = np.zeros((runs, number - 1))
    ended = np.tile(np.eye(number, dtype=np.bool_), (runs, 1, 1))  # not a pair of two groups
    for groups in range(number - 1, 0, -1):
        apart = ((means[:, :, None] - means[:, None]) ** 2).sum(axis=3)
        apart -= within[:, None, None] * (1 / n[:, :, None] + 1 / n[:, None])
        both = n[:, :, None] + n[:, None]
        even = 4 * n[:, :, None] * n[:, None] / both / total[:, None, None]
        height = np.maximum(apart, 0) * even.clip(max=1) ** EVENNESS
        small = n < np.maximum(2.0, MIN_FRACTION * total)[:, None]
        small = small[:, :, None] | small[:, None]
        # A group that is too small to be a sense joins the nearest, whatever the distance.
        first = np.where(ended, np.inf, np.where(small, height - 1e12, height))
        pair = first.reshape(runs, -1).argmin(axis=1)
        a, b = pair // number, pair % number  # a < b: the first of two equal ones
        heights[:, groups - 1] = np.where(small[every, a, b], 0.0, height[every, a, b])
        one, other = n[every, a][:, None], n[every, b][:, None]
        means[every, a] = (one * means[every, a] + other * means[every, b]) / (one + other)
        n[every, a] += n[every, b]
        ended[every, b] = ended[every, :, b] = True
        before = owners[groups]
        owners[groups - 1] = np.where(before == b[:, None], a[:, None], before)
    return owners, heights


def _scores(x: Floats, centres: Floats, priors: Floats, spread: float) -> Floats:
    """Return (n, k) how well each sense fits each row of x (n, m): equal round Gaussians."""
    distances = np.asarray(x @ centres.T - 0.5 * (centres * centres).sum(axis=1))
    return distances + spread * np.log(priors)


def _refine(x: Floats, labels: Labels, k: int, steps: int = 20) -> tuple[Floats, Floats, float]:
    """Return centres, priors and variance of k senses after some steps of assign and update."""
    for _ in range(steps):
        sizes = np.bincount(labels, minlength=k)
        _check_sizes(sizes)
        centres = np.array([x[labels == sense].mean(axis=0) for sense in range(k)])
        priors = sizes / len(x)
        spread = float(((x - centres[labels]) ** 2).mean()) or 1.0
        assigned = _scores(x, centres, priors, spread).argmax(axis=1)
        if np.array_equal(assigned, labels) or len(np.unique(assigned)) < k:
            break
        labels = assigned
    return centres, priors, spread


def adjusted_rand(groupings: Labels) -> Floats:
    """Return (m, m) the adjusted Rand index (Hubert and Arabie 1985) of groupings (m, n).

    >>> adjusted_rand(np.array([[0, 0, 1, 1], [1, 1, 0, 0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    number, size = groupings.shape
    groups = int(groupings.max()) + 1
    member = np.equal.outer(groupings, np.arange(groups)).swapaxes(1, 2)  # (m, groups, n)
    flat = member.reshape(-1, size).astype(np.float32)
    shared = (flat @ flat.T).astype(np.float64).reshape(number, groups, number, groups)
    sizes = member.sum(axis=2)  # (m, groups)
    both = (shared * (shared - 1)).sum(axis=(1, 3))  # pairs together in both groupings
    kept = (sizes * (sizes - 1.0)).sum(axis=1)
    chance, most = np.outer(kept, kept) / (size * (size - 1)), np.add.outer(kept, kept) / 2
    agree = np.divide(both - chance, most - chance, out=np.ones_like(both), where=most > chance)
    return np.asarray(agree)
