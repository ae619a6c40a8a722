"""Cluster the occurrences of a word into senses, and choose how many senses there are.

k-means cuts them into small parts, then the nearest two parts are merged repeatedly (agglomerative
clustering), as long as they lie nearer to each other than two different words of the model do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
class Clustering:
    """The sense of each occurrence; sense 0 is the most frequent."""

    labels: Labels  # (n,)
    weights: Floats  # (k, d) a sense's score is unit(vector) @ weights + bias
    bias: Floats  # (k,)
    stability: float | None  # adjusted Rand index of the senses of resamples; None for one sense
    scores: Sequence[float]  # for 2, 3, ... senses: how far apart, 1 is enough
    agreements: Sequence[float]  # for 2, 3, ... senses: as stability
    error: float = 0.0  # standard error of the score of two senses

    @property
    def number(self) -> int:
        """How many senses."""
        return len(self.bias)


def cluster(
    vectors: Floats, space: SenseSpace, k: int | None, min_score: float = 1,
    resamples: int = RESAMPLES,
) -> Clustering:  # fmt: skip
    """Return clusters of contextual vectors (n, d): k senses, or as many as score min_score."""
    rng, scores = np.random.default_rng(1), list[float]()  # the same senses for any seed
    points = space.project(vectors)  # (n, d)
    rows = rng.permutation(len(points))[:CHOOSING]
    distinct = rows[distinct_rows(unit(vectors[rows]).astype(np.float32))]
    chosen = points[np.sort(distinct if len(distinct) >= MIN_CONTEXTS else rows)]
    middle = chosen.mean(axis=0)
    chosen = chosen - middle
    first = chosen[:, : space.kept]
    few = first @ principal_directions(first, DIRECTIONS)  # (m, 12) where the number is chosen
    directions = principal_directions(chosen, ASSIGN_DIRECTIONS)  # (d, 30)
    x = (points - middle) @ directions
    runs: list[tuple[Floats, list[Labels], list[float]]] = []
    for number in () if k == 1 else (FIRST_RESAMPLES, resamples):
        runs += [_resample(few, k or MAX_SENSES, rng) for _ in range(number - len(runs))]
        # For 2, 3, ... senses, how far apart the nearest two lie; 1 is far enough.
        heights = np.array([distances for *_, distances in runs]).mean(axis=0)  # (max_k - 1,)
        scores = (heights / max(APART * space.apart, MIN_APART)).tolist()
        if k is None and max(scores) < CLEAR_SCORE * min_score:
            break
    if k is None:
        max_k = max(2, len(vectors) // OCCURRENCES_PER_SENSE)
        apart = (k for k, score in enumerate(scores, 2) if score >= min_score and k <= max_k)
        k = max(apart, default=1)
    centres, priors, spread = x.mean(axis=0)[None], np.ones(1), 1.0
    agreements: list[float] = []
    for number in range(2, len(scores) + 2):
        merged = ((parts, groups[min(number, len(groups)) - 1]) for parts, groups, _ in runs)
        labelled = np.array([group[nearest(few, parts)] for parts, group in merged])
        agree = adjusted_rand(labelled)
        agreements.append(float((agree.sum() - len(runs)) / (len(runs) * (len(runs) - 1))))
        if number == k:
            best = int(agree.sum(axis=1).argmax())  # the one that agrees most with the others
            centres, priors, spread = _refine(chosen @ directions, labelled[best], k)
    stability = agreements[k - 2] if k > 1 else None
    labels = _scores(x, centres, priors, spread).argmax(axis=1)
    sizes = np.bincount(labels, minlength=k)
    _check_sizes(sizes)
    seen = np.array([(labels == sense).argmax() for sense in range(k)])
    order = np.lexsort((seen, -sizes))  # equal sizes: in the order of the text
    centres, priors = centres[order], priors[order]
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    step = (apart[apart > 0].mean() if (apart > 0).any() else 1.0) * np.sqrt(spread)
    # x·c - |c|²/2 + spread log p, with x = (v A - middle) directions, is linear in v.
    lines = centres @ directions.T  # (k, d)
    weights = lines @ space.matrix.T / step
    bias = (spread * np.log(priors) - 0.5 * (centres * centres).sum(axis=1) - lines @ middle) / step
    found = np.array([distances[0] for *_, distances in runs]) / max(APART * space.apart, MIN_APART)
    error = jackknife_error(found, len(chosen)) if runs else 0.0
    labels = np.argsort(order)[labels]
    return Clustering(labels, weights, bias, stability, scores, agreements, error)


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


def _resample(
    x: Floats, max_k: int, rng: np.random.Generator
) -> tuple[Floats, list[Labels], list[float]]:
    """Return the k-means parts of a random sample of x (n, 12), their groups and distances."""
    some = x[rng.permutation(len(x))[: resample_size(len(x))]]
    parts = max(2, min(max(PARTS, 2 * max_k), len(some) // 4))
    centres = find_centres(some, parts, int(rng.integers(2**31)), starts=1)
    labels = nearest(some, centres)
    sizes = np.bincount(labels, minlength=parts)
    within = float(((some - centres[labels]) ** 2).sum()) / max(1, len(some) - parts)
    groups, heights = merge_parts(centres, sizes, within)
    padded = [0.0] * max(0, max_k - 1 - len(heights))
    return centres, groups, [*heights[: max_k - 1], *padded]


def merge_parts(centres: Floats, sizes: Labels, within: float) -> tuple[list[Labels], list[float]]:
    """Return the groupings of parts (m, d) as the two nearest groups are merged, down to one.

    within: variance inside the parts. Returns for 1, 2, ... groups which one each part is in, and
    for 2, 3, ... the squared distance of the nearest two, less what chance adds to it, and less
    for smaller groups. Groups that are too small are merged first.

    >>> groups, heights = merge_parts(np.array([[0.0], [1], [9]]), np.array([10, 10, 20]), 0.0)
    >>> [group.tolist() for group in groups], [round(height, 2) for height in heights]
    ([[0, 0, 0], [0, 0, 1], [0, 1, 2]], [72.25, 0.81])
    """
    number = len(centres)
    means, n = centres.astype(np.float64).copy(), np.maximum(sizes, 1e-9).astype(np.float64)
    total, owner = n.sum(), np.arange(number)
    groups, heights = [owner.copy()], []
    alive = list(range(number))
    while len(alive) > 1:
        m, c = n[alive], means[alive]
        apart = ((c[:, None] - c) ** 2).sum(axis=2) - within * (1 / m[:, None] + 1 / m)
        even = (4 * m[:, None] * m / (m[:, None] + m) / total).clip(max=1)
        height = np.maximum(apart, 0) * even**EVENNESS
        np.fill_diagonal(height, np.inf)
        small = m < max(2.0, MIN_FRACTION * total)
        # A group that is too small to be a sense joins the nearest, whatever the distance.
        first = np.where(small[:, None] | small, height - 1e12, height)
        i, j = np.unravel_index(int(first.argmin()), first.shape)
        heights.append(0.0 if small[i] or small[j] else float(height[i, j]))
        a, b = alive[min(i, j)], alive[max(i, j)]
        means[a] = (n[a] * means[a] + n[b] * means[b]) / (n[a] + n[b])
        n[a] += n[b]
        owner[owner == b] = a
        alive.remove(b)
        groups.append(np.unique(owner, return_inverse=True)[1])
    return groups[::-1], heights[::-1]


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
