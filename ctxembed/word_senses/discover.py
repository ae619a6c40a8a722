"""Find the senses of a word among its occurrences, or take those the model has kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ctxembed.context.hits import find_hits
from ctxembed.context.occurrences import Places, corpus_of, no_corpus, quote, read, sample
from ctxembed.context.representations import Representations, vectors_at
from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.attentions import digest
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.assign import current_senses
from ctxembed.word_senses.cluster import Clustering, cluster
from ctxembed.word_senses.markers import mark
from ctxembed.word_senses.sense_space import SenseSpace, make_space

FEWEST = 20  # occurrences below which senses would be guesswork
AVERAGED = 1000  # occurrences of each sense that its mean vector is made of
MARKERS = 12  # markers kept of each sense
EXAMPLES = 12  # and places that show it


@dataclass(frozen=True)
class Found:
    """The senses of a word, and all that is known about its occurrences."""

    places: Places  # (n,) the occurrences looked at
    clustering: Clustering
    senses: SavedSenses  # what may be kept of them


def find_senses(
    representations: Representations,
    word: str,
    *,
    k: int | None = None,
    attention: str | None = None,
    most: int = 10_000,
    seed: int = 1,
    min_score: float | None = None,
    progress: Progress = SILENT,
) -> Found:
    """Cluster the contextual vectors of a word's occurrences.

    min_score: of a number of senses, 1 where none is given.
    """
    model = representations.model
    name = attention or representations.default()
    if model.index is None:
        raise ModelError(f"no senses of {word!r} can be looked for: {no_corpus(model)}")
    hits = find_hits(model, word)
    everywhere, size = hits.places, hits.size
    if len(everywhere) < max(FEWEST, 2 * (k or 1)):
        raise CtxembedError(
            f"{hits.asked!r} occurs {len(everywhere)} times: too few to tell senses apart"
            f" ({FEWEST} is the least, some hundreds are good)"
        )
    places = sample(everywhere, most, np.random.default_rng(seed))
    space = make_space(representations, name)
    vectors = np.empty((len(places), model.dim), np.float32)
    with progress.stage("reading", len(places), "occurrences") as stage:
        for batch in read(model, places, size=size):
            vectors[batch.rows] = space.way.embed(batch)
            stage.advance(len(batch.rows))
    clustering = cluster(vectors, space, k, 1.0 if min_score is None else min_score)
    facts = {
        "k": k,
        "most": most,
        "seed": seed,
        "total": len(everywhere),
        "stability": clustering.stability,
        "scores": clustering.scores,
        "agreements": clustering.agreements,
        "layer": digest(model, name),
    }
    facts |= {"size": size} if size > 1 else {}
    facts |= {"min_score": min_score} if min_score is not None else {}
    kept = SavedSenses(
        model.vocabulary.spelling(word),
        name,
        np.bincount(clustering.labels, minlength=clustering.number).tolist(),
        _means(representations, name, places, size, clustering, seed).astype(np.float32),
        clustering.weights.astype(np.float32),
        clustering.bias.tolist(),
        mark(model, places, size, clustering.labels, model.vocabulary.parts(word), MARKERS),
        _examples(model, places, size, vectors, space, clustering),
        facts,
    )
    return Found(places, clustering, kept)


def kept_senses(
    model: Model,
    word: str,
    attention: str,
    k: int | None,
    most: int,
    seed: int,
    min_score: float | None,
) -> SavedSenses | None:
    """Return the senses the model has kept, if they answer the same question."""
    kept = current_senses(model, word, attention)
    if kept is None or (k is not None and kept.number != k):
        return None
    facts = kept.facts
    same = facts.get("most") == most and facts.get("seed") == seed
    same &= min_score in (None, facts.get("min_score", 1.0))
    return kept if same else None


def _means(
    representations: Representations,
    name: str,
    places: Places,
    size: int,
    clustering: Clustering,
    seed: int,
) -> Floats:
    """Return (k, d) the mean contextual vector of each sense, of a sample where there are many."""
    way, rng = representations.get(name), np.random.default_rng(seed)
    means = []
    for sense in range(clustering.number):
        mine = sample(places[clustering.labels == sense], AVERAGED, rng)
        means.append(unit(vectors_at(representations.model, way, mine, size)).mean(axis=0))
    return np.stack(means)


def _examples(
    model: Model,
    places: Places,
    size: int,
    vectors: Floats,
    space: SenseSpace,
    clustering: Clustering,
) -> list[list[int]]:
    """Return for each sense the places nearest to its centre, that do not say nearly the same."""
    index, placed, labels = corpus_of(model), space.place(vectors), clustering.labels
    found = []
    for sense in range(clustering.number):
        mine = np.flatnonzero(labels == sense)
        away = np.linalg.norm(placed[mine] - placed[mine].mean(axis=0), axis=1)
        best = places[mine[np.argsort(away, kind="stable")]]
        _, first = np.unique(index.sentence_of(best), return_index=True)
        near = ((int(place), quote(index, int(place), size=size)) for place in best[np.sort(first)])
        found.append([place for place, _ in _different(near, EXAMPLES)])
    return found


def _different(
    quotes: Iterator[tuple[int, str]], number: int, looked_at: int = 100
) -> list[tuple[int, str]]:
    """Take the first quotes that share less than half of their words with one taken before.

    >>> _different(iter([(1, "a [bank] b"), (2, "a [bank] b c"), (3, "the river [bank]")]), 2)
    [(1, 'a [bank] b'), (3, 'the river [bank]')]
    """
    taken: list[tuple[int, str]] = []
    for place, quoted in islice(quotes, looked_at):
        words = set(quoted.split())
        if all(2 * len(words & set(x.split())) < len(words | set(x.split())) for _, x in taken):
            taken.append((place, quoted))
        if len(taken) == number:
            break
    return taken
