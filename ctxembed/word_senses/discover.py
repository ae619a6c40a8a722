"""Find the senses of a word among its occurrences."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import Positions, no_corpus, quote, read_windows, sample_positions
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.attentions import digest
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.k_means import Labels
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import MANY, is_content
from ctxembed.word_senses.cluster import cluster
from ctxembed.word_senses.evidence import MIN_OCCURRENCES
from ctxembed.word_senses.sense_space import make_space
from ctxembed.word_senses.sense_test import SenseTest

MEAN_SAMPLE = 1000  # occurrences of each sense that are averaged to its vector
MARKERS, EXAMPLES = 12, 12  # words and positions saved for each sense
WINDOW = 10  # words to either side that may mark a sense
MAX_QUOTES = 100  # compared for the examples of a sense


class SenseRule(Protocol):
    """How a vector gets its sense: the largest of unit(vector) @ weights.T + bias."""

    @property
    def weights(self) -> Floats: ...  # (k, d)
    @property
    def bias(self) -> Floats: ...  # (k,)


def find_senses(
    representations: Representations, word: str, *, k: int | None = None,
    attention: str | None = None, most: int = 10_000, seed: int = 1, min_score: float | None = None,
    progress: Progress = SILENT,
) -> SavedSenses:  # fmt: skip
    """Return the senses of a word: the clusters of the contextual vectors of its occurrences.

    k: the number of senses; None lets the test of this corpus decide (SenseTest), or takes the
    largest number with a score of min_score.
    most: read at most so many occurrences, drawn at random. Nothing is written to the model.
    """
    model = representations.model
    name = attention or representations.default()
    if model.index is None:
        raise ModelError(f"cannot find senses of {word!r}: {no_corpus(model)}")
    hits = find_hits(model, word)
    total, size = len(hits.positions), hits.size
    if total < max(MIN_OCCURRENCES, 2 * (k or 1)):
        few = f"{hits.query!r} occurs {total} times: too few to tell senses apart"
        raise CtxembedError(f"{few} (at least {MIN_OCCURRENCES} are needed, hundreds are better)")
    positions = sample_positions(hits.positions, most, np.random.default_rng(seed))
    space = make_space(representations, name)
    vectors = np.empty((len(positions), model.dim), np.float32)
    with progress.stage("reading", len(positions), "occurrences") as stage:
        for batch in read_windows(model, positions, size=size):
            vectors[batch.rows] = space.representation.embed(batch)
            stage.advance(len(batch.rows))
    verdict = chosen = None
    if k is None and min_score is None:
        test = SenseTest.of(representations, name)
        chosen = test.measure(hits)
        assert chosen is not None
        verdict = test.judge(chosen, progress)
    number = verdict.senses if verdict else k
    clustering = cluster(vectors, space, number, 1.0 if min_score is None else min_score)
    if chosen is not None and verdict is not None:  # of the occurrences that chose the number
        scores, agreements = chosen.separation.scores, chosen.separation.agreements
        clustering = replace(clustering, scores=scores, agreements=agreements)
    facts = {
        "k": k, "most": most, "seed": seed, "total": total, "stability": clustering.stability,
        "scores": clustering.scores, "agreements": clustering.agreements,
        "layer": digest(model, name),
    }  # fmt: skip
    facts |= {"size": size} if size > 1 else {}
    facts |= {"min_score": min_score} if min_score is not None else {}
    if verdict is not None:
        facts |= {"probability": [verdict.probability, verdict.low, verdict.high]}
    return describe_senses(
        representations, hits, name, positions, vectors, clustering.labels, clustering, facts
    )


def describe_senses(
    representations: Representations, hits: Hits, attention: str, positions: Positions,
    vectors: Floats, labels: Labels, rule: SenseRule, facts: dict[str, Any],
    fallback: Floats | None = None,
) -> SavedSenses:  # fmt: skip
    """Return senses with their counts, means, markers and examples.

    positions (n,), vectors (n, d), labels (n,) of occurrences; fallback: (k, d) means of senses
    that no occurrence has.
    """
    model, size, number = representations.model, hits.size, len(rule.bias)
    assert model.index is not None
    representation, space = representations.get(attention), make_space(representations, attention)
    points, rng = space.project(vectors), np.random.default_rng(int(facts["seed"]))
    means, examples = list[Floats](), list[list[int]]()
    for sense in range(number):
        mine = labels == sense
        if fallback is not None and not mine.any():
            means.append(fallback[sense])
            examples.append([])
            continue
        some = sample_positions(positions[mine], MEAN_SAMPLE, rng)
        means.append(unit(vectors_at(model, representation, some, size)).mean(axis=0))
        examples.append(choose_examples(model.index, positions[mine], size, points[mine]))
    counts = np.bincount(labels, minlength=number).tolist()
    markers = _markers(model, positions, size, labels, number, model.vocabulary.parts(hits.query))
    return SavedSenses(
        model.vocabulary.spelling(hits.query), attention, counts,
        np.stack(means).astype(np.float32), rule.weights.astype(np.float32),
        np.asarray(rule.bias).tolist(), markers, examples, facts,
    )  # fmt: skip


def choose_examples(
    index: Index, positions: Positions, size: int, points: Floats, number: int = EXAMPLES
) -> list[int]:
    """Return positions of one sense, nearest to its centre first, each unlike those before it."""
    if not len(positions):
        return []
    distances = np.linalg.norm(points - points.mean(axis=0), axis=1)
    best = positions[np.argsort(distances, kind="stable")]
    _, first = np.unique(index.sentence_of(best), return_index=True)
    examples: dict[int, set[str]] = {}
    for position in best[np.sort(first)][:MAX_QUOTES].tolist():
        words = set(quote(index, position, size=size).split())
        if all(2 * len(words & other) < len(words | other) for other in examples.values()):
            examples[position] = words
        if len(examples) == number:
            break
    return list(examples)


def _markers(
    model: Model, positions: Positions, size: int, labels: Labels, senses: int, own: Sequence[int]
) -> list[list[str]]:
    """Return for each sense the words that tell it from the other senses and from the corpus."""
    vocabulary = model.vocabulary
    counts = np.zeros((senses, len(vocabulary)))
    for batch in read_windows(model, positions, reach=WINDOW, size=size):
        owners = np.broadcast_to(labels[batch.rows, None], batch.ids.shape)
        np.add.at(counts, (owners[batch.mask], batch.ids[batch.mask]), 1)
    counts[:, list(own)] = 0
    frequency = model.counts / max(1, model.tokens) * (len(vocabulary) > MANY)
    return choose_markers(counts, np.asarray(model.counts), vocabulary.words, frequency)


def choose_markers(
    counts: Floats, corpus: NDArray[Any], words: Sequence[str], frequency: Floats
) -> list[list[str]]:
    """Return the markers of each sense from the counts (k, V) of the words around it.

    corpus: (V,) counts of all words; frequency: (V,) their share, to tell function words.
    """
    known = np.maximum(corpus, 1)  # imported vectors may have words that the corpus lacks
    prior = 100 * known / known.sum()
    senses, markers = len(counts), []
    for mine in counts:
        score = _log_odds(mine, corpus, prior)
        if senses > 1:
            score = np.minimum(score, _log_odds(mine, counts.sum(axis=0) - mine, prior))
        score[mine < 2] = -np.inf
        best = np.argsort(-score, kind="stable")[: MARKERS + 200]
        pairs = [(words[i], float(frequency[i])) for i in best if score[i] > 0]
        # A marker is a content word, and neither a number nor a letter.
        some = [w for w, f in pairs if is_content(w, f) and sum(map(str.isalpha, w)) > 1]
        markers.append(some[:MARKERS])
    return markers


def _log_odds(mine: Floats, rest: Floats, prior: Floats) -> Floats:
    """Return (V,) the log-odds ratio (Monroe et al. 2008) times the same in standard errors."""
    mine, rest = mine + prior, rest + prior
    odds = np.log(mine / (mine.sum() - mine)) - np.log(rest / (rest.sum() - rest))
    return np.asarray(odds * np.abs(odds) / np.sqrt(1 / mine + 1 / rest))
