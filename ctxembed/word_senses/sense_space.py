"""The space in which occurrences are compared, and the assignment of saved senses to them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms import Distance, Walls
from ctxembed.context.occurrences import corpus_of, read_windows, sample_positions
from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import Attention, Bag, ModelRepresentation, vectors_at
from ctxembed.context.representations import Representations
from ctxembed.errors import ModelError
from ctxembed.model.attentions import digest, read_description
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, saved_senses
from ctxembed.stats.vectors import Floats, unit

FLATTEN = 3  # divides attention scores: over many occurrences, weights should be more even
WORDS, OCCURRENCES_PER_WORD = 300, 12  # from which the space is measured
SHRINKAGE = 2.0  # even variance added to the measured one, which is noisy in rare directions
KEPT = 1 / 3  # fraction of directions, those in which words differ most


@dataclass(frozen=True)
class SenseSpace:
    """A linear map of contextual vectors, in which distances tell words apart."""

    representation: ModelRepresentation
    matrix: Floats  # (d, d) directions, those in which words differ most first
    apart: float = 1.0  # squared distance of the means of two random words in this space
    kept: int | None = None  # first directions, in which the number of senses is chosen
    baseline: float = 0.0  # mean cosine of occurrences of two different words

    def project(self, vectors: Floats) -> Floats:
        """Return contextual vectors (n, d) in this space."""
        return np.asarray(unit(vectors).astype(np.float64) @ self.matrix)


def sense_representation(representations: Representations, name: str) -> ModelRepresentation:
    """Return the representation in which senses are found.

    For one sentence, the few words that matter most give the best vector; over many occurrences
    all words count. So attention weights are more even here and reach into other clauses, and
    general attention uses centred vectors.
    """
    representation = representations.get(name)
    if isinstance(representation, Bag):
        return Bag("bag", representations.model.centred)
    if not isinstance(representation, Attention):
        return representation
    layer = replace(representation.layer, scale=representation.layer.scale / FLATTEN)
    if layer.w_q is None:
        return replace(representation, layer=layer, inputs=representations.model.centred)
    terms = [
        replace(t, by_head=t.by_head / FLATTEN) if isinstance(t, Distance | Walls) else t
        for t in layer.terms
    ]
    return replace(representation, layer=replace(layer, terms=tuple(terms)))


def make_space(representations: Representations, name: str) -> SenseSpace:
    """Return the space measured on random words of a model; it needs no seed, and is cached."""
    model = representations.model
    kept = Representations.of(model.whole or model)  # a selection may be too small to measure it
    key = name, digest(kept.model, name)
    if key not in kept.sense_spaces:
        kept.sense_spaces[key] = _measure(kept, name)
    space: SenseSpace = kept.sense_spaces[key]
    return space


def _measure(representations: Representations, name: str) -> SenseSpace:
    """Return the space of an attention from the variance between words and within one word."""
    model, rng = representations.model, np.random.default_rng(1)
    representation = sense_representation(representations, name)
    common = min(200, len(model.vocabulary) // 50)  # the first words are function words
    rows = common + np.flatnonzero(model.counts[common:] >= 4 * OCCURRENCES_PER_WORD)
    if len(rows) < 20:  # a small corpus: take what there is
        rows = np.flatnonzero(model.counts >= 2)
    drawn = rng.choice(rows, min(WORDS, len(rows)), replace=False).tolist()
    index = corpus_of(model)
    positions = [sample_positions(index.positions(row), OCCURRENCES_PER_WORD, rng) for row in drawn]
    if not positions:
        return SenseSpace(representation, np.eye(model.dim))
    vectors = vectors_at(model, representation, np.concatenate(positions)).astype(np.float64)
    groups = np.split(unit(vectors), np.cumsum([len(p) for p in positions])[:-1])
    return SenseSpace(representation, *discriminant_directions(groups), mean_cosine_between(groups))


def discriminant_directions(groups: Sequence[Floats]) -> tuple[Floats, float, int]:
    """Return directions (d, d) that tell groups apart, the groups' distance, and how many to use.

    Distances are in units of the usual spread of one group (within-class covariance normalisation,
    Hatch et al. 2006), mixed with an even one. The groups' means differ most in the first
    directions; the distance is the mean squared one there. groups: (n, d) vectors each.
    """
    dim = groups[0].shape[1]
    means, within = np.array([group.mean(axis=0) for group in groups]), np.zeros((dim, dim))
    for group, mean in zip(groups, means, strict=True):
        within += (group - mean).T @ (group - mean)
    within /= max(1, sum(len(group) - 1 for group in groups))
    even = float(np.trace(within)) / dim or 1.0
    if not np.isfinite(within).all():
        raise ModelError("the model has vectors that are not finite: it is damaged. Train it again")
    values, axes = np.linalg.eigh(within + SHRINKAGE * even * np.eye(dim))
    matrix = axes / np.sqrt(values)
    size = float(np.mean([len(group) for group in groups]))
    between = matrix.T @ (np.atleast_2d(np.cov(means.T)) - within / size) @ matrix
    values, axes = np.linalg.eigh(np.nan_to_num(between))  # a lone group has no spread of means
    kept = min(dim, max(10, round(KEPT * dim)))
    apart = 2 * float(values[::-1][:kept].sum())
    return np.asarray(matrix @ axes[:, ::-1]), apart if apart > 1e-9 else 1.0, kept


def principal_directions(centred: Floats, number: int) -> Floats:
    """Return the directions (d, number) in which vectors (n, d), of mean 0, vary most.

    >>> apart = np.array([[3.0, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0]])
    >>> (principal_directions(apart, 2).round(6) + 0.0).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    _, axes = np.linalg.eigh(centred.T @ centred)
    widest = axes[:, ::-1][:, :number]
    # A direction has no sign: make its largest coordinate positive.
    signs = np.sign(widest[np.abs(widest).argmax(axis=0), np.arange(widest.shape[1])])
    return np.asarray(widest * signs)


