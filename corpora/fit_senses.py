"""Learn from labelled occurrences how to choose a sense: the projection and the weights.

The score of a sense for an occurrence of its lemma, as in ctxembed/word_senses/definitions.py:

    text · cosines + examples · n / (n + 1) · (cos(z, T) - cos(z, R)) + prior · logs

z: the projected occurrence, T: the sum of the other labelled occurrences of the sense, R: that of
all its lemma's. The loss is the cross-entropy of the softmax; occurrences of the same document and
the occurrence itself are left out of T, R and n.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from corpora.labelled_sentences import WRITTEN, Labelled, splice
from ctxembed.attention.training.learning import Adam
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import open_model
from ctxembed.stats.vectors import unit
from ctxembed.word_senses.definitions import (
    WITHOUT_EXAMPLES,
    Definitions,
    count_senses,
    log_frequencies,
    mean_direction,
)
from ctxembed.word_senses.dictionary import PARTS, Dictionary, Sense
from ctxembed.word_senses.labelled import Means, centre, join, near_words, write_labelled
from ctxembed.word_senses.sense_file import ADDED, SenseFile

BATCH = 4000  # sentences
WRITTEN_COUNT = 3  # occurrences that a written sentence counts as: it was written for its sense
WRITTEN_LOSS, SPLICED_LOSS = 2.0, 1.0  # weights of its loss, beside one of SemCor; if spliced
DIRECTIONS = 64  # of the projection
SHRINKAGE = 0.1  # even variance added to the measured one, as a share of its mean
MIN_OCCURRENCES = 3  # of the senses whose spread is measured
ROUNDS, GROUPS, RATE = 3, 8, 0.03  # rounds over all lemmas, lemmas of one step, first rate
PROJECTION_RATE = 1 / 30  # of the projection, beside that of the weights
DROPPED = 0.2  # of the inputs, while the projection is learned
MAX_OCCURRENCES, MAX_ASKED = 400, 64  # of one lemma in a step, and those whose loss is measured
EXAMPLES, PRIOR = 5.0, (0.35, 0.45)  # first weights
SCALE = 0.9  # of the weights that are kept: so `sure` is right on documents that are held out


WEIGHTS = ("text", "examples", "prior")  # in the order of labelled.py


@dataclass(frozen=True)
class Group:
    """The labelled occurrences of a lemma with one part of speech."""

    part: int  # among PARTS
    rows: Any  # (N,) of the inputs
    gold: Any  # (N, K) 1 where an occurrence has a sense
    document: Any  # (N,) a number; that of a written sentence is its own or its pair's
    written: Any  # (N,) bool
    spliced: Any  # (N,) bool: learned from, but no example of its sense
    cosines: Any  # (N, K, 6) with the texts of each sense
    logs: Any  # (N, K, 2) frequencies, without the occurrence itself
    numbers: Any  # (K,) of the senses, as Sense.number

    @property
    def counts(self) -> Any:
        """(N,) how many occurrences each counts as."""
        counts = np.where(self.written, WRITTEN_COUNT, 1)
        return np.where(self.spliced, 0, counts).astype(np.float32)

    def take(self, rows: Any) -> "Group":
        """Return some of the occurrences."""
        own = {name: getattr(self, name)[rows] for name in
               ("rows", "gold", "document", "written", "spliced", "cosines", "logs")}  # fmt: skip
        return replace(self, **own)


def fit_senses(dictionary: Dictionary, items: Sequence[Labelled], folder: Path, name: str) -> None:
    """Write the labelled senses of a model: sums, projection, weights and means."""
    added = SenseFile(str(Path(__file__).parent / ADDED), dictionary)
    definitions = Definitions(Representations.of(open_model(name)), [dictionary, added])
    model = definitions.representations.model
    model.dequantize()
    written = splice([item for item in items if item.source == WRITTEN], np.random.default_rng(2))
    items = [*(item for item in items if item.source != WRITTEN), *written]
    occurrences = [definitions.find_occurrence(*item.sides()) for item in items]
    known = [i for i, occurrence in enumerate(occurrences) if occurrence.target]
    items, occurrences = [items[i] for i in known], [occurrences[i] for i in known]
    kinds = [
        np.concatenate([
            representation.vectors(occurrences[first : first + BATCH])
            for first in range(0, len(occurrences), BATCH)
        ])
        for representation in (definitions.attention, definitions.bag)
    ]  # fmt: skip
    near = near_words(model, occurrences)
    means = [mean_direction(vectors) for vectors in (*kinds, *near[:2])]
    means[2:2] = map(mean_direction, definitions.text_vectors(_texts(dictionary)))
    definitions.means = Means(*means)
    attention, bag = (centre(*both) for both in zip(kinds, means[:2], strict=True))
    inputs = join(attention, bag, near, definitions.means)
    groups = make_groups(definitions, items, attention, bag)
    parameters = learn(inputs, groups)
    projection = parameters["projection"]
    vectors = unit(inputs @ projection)
    sums: dict[int, tuple[Any, float]] = {}
    for group in groups:
        labelled = group.gold.sum(axis=0) > 0
        if labelled.sum() > 1:  # else there is nothing to tell apart
            weighted = group.gold * group.counts[:, None]
            totals = weighted.T @ vectors[group.rows]
            for k in np.flatnonzero(labelled).tolist():
                sums[int(group.numbers[k])] = totals[k], float(weighted[:, k].sum())
    weights = {
        part: (SCALE * np.concatenate([parameters[name][i] for name in WEIGHTS])).tolist()
        for i, part in enumerate(PARTS)
    }
    (folder / model.path.name).mkdir()
    write_labelled(
        folder / model.path.name, model, definitions.attention.name, sums, projection, means,
        weights,
    )  # fmt: skip
    print(f"{model.path.name}: {len(sums)} senses of {len(items)} occurrences")


def _texts(dictionary: Dictionary) -> list[Sense]:
    """Return a sense for each synset, for the mean of all texts."""
    texts = []
    for number in range(dictionary.meta["synsets"]):
        synset = dictionary.synset(number)
        plain = [word.replace("_", " ") for word, _, _ in synset.words]
        texts.append(
            Sense("", synset.part, "", synset.definition, synset.examples, plain, 0, number)
        )
    return texts


def make_groups(
    definitions: Definitions, items: Sequence[Labelled], attention: Any, bag: Any
) -> list[Group]:
    """Return the occurrences of each lemma that has several senses."""
    rows_of: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row, item in enumerate(items):
        rows_of[item.lemma.lower().replace("_", " "), item.part].append(row)
    groups = []
    for (lemma, part), rows in sorted(rows_of.items()):
        senses = [s for s in definitions.senses(lemma, part) if s.lemma.lower() == lemma]
        gold = np.array([[s.key in items[row].keys for s in senses] for row in rows], np.float32)
        kept = gold.sum(axis=1) > 0 if len(senses) > 1 else np.zeros(len(rows), bool)
        if not kept.any():
            continue
        gold, own = gold[kept], [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]
        vectors = definitions._sense_vectors(senses)  # (K, 2, 3, d)
        cosines = np.einsum(
            "nad,katd->nkat", np.stack([attention[own], bag[own]], axis=1), vectors
        ).reshape(len(own), len(senses), 6)
        written = np.array([items[row].source == WRITTEN for row in own])
        counts = count_senses(senses)
        without = np.where(written[:, None], counts, np.maximum(counts - gold, 0))
        logs = np.stack([log_frequencies(senses, row) for row in without])
        places = {name: n for n, name in enumerate(dict.fromkeys(items[row].source for row in own))}
        sources = [places[items[row].source] for row in own]
        pairs = np.array([items[row].pair for row in own])
        alone = len(places) + np.arange(len(own))
        document = np.where(written, np.where(pairs < 0, -alone, len(places) + pairs), sources)
        groups.append(
            Group(
                list(PARTS).index(part), np.array(own), gold, document, written,
                np.array([items[row].is_spliced for row in own]),
                cosines.astype(np.float32), logs.astype(np.float32),
                np.array([sense.number for sense in senses]),
            )
        )  # fmt: skip
    return groups


def learn(inputs: Any, groups: Sequence[Group]) -> dict[str, Any]:
    """Return projection, text, examples and prior, learned by the loss of all groups."""
    rng = np.random.default_rng(1)
    parameters: dict[str, Any] = {
        "projection": discriminant(inputs, groups),
        "text": np.array([WITHOUT_EXAMPLES[part][:6] for part in PARTS], np.float32),
        "examples": np.full((len(PARTS), 1), EXAMPLES, np.float32),
        "prior": np.tile(np.array(PRIOR, np.float32), (len(PARTS), 1)),
    }
    adam, steps = Adam(RATE, np.inf, {"projection": PROJECTION_RATE}), len(groups) // GROUPS
    for turn in range(ROUNDS):
        order, total, weight = rng.permutation(len(groups)), 0.0, 0.0
        for step in range(steps):
            chosen = [groups[i] for i in order[step * GROUPS : (step + 1) * GROUPS]]
            gradients = {name: np.zeros_like(own) for name, own in parameters.items()}
            size = 0.0
            for group in chosen:
                loss, own = sample_loss(parameters, inputs, group, rng)
                total, size = total + loss[0], size + loss[1]
                for key, gradient in own.items():
                    gradients[key] += gradient
            weight += size
            gradients = {key: g / max(size, 1e-9) for key, g in gradients.items()}
            parameters = adam.update(
                parameters, gradients, max(0.05, 1 - (turn + step / steps) / ROUNDS)
            )
        print(f"senses: round {turn + 1}, loss {total / weight:.4f}", flush=True)
    return parameters


def sample_loss(
    parameters: Mapping[str, Any], inputs: Any, group: Group, rng: np.random.Generator
) -> tuple[tuple[float, float], dict[str, Any]]:
    """Return the loss and weight of some occurrences of a group, and the gradients."""
    if len(group.rows) > MAX_OCCURRENCES:
        group = group.take(rng.choice(len(group.rows), MAX_OCCURRENCES, replace=False))
    n = len(group.rows)
    asked = np.arange(n) if n <= MAX_ASKED else rng.choice(n, MAX_ASKED, replace=False)
    x = inputs[group.rows]
    x = x * ((rng.random(x.shape, np.float32) >= DROPPED) / np.float32(1 - DROPPED))
    weights = np.where(group.written[asked], WRITTEN_LOSS, 1.0)
    weights = np.where(group.spliced[asked], SPLICED_LOSS, weights)
    weights *= (n / len(asked)) ** 0.5
    loss, gradients = measure_loss(parameters, x, group, asked, weights)
    return (loss, float(weights.sum())), gradients


def measure_loss(
    parameters: Mapping[str, Any], x: Any, group: Group, asked: Any, weights: Any
) -> tuple[float, dict[str, Any]]:
    """Return the loss of the occurrences asked, whose inputs are x (N, D), and its gradients."""
    part, gold = group.part, group.gold[asked]
    y = x @ parameters["projection"]
    lengths = np.maximum(np.sqrt((y * y).sum(axis=1, keepdims=True)), 1e-9)
    z = y / lengths  # (N, k)
    counted = group.gold * group.counts[:, None]  # (N, K)
    others = (group.document[asked][:, None] != group.document).astype(np.float32)  # (n, N)
    of_sense = others[:, None, :] * counted.T  # (n, K, N)
    sums = of_sense @ z  # (n, K, k)
    every = sums.sum(axis=1)  # (n, k)
    number = of_sense.sum(axis=2)  # (n, K)
    to_sense, to_every = _length(sums), _length(every)
    near, around = sums / to_sense[..., None], every / to_every[:, None]
    own = z[asked]
    nearer = np.einsum("nkd,nd->nk", near, own) - (around * own).sum(axis=1)[:, None]
    shrunk = number / (number + 1)
    scores = group.cosines[asked] @ parameters["text"][part]
    scores = scores + parameters["examples"][part] * shrunk * nearer
    scores = scores + group.logs[asked] @ parameters["prior"][part]
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    right = (p * gold).sum(axis=1)
    loss = -float((weights * np.log(right + 1e-30)).sum())
    d = weights[:, None] * (p - p * gold / (right[:, None] + 1e-30))  # (n, K)
    toward = parameters["examples"][part] * shrunk * d  # (n, K) with respect to `nearer`
    d_near, d_around = toward[..., None] * own[:, None], -toward.sum(axis=1)[:, None] * own
    d_sums = _through_length(d_near, near, to_sense)
    d_sums = d_sums + _through_length(d_around, around, to_every)[:, None]
    d_z = np.einsum("nkm,nkd->md", of_sense, d_sums)
    d_own = np.einsum("nk,nkd->nd", toward, near) - toward.sum(axis=1)[:, None] * around
    np.add.at(d_z, asked, d_own)
    d_y = (d_z - z * (d_z * z).sum(axis=1, keepdims=True)) / lengths
    gradients = {name: np.zeros_like(own) for name, own in parameters.items()}
    gradients["projection"] = (x.T @ d_y).astype(x.dtype)
    gradients["text"][part] = np.einsum("nk,nkt->t", d, group.cosines[asked])
    gradients["examples"][part] = (d * shrunk * nearer).sum()
    gradients["prior"][part] = np.einsum("nk,nkt->t", d, group.logs[asked])
    return loss, gradients


def _length(x: Any) -> Any:
    return np.maximum(np.sqrt((x * x).sum(axis=-1)), 1e-9)


def _through_length(gradient: Any, direction: Any, length: Any) -> Any:
    """Return the gradient with respect to x, where direction = x / length."""
    along = (gradient * direction).sum(axis=-1, keepdims=True)
    return (gradient - along * direction) / length[..., None]


def discriminant(inputs: Any, groups: Sequence[Group]) -> Any:
    """Return (D, k) the directions in which the senses of a word differ most (Fisher 1936).

    Distances are measured by the spread of the occurrences of one sense.
    """
    rows, numbers, counts = [], [], []
    several = [group for group in groups if (group.gold.sum(axis=0) > 0).sum() > 1]
    ends = np.cumsum([0, *(group.gold.shape[1] for group in several)]).tolist()
    for group, first in zip(several, ends, strict=False):
        occurrence, sense = np.nonzero(group.gold)
        rows.append(group.rows[occurrence])
        numbers.append(first + sense)
        counts.append(group.counts[occurrence])
    at, own, weights = (np.concatenate(all_of) for all_of in (rows, numbers, counts))
    vectors, totals = inputs[at], np.bincount(own, weights, ends[-1])
    sums = np.zeros((ends[-1], inputs.shape[1]), np.float32)
    np.add.at(sums, own, weights[:, None] * vectors)
    means = sums / np.maximum(totals, 1)[:, None].astype(np.float32)
    spread = totals[own] >= MIN_OCCURRENCES
    apart = vectors[spread] - means[own[spread]]
    within = (apart.T @ apart).astype(np.float64) / len(apart)
    values, axes = np.linalg.eigh(
        within + SHRINKAGE * np.trace(within) / len(within) * np.eye(len(within))
    )
    whiten = (axes / np.sqrt(values)) @ axes.T
    between = np.zeros_like(within)
    for first, last in pairwise(ends):
        apart = means[first:last] - sums[first:last].sum(axis=0) / totals[first:last].sum()
        between += (apart * totals[first:last, None]).T @ apart
    _, axes = np.linalg.eigh(whiten.T @ between @ whiten)
    directions = (whiten @ axes[:, ::-1][:, :DIRECTIONS]).astype(np.float32)
    return directions / np.float32(5 * np.abs(directions).max())
