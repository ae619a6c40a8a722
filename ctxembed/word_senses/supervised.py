"""Learn the senses of a word from labelled occurrences, or from those of another model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import Positions, corpus_of, read_windows, sample_positions
from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError, UsageError
from ctxembed.model.attentions import digest
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.stats.k_means import Labels
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.cluster import ASSIGN_DIRECTIONS
from ctxembed.word_senses.discover import describe_senses
from ctxembed.word_senses.sense_space import (
    SenseSpace,
    classify,
    make_space,
    principal_directions,
    sense_representation,
)

MAX_LABELS = 50
OCCURRENCES_PER_SENSE = 200  # of another model
CONTEXT = 32  # words on each side that are taken from another model
FOLDS = 5


@dataclass(frozen=True)
class Rule:
    """Scores unit(vector) @ weights.T + bias; the largest is the sense."""

    weights: Floats  # (k, d)
    bias: Floats  # (k,)

    def apply(self, vectors: Floats) -> Labels:
        """Return (n,) the sense of each vector."""
        return classify(vectors, self.weights, self.bias)[0]


def fit_rule(space: SenseSpace, every: Floats, labelled: Floats, labels: Labels, k: int) -> Rule:
    """Return the rule of equal round Gaussians around the mean of each label.

    every: (m, d) vectors of all occurrences; labelled (n, d) and labels (n,): some of them, or of
    another model. The principal directions of both are used.
    """
    # Few occurrences span few directions. Where labelled vectors leave them, rounding would decide.
    points = space.project(np.concatenate([every, labelled]))
    middle = points.mean(axis=0)
    directions = principal_directions(points - middle, ASSIGN_DIRECTIONS)  # (d, 30)
    x = (space.project(labelled) - middle) @ directions
    sizes = np.bincount(labels, minlength=k)
    centres = np.array([x[labels == sense].mean(axis=0) for sense in range(k)])
    spread = float(((x - centres[labels]) ** 2).sum()) / (max(1, len(x) - k) * x.shape[1]) or 1.0
    priors = (sizes + 1) / (sizes.sum() + k)
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    step = (apart[apart > 0].mean() if (apart > 0).any() else 1.0) * np.sqrt(spread)
    lines = centres @ directions.T  # (k, d)
    squares = 0.5 * (centres * centres).sum(axis=1)
    bias = (spread * np.log(priors) - squares - lines @ middle) / step
    return Rule((lines @ space.matrix.T / step).astype(np.float32), bias)


def cross_validate(
    space: SenseSpace, every: Floats, labelled: Floats, labels: Labels, documents: Labels, k: int
) -> Labels:
    """Return (n,) the label that a rule gives each occurrence, learned without its document.

    -1 where the other documents lack a label.
    """
    _, owners = np.unique(documents, return_inverse=True)
    folds = owners.ravel() % FOLDS
    answers = np.full(len(labels), -1)
    for fold in np.unique(folds):
        rest = folds != fold
        known, renumbered = np.unique(labels[rest], return_inverse=True)
        if len(known):
            rule = fit_rule(space, every, labelled[rest], renumbered.ravel(), len(known))
            answers[~rest] = known[rule.apply(labelled[~rest])]
    return answers


def occurrence_vectors(
    representations: Representations, attention: str, positions: Positions, size: int
) -> Floats:
    """Return (n, d) the vectors in which senses are told apart."""
    representation = sense_representation(representations, attention)
    vectors = np.empty((len(positions), representations.model.dim), np.float32)
    for batch in read_windows(representations.model, positions, size=size):
        vectors[batch.rows] = representation.embed(batch)
    return vectors


def learn_senses(
    representations: Representations, hits: Hits, labelled: Floats, labels: Labels,
    names: Sequence[str], attention: str, most: int, seed: int,
) -> SavedSenses:  # fmt: skip
    """Return named senses of a word: labelled vectors (n, d) and labels (n,) say what each is.

    All its occurrences get the sense that fits best; the most frequent comes first.
    """
    check_names(names)
    model, space = representations.model, make_space(representations, attention)
    positions = sample_positions(hits.positions, most, np.random.default_rng(seed))
    if not len(positions):
        raise CtxembedError(f"{hits.query!r} does not occur in the corpus of {model.path}")
    every = occurrence_vectors(representations, attention, positions, hits.size)
    rule = fit_rule(space, every, labelled, labels, len(names))
    assigned = rule.apply(every)
    order = np.argsort(-np.bincount(assigned, minlength=len(names)), kind="stable")
    facts = {
        "k": len(names), "most": most, "seed": seed, "total": len(hits.positions), "scores": [],
        "stability": None, "agreements": [], "layer": digest(model, attention),
        "names": [names[sense] for sense in order],
    }  # fmt: skip
    facts |= {"size": hits.size} if hits.size > 1 else {}
    means = np.stack([unit(labelled[labels == sense]).mean(axis=0) for sense in order])
    return describe_senses(
        representations, hits, attention, positions, every, np.argsort(order)[assigned],
        Rule(rule.weights[order], rule.bias[order]), facts, means,
    )  # fmt: skip


def check_names(names: Sequence[str]) -> None:
    """Refuse names of senses that are equal, empty, or numbers."""
    wrong = [name for name in names if not name or name.isdecimal() or len(name) > 80]
    if wrong or len(set(names)) < len(names) or not 1 <= len(names) <= MAX_LABELS:
        raise UsageError(
            f"names of senses must differ, be no numbers, and be 1 to {MAX_LABELS}:"
            f" {', '.join(names)[:80]!r}"
        )


def transfer_senses(
    source: Representations, senses: SavedSenses, target: Representations, attention: str,
    most: int, seed: int,
) -> SavedSenses:  # fmt: skip
    """Return the senses of a word in another model, learned from contexts in the first.

    The contexts are read as words, so that the two may have different vectors.
    """
    model, hits = source.model, find_hits(source.model, senses.word)
    index, vocabulary = corpus_of(model), target.model.vocabulary
    rng = np.random.default_rng(seed)
    drawn = sample_positions(hits.positions, OCCURRENCES_PER_SENSE * senses.number * 5, rng)
    vectors = occurrence_vectors(source, senses.attention, drawn, hits.size)
    labels, _ = classify(vectors, senses.weights, senses.bias)
    own = vocabulary.parts(senses.word)
    occurrences, kept = list[Occurrence](), list[int]()
    for sense in range(senses.number):
        some = drawn[labels == sense][:OCCURRENCES_PER_SENSE]
        for position in some.tolist():
            sentence = int(index.sentence_of(np.array([position]))[0])
            begin, end = index.offsets[sentence : sentence + 2].tolist()
            first, last = max(begin, position - CONTEXT), min(end, position + hits.size + CONTEXT)
            sides = (index.ids[first:position], index.ids[position + hits.size : last])
            before, after = (
                [row for word in index.words(np.asarray(ids)) for row in vocabulary.parts(word)]
                for ids in sides
            )
            occurrences.append(Occurrence.join(before, own, after))
            kept.append(sense)
    present, renumbered = np.unique(np.array(kept), return_inverse=True)
    names = [senses.names[sense] or f"sense {sense + 1}" for sense in present.tolist()]
    moved = sense_representation(target, attention).vectors(occurrences)
    own_hits = find_hits(target.model, senses.word)
    return learn_senses(
        target, own_hits, moved, renumbered.ravel(), names, attention, most, seed
    )  # fmt: skip
