"""Into how many senses do the occurrences of a word fall, and which is in which?

Occurrences are cut into small parts, and parts are put together again, the nearest two first. They
are one sense as long as they lie nearer to each other than two different words of the model do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.stats.k_means import Labels, find_centres, nearest
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.sense_space import SenseSpace

DIRECTIONS = 12  # principal directions in which senses are looked for
SETTLING = 30  # and those in which each occurrence then finds its sense
CHOOSING = 2000  # occurrences from which the number of senses is chosen
DRAWN = 800  # of them for each resample, at most four fifths
MOST = 6  # senses looked for
EACH = 25  # occurrences for each sense beyond the second: among fewer, chance makes groups too
RUNS = 16  # resamples of which the number of senses is the consensus
FIRST, CLEARLY = 4, 0.75  # so many are enough where none comes near: score under which it is clear
PARTS = 12  # what each resample is cut into before parts are put together
# Chosen on pseudowords (bench/senses.py --tune), never on the ones that are reported.
APART = 0.209  # squared distance of two senses, as a share of that of two random words
LEAST = 4.7  # the same where words lie so near each other that it would say nothing: small corpora
EVENLY = 0.3  # how much a small sense must lie farther apart: its share to this power
RAREST = 0.03  # share of the occurrences below which a group is noise
FEWEST = 20  # different contexts; where there are fewer, each occurrence counts
ALIKE = 0.95  # cosine from which two contexts are the same one said again


@dataclass(frozen=True)
class Clustering:
    """Which occurrence has which sense, the most frequent sense first."""

    labels: Labels  # (n,)
    weights: Floats  # (k, d) a sense's score is unit(vector) @ weights + bias
    bias: Floats  # (k,)
    stability: float | None  # adjusted Rand index of the senses of resamples; None for one sense
    scores: Sequence[float]  # for 2, 3, ... senses: how far apart, 1 is enough
    agreements: Sequence[float]  # for 2, 3, ... senses: as stability
    different: int  # contexts that are not the same one said again, of those chosen from

    @property
    def number(self) -> int:
        """How many senses."""
        return len(self.bias)


def cluster(
    vectors: Floats, space: SenseSpace, k: int | None, min_score: float = 1.0
) -> Clustering:
    """Find k senses among contextual vectors (n, d), or as many as have this score.

    The resamples are a consensus of their own: the same for the same occurrences, whatever the seed
    of a question.
    """
    rng = np.random.default_rng(1)
    placed = space.place(vectors)  # (n, d)
    rows = rng.permutation(len(placed))[:CHOOSING]
    once = rows[different(unit(vectors[rows]).astype(np.float32))]
    chosen = placed[np.sort(once if len(once) >= FEWEST else rows)]
    middle = chosen.mean(axis=0)
    chosen = chosen - middle
    first = chosen[:, : space.kept]
    few = first @ _principal(first, DIRECTIONS)  # (m, 12) where the number is chosen
    directions = _principal(chosen, SETTLING)  # (d, 30)
    x = (placed - middle) @ directions
    runs = [_run(few, k or MOST, rng) for _ in range(0 if k == 1 else FIRST)]
    if k is not None or max(_mean_scores(runs, space)) >= CLEARLY * min_score:
        runs += [_run(few, k or MOST, rng) for _ in range(0 if k == 1 else RUNS - FIRST)]
    scores = _mean_scores(runs, space)
    if k is None:
        most = max(2, len(vectors) // EACH)
        apart = (k for k, score in enumerate(scores, 2) if score >= min_score and k <= most)
        k = max(apart, default=1)
    centres, priors, spread = x.mean(axis=0)[None], np.ones(1), 1.0
    agreements: list[float] = []
    for number in range(2, len(scores) + 2):
        labelled = np.array([run.label(few, number) for run in runs])
        agree = adjusted_rand(labelled)
        agreements.append(float((agree.sum() - len(runs)) / (len(runs) * (len(runs) - 1))))
        if number == k:
            best = int(agree.sum(axis=1).argmax())  # that which agrees most with the others
            centres, priors, spread = _settle(chosen @ directions, labelled[best], k)
    stability = agreements[k - 2] if k > 1 else None
    labels = _scores(x, centres, priors, spread).argmax(axis=1)
    sizes = np.bincount(labels, minlength=k)
    if not sizes.all():
        found = int(np.count_nonzero(sizes))
        raise CtxembedError(f"only {found} of {k} senses have an occurrence; give a lower --k")
    seen = np.array([(labels == sense).argmax() for sense in range(k)])
    order = np.lexsort((seen, -sizes))  # of equal ones, that which comes first in the text
    centres, priors = centres[order], priors[order]
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    step = (apart[apart > 0].mean() if (apart > 0).any() else 1.0) * np.sqrt(spread)
    # x·c - |c|²/2 + spread log p, with x = (v A - middle) directions, is linear in v.
    lines = centres @ directions.T  # (k, d)
    weights = lines @ space.matrix.T / step
    bias = (spread * np.log(priors) - 0.5 * (centres * centres).sum(axis=1) - lines @ middle) / step
    return Clustering(
        np.argsort(order)[labels], weights, bias, stability, scores, agreements, len(chosen)
    )


def _mean_scores(runs: Sequence["_Run"], space: SenseSpace) -> list[float]:
    """Return for 2, 3, ... senses how far apart the nearest two lie, over what makes them two."""
    if not runs:
        return []
    heights = np.array([run.heights for run in runs]).mean(axis=0)  # (most - 1,)
    return [float(height) / max(APART * space.apart, LEAST) for height in heights]


def different(vectors: Floats) -> NDArray[np.intp]:
    """Return the rows of unit vectors (n, d) that do not say again what an earlier one says.

    >>> different(np.array([[1.0, 0], [1, 0], [0, 1]])).tolist()
    [0, 2]
    """
    same = vectors @ vectors.T > ALIKE
    first = same.argmax(axis=1)  # the first row that says the same; itself where none does
    return np.flatnonzero(first == np.arange(len(first)))


@dataclass(frozen=True)
class _Run:
    """One resample cut into parts, and the parts put together."""

    centres: Floats  # (parts, 12)
    groups: Sequence[Labels]  # for 1, 2, ... senses: which one each part belongs to
    heights: Sequence[float]  # for 2, 3, ...: squared distance of the two that lie nearest

    def label(self, x: Floats, k: int) -> Labels:
        """Return the sense (n,) of each row of x, of k senses."""
        return self.groups[min(k, len(self.groups)) - 1][nearest(x, self.centres)]


def _run(x: Floats, most: int, rng: np.random.Generator) -> _Run:
    """Cut a resample of the occurrences into parts, and put these together again."""
    some = x[rng.permutation(len(x))[: max(2, min(DRAWN, int(0.8 * len(x))))]]
    parts = max(2, min(max(PARTS, 2 * most), len(some) // 4))
    centres = find_centres(some, parts, int(rng.integers(2**31)), starts=1)
    labels = nearest(some, centres)
    sizes = np.bincount(labels, minlength=parts)
    within = float(((some - centres[labels]) ** 2).sum()) / max(1, len(some) - parts)
    groups, heights = join(centres, sizes, within)
    padded = [0.0] * max(0, most - 1 - len(heights))
    return _Run(centres, groups, [*heights[: most - 1], *padded])


def join(centres: Floats, sizes: Labels, within: float) -> tuple[list[Labels], list[float]]:
    """Put parts (m, d) together, each time the two that lie nearest, until there is one group.

    within: variance inside the parts. Returns for 1, 2, ... groups which one each part is in, and
    for 2, 3, ... the squared distance of those nearest two, less what chance adds to it, and less
    for smaller groups. A group that is too small joins another before all else.

    >>> groups, heights = join(np.array([[0.0], [1], [9]]), np.array([10, 10, 20]), 0.0)
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
        height = np.maximum(apart, 0) * even**EVENLY
        np.fill_diagonal(height, np.inf)
        small = m < max(2.0, RAREST * total)
        # A group that is too small to be a sense goes to the nearest, whatever the distance.
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
    """Return (n, k) how well each sense fits each row of x (n, m): normal clouds of one size."""
    return np.asarray(x @ centres.T - 0.5 * (centres * centres).sum(axis=1)) + spread * np.log(
        priors
    )


