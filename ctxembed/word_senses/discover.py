"""Find the senses of a word among its occurrences."""

from collections.abc import Sequence

import numpy as np

from ctxembed.context.hits import find_hits
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
from ctxembed.word_senses.sense_space import make_space

MIN_OCCURRENCES = 20  # fewer are too few to find senses in
MEAN_SAMPLE = 1000  # occurrences of each sense that are averaged to its vector
MARKERS, EXAMPLES = 12, 12  # words and positions saved for each sense
WINDOW = 10  # words to either side that may mark a sense
MAX_QUOTES = 100  # compared for the examples of a sense


def find_senses(
    representations: Representations, word: str, *, k: int | None = None,
    attention: str | None = None, most: int = 10_000, seed: int = 1, min_score: float | None = None,
    progress: Progress = SILENT,
) -> SavedSenses:  # fmt: skip
    """Return the senses of a word: the clusters of the contextual vectors of its occurrences.

    k: the number of senses; None takes the largest with a score of min_score (default 1).
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
    clustering = cluster(vectors, space, k, 1.0 if min_score is None else min_score)
    facts = {
        "k": k, "most": most, "seed": seed, "total": total, "stability": clustering.stability,
        "scores": clustering.scores, "agreements": clustering.agreements,
        "layer": digest(model, name),
    }  # fmt: skip
    facts |= {"size": size} if size > 1 else {}
    facts |= {"min_score": min_score} if min_score is not None else {}
    labels, representation = clustering.labels, representations.get(name)
    points, rng = space.project(vectors), np.random.default_rng(seed)
    means, examples = [], []
    for sense in range(clustering.number):
        mine = labels == sense
        some = sample_positions(positions[mine], MEAN_SAMPLE, rng)
        means.append(unit(vectors_at(model, representation, some, size)).mean(axis=0))
        examples.append(_examples(model.index, positions[mine], size, points[mine]))
    counts = np.bincount(labels, minlength=clustering.number).tolist()
    markers = _markers(model, positions, size, labels, model.vocabulary.parts(word))
    return SavedSenses(
        model.vocabulary.spelling(word), name, counts, np.stack(means).astype(np.float32),
        clustering.weights.astype(np.float32), clustering.bias.tolist(), markers, examples, facts,
    )  # fmt: skip


def _examples(index: Index, positions: Positions, size: int, points: Floats) -> list[int]:
    """Return positions of one sense, nearest to its centre first, each unlike those before it."""
    distances = np.linalg.norm(points - points.mean(axis=0), axis=1)
    best = positions[np.argsort(distances, kind="stable")]
    _, first = np.unique(index.sentence_of(best), return_index=True)
    examples: dict[int, set[str]] = {}
    for position in best[np.sort(first)][:MAX_QUOTES].tolist():
        words = set(quote(index, position, size=size).split())
        if all(2 * len(words & other) < len(words | other) for other in examples.values()):
            examples[position] = words
        if len(examples) == EXAMPLES:
            break
    return list(examples)


def _markers(
    model: Model, positions: Positions, size: int, labels: Labels, own: Sequence[int]
) -> list[list[str]]:
    """Return for each sense the words that tell it from the other senses and from the corpus."""
    senses, vocabulary = int(labels.max()) + 1, model.vocabulary
    counts = np.zeros((senses, len(vocabulary)))
    for batch in read_windows(model, positions, reach=WINDOW, size=size):
        owners = np.broadcast_to(labels[batch.rows, None], batch.ids.shape)
        np.add.at(counts, (owners[batch.mask], batch.ids[batch.mask]), 1)
    counts[:, list(own)] = 0
    known = np.maximum(model.counts, 1)  # imported vectors may have words that the corpus lacks
    prior = 100 * known / known.sum()
    frequency = model.counts / max(1, model.tokens) * (len(vocabulary) > MANY)
    markers = []
    for mine in counts:
        score = _log_odds(mine, model.counts, prior)
        if senses > 1:
            score = np.minimum(score, _log_odds(mine, counts.sum(axis=0) - mine, prior))
        score[mine < 2] = -np.inf
        best = np.argsort(-score, kind="stable")[: MARKERS + 200]
        pairs = [(vocabulary.words[i], float(frequency[i])) for i in best if score[i] > 0]
        # A marker is a content word, and neither a number nor a letter.
        words = [w for w, f in pairs if is_content(w, f) and sum(map(str.isalpha, w)) > 1]
        markers.append(words[:MARKERS])
    return markers


def _log_odds(mine: Floats, rest: Floats, prior: Floats) -> Floats:
    """Return (V,) the log-odds ratio (Monroe et al. 2008) times the same in standard errors."""
    mine, rest = mine + prior, rest + prior
    odds = np.log(mine / (mine.sum() - mine)) - np.log(rest / (rest.sum() - rest))
    return np.asarray(odds * np.abs(odds) / np.sqrt(1 / mine + 1 / rest))
