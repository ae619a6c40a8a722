"""Where occurrences are compared: directions in which words differ, more than one word does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ctxembed.attention.terms import Distance, Walls
from ctxembed.context.occurrences import corpus_of, sample
from ctxembed.context.representations import (
    Attention,
    Bag,
    Ours,
    Representations,
    representations_of,
    vectors_at,
)
from ctxembed.errors import ModelError
from ctxembed.model.attentions import digest
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit

EVEN = 3  # how much more evenly attention weighs over many occurrences than in one sentence
WORDS, EACH = 300, 12  # words, and occurrences of each, from which the space is measured
MIX = 2.0  # even spread mixed into that of the words: rare directions are measured badly
KEPT = 1 / 3  # of the directions, those in which words differ most


@dataclass(frozen=True)
class SenseSpace:
    """Contextual vectors, as they tell words apart."""

    way: Ours
    matrix: Floats  # (d, d) directions, those in which words differ most first
    apart: float = 1.0  # squared distance of the means of two random words in this space
    kept: int | None = None  # of the directions, so many tell how many senses there are
    baseline: float = 0.0  # mean cosine of occurrences of two different words

    def place(self, vectors: Floats) -> Floats:
        """Return (n, d) contextual vectors in this space."""
        return np.asarray(unit(vectors).astype(np.float64) @ self.matrix)


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


def make_space(representations: Representations, name: str) -> SenseSpace:
    """Measure how words differ, and how the occurrences of one word do, on words drawn at random.

    A property of the model: the same words whatever the seed of a question, measured once.
    """
    return _made(representations.model, name, digest(representations.model, name))


@lru_cache(maxsize=8)
def _made(model: Model, name: str, layer: int) -> SenseSpace:
    representations, rng = representations_of(model), np.random.default_rng(1)
    way = evidence(representations, name)
    common = min(200, len(model.vocabulary) // 50)  # the first words are function words
    rows = common + np.flatnonzero(model.counts[common:] >= 4 * EACH)
    if len(rows) < 20:  # a small corpus: take what there is
        rows = np.flatnonzero(model.counts >= 2)
    drawn = rng.choice(rows, min(WORDS, len(rows)), replace=False)
    index = corpus_of(model)
    places = [sample(index.positions(int(row)), EACH, rng) for row in drawn]
    if not places:
        return SenseSpace(way, np.eye(model.dim))
    made = vectors_at(model, way, np.concatenate(places)).astype(np.float64)
    ends = np.cumsum([len(p) for p in places])[:-1]
    groups = np.split(unit(made), ends)
    return SenseSpace(way, *tell_apart(groups), _between(groups))


def tell_apart(groups: Sequence[Floats]) -> tuple[Floats, float, int]:
    """Return the matrix (d, d) of directions that tell groups (n, d) apart, how far, how many.

    Distances are taken in units of the usual spread of one group (within-class covariance
    normalisation, Hatch et al. 2006), mixed with an even one; directions are in order of how much
    the groups' means differ in them. How far: the squared distance of two groups' means in the
    first directions, of which there are so many.
    """
    dim = groups[0].shape[1]
    within, freedom = np.zeros((dim, dim)), 0
    for group in groups:
        centred = group - group.mean(axis=0)
        within += centred.T @ centred
        freedom += len(group) - 1
    within /= max(1, freedom)
    even = float(np.trace(within)) / dim or 1.0
    if not np.isfinite(within).all():
        raise ModelError("the model's occurrences have no vectors: it is damaged; train it again")
    values, axes = np.linalg.eigh(within + MIX * even * np.eye(dim))
    matrix = axes / np.sqrt(values)
    means = np.array([group.mean(axis=0) for group in groups])
    size = float(np.mean([len(group) for group in groups]))
    between = matrix.T @ (np.atleast_2d(np.cov(means.T)) - within / size) @ matrix
    values, axes = np.linalg.eigh(np.nan_to_num(between))  # a lone group has no spread of means
    kept = min(dim, max(10, round(KEPT * dim)))
    apart = 2 * float(values[::-1][:kept].sum())
    return np.asarray(matrix @ axes[:, ::-1]), apart if apart > 1e-9 else 1.0, kept


def _between(groups: Sequence[Floats]) -> float:
    """Return the mean cosine of unit vectors of different groups."""
    sums = np.array([group.sum(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    total = sums.sum(axis=0)
    pairs = sizes.sum() ** 2 - (sizes**2).sum()
    return float((total @ total - (sums * sums).sum()) / pairs) if pairs else 0.0