def _settle(x: Floats, labels: Labels, k: int, steps: int = 20) -> tuple[Floats, Floats, float]:
    """Let each occurrence join the sense that fits it best, a few times; return the senses."""
    for _ in range(steps):
        sizes = np.bincount(labels, minlength=k)
        if not sizes.all():
            break
        centres = np.array([x[labels == sense].mean(axis=0) for sense in range(k)])
        priors = sizes / len(x)
        spread = float(((x - centres[labels]) ** 2).mean()) or 1.0
        moved = _scores(x, centres, priors, spread).argmax(axis=1)
        if np.array_equal(moved, labels) or len(np.unique(moved)) < k:
            break
        labels = moved
    else:
        return centres, priors, spread
    if not sizes.all():
        raise CtxembedError(
            f"only {int(np.count_nonzero(sizes))} of {k} senses have an occurrence; give a lower"
            " --k"
        )
    return centres, priors, spread


def adjusted_rand(groupings: Labels) -> Floats:
    """Return (m, m) how far groupings (m, n) agree: 1 for the same, 0 for chance.

    The adjusted Rand index (Hubert and Arabie 1985).

    >>> adjusted_rand(np.array([[0, 0, 1, 1], [1, 1, 0, 0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    number, size = groupings.shape
    groups = int(groupings.max()) + 1
    member = np.equal.outer(groupings, np.arange(groups)).swapaxes(1, 2)  # (m, groups, n)
    flat = member.reshape(-1, size).astype(np.float32)
    shared = (flat @ flat.T).astype(np.float64).reshape(number, groups, number, groups)
    sizes = member.sum(axis=2)  # (m, groups)
    both = (shared * (shared - 1)).sum(axis=(1, 3))  # pairs that two groupings keep together
    kept = (sizes * (sizes - 1.0)).sum(axis=1)
    chance, most = np.outer(kept, kept) / (size * (size - 1)), np.add.outer(kept, kept) / 2
    agree = np.divide(both - chance, most - chance, out=np.ones_like(both), where=most > chance)
    return np.asarray(agree)


def _principal(x: Floats, number: int) -> Floats:
    """Return the directions (d, number) in which x (n, d) varies most."""
    _, axes = np.linalg.eigh(x.T @ x)
    return np.asarray(axes[:, ::-1][:, :number])