def mean_cosine_between(groups: Sequence[Floats]) -> float:
    """Return the mean cosine of unit vectors of different groups."""
    sums = np.array([group.sum(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    total = sums.sum(axis=0)
    pairs = sizes.sum() ** 2 - (sizes**2).sum()
    return float((total @ total - (sums * sums).sum()) / pairs) if pairs else 0.0


def current_senses(model: Model, word: str, attention: str | None = None) -> SavedSenses | None:
    """Return the senses saved for a word; None if their attention has been learned anew since."""
    saved = saved_senses(model, word)
    if saved is None or attention not in (None, saved.attention):
        return None
    if saved.facts.get("layer") == digest(model, saved.attention):
        return saved
    if saved.attention in model.opened_attentions:
        read_description(model, saved.attention)  # raises an error if the attention is damaged
    return None


def assign_senses(
    representations: Representations, senses: SavedSenses, occurrences: Sequence[Occurrence]
) -> tuple[NDArray[np.intp], Floats]:
    """Return the sense (n,) of each occurrence, from 0, and its margin (n,), as classify does."""
    representation = sense_representation(representations, senses.attention)
    return classify(representation.vectors(occurrences), senses.weights, senses.bias)


def classify_at(
    representations: Representations, senses: SavedSenses | None, positions: NDArray[np.int64],
    size: int = 1,
) -> tuple[NDArray[np.intp], Floats]:  # fmt: skip
    """Return the sense (n,) of each occurrence, from 0, and its margin (n,)."""
    labels, margins = np.zeros(len(positions), np.intp), np.full(len(positions), np.nan, np.float32)
    if senses:
        representation = sense_representation(representations, senses.attention)
        for batch in read_windows(representations.model, positions, size=size):
            vectors = representation.embed(batch)
            labels[batch.rows], margins[batch.rows] = classify(vectors, senses.weights, senses.bias)
    return labels, margins


def classify(
    vectors: Floats, weights: Floats, bias: Floats | Sequence[float]
) -> tuple[NDArray[np.intp], Floats]:
    """Return the sense (n,) of each vector (n, d), and its margin (n,).

    The margin is the distance to the border of the next sense, in standard deviations of one
    sense's occurrences; NaN where there is one sense. weights (k, d), bias (k,).
    """
    scores = unit(vectors).astype(np.float64) @ weights.T + np.asarray(bias)  # (n, k)
    labels = scores.argmax(axis=1)
    if scores.shape[1] < 2:
        return labels, np.full(len(labels), np.nan)
    ordered = np.sort(scores, axis=1)
    return labels, ordered[:, -1] - ordered[:, -2]
