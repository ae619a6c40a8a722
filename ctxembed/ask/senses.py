"""What went into the average: the senses of a word, and the static vector as their mix."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ctxembed.ask.induce import MOST, WIDE, Clustering, SenseSpace, cluster, make_space
from ctxembed.ask.neighbors import nearest
from ctxembed.ask.sense_map import draw_map
from ctxembed.context.occurrences import Places, corpus_of, quote, read, sample
from ctxembed.context.representations import Representations, representations_of, vectors_at
from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress
from ctxembed.static.k_means import Labels
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model, refuse_bundled
from ctxembed.store.sense_store import SavedSenses, save_senses
from ctxembed.table import Cell, Column, Table
from ctxembed.text.function_words import is_content

FEWEST = 20  # occurrences below which senses would be guesswork
AVERAGED = 1000  # occurrences of each sense that its mean vector is made of
SENSES = (
    Column("word", "the word", "aside"),
    Column("sense", "number of the sense, 1 for the most frequent", "label"),
    Column("share", "its share of the occurrences", "share", group=("word",)),
    Column("count", "how many of those looked at have it"),
    Column("mix", "its weight in the static vector: static ≈ Σ mix · sense, all of length 1"),
    Column("nearest", "words nearest to what its contexts add to the word's own vector", "long"),
    Column(
        "markers", "context words that tell it from the other senses and from the corpus", "long"
    ),
    Column(
        "examples",
        "occurrences nearest to its centre, without those that say nearly the same",
        "long",
    ),
    Column(
        "residual",
        "length of what the mix leaves over of the static vector, whose length is 1",
        "aside",
    ),
    Column("mean_cosine", "cosine of the mean of all occurrences with the static vector", "aside"),
)


@dataclass(frozen=True)
class Found:
    """The senses of a word, and all that is known about its occurrences."""

    word: str
    attention: str
    places: Places  # (n,) the occurrences looked at
    total: int  # how many there are
    clustering: Clustering
    vectors: Floats  # (k, d) each sense's mean contextual vector
    centres: Sequence[int]  # rows of places, those nearest to their centre first
    markers: Sequence[Sequence[str]]  # for each sense, the words that tell it from the others

    def saved(self) -> SavedSenses:
        """Return what is kept of them in a model."""
        made = self.clustering
        shares = np.bincount(made.labels, minlength=made.number) / len(made.labels)
        return SavedSenses(self.word, self.attention, shares, self.vectors, made.weights, made.bias)


@on_model(*SENSES)
def senses(
    model: Model,
    word: str,
    *,
    k: int | None = None,
    attention: str | None = None,
    most: int = 10_000,
    number: int = 6,
    examples: int = 3,
    seed: int = 1,
    save: bool = False,
    progress: Progress | None = None,
) -> Table:
    """Take a word's average apart; k=None finds how many senses there are."""
    if save:
        refuse_bundled(model.path)
    representations = representations_of(model)
    name = attention or representations.default()
    found = find_senses(
        representations,
        word,
        k=k,
        attention=name,
        most=most,
        seed=seed,
        markers=number,
        progress=progress,
    )
    static = representations.get(name).inputs[model.row(word)]
    kept = found.saved()
    weights, residual, mean_cosine = unmix(static, found.vectors, kept.shares)
    rows: list[tuple[Cell, ...]] = []
    near = _nearest(representations, found, number)
    for sense, share in enumerate(kept.shares):
        rows.append(
            (
                found.word,
                sense + 1,
                float(share),
                int((found.clustering.labels == sense).sum()),
                float(weights[sense]),
                " ".join(other for other, _ in near[sense]),
                " ".join(found.markers[sense]),
                " | ".join(_different(_quotes(model, found, sense), examples)),
                residual,
                mean_cosine,
            )
        )
    notes = _notes(found, weights, residual, mean_cosine, chosen=k is None)
    if save:
        notes.append(f"saved to {save_senses(model, kept)}")
    made = found.clustering
    chart = draw_map(
        representations, found.word, name, found.places, made.labels, found.markers, seed
    )
    return Table(SENSES, rows, notes, chart=chart)


def find_senses(
    representations: Representations,
    word: str,
    *,
    k: int | None = None,
    attention: str | None = None,
    most: int = 10_000,
    seed: int = 1,
    markers: int = 6,
    progress: Progress | None = None,
) -> Found:
    """Cluster the contextual vectors of a word's occurrences."""
    model, progress = representations.model, progress or Progress()
    row = model.row(word)
    name = attention or representations.default()
    everywhere = corpus_of(model).positions(row)
    if len(everywhere) < max(FEWEST, 2 * (k or 1)):
        raise CtxembedError(
            f"{model.vocab[row]!r} occurs {len(everywhere)} times: too few to tell senses apart"
            f" ({FEWEST} is the least, some hundreds are good)"
        )
    places = sample(everywhere, most, np.random.default_rng(seed))
    space = make_space(representations, name, seed)
    vectors = np.empty((len(places), model.dim), np.float32)
    with progress.stage("reading", len(places), "occurrences") as stage:
        for batch in read(model, places):
            vectors[batch.rows] = space.way.embed(batch)
            stage.advance(len(batch.rows))
    clustering = cluster(vectors, space, k, seed)
    return Found(
        model.vocab[row],
        name,
        places,
        len(everywhere),
        clustering,
        _means(representations, name, places, clustering, seed),
        _by_centrality(vectors, space, clustering.labels),
        _mark(model, places, clustering, row, markers),
    )


def _means(
    representations: Representations, name: str, places: Places, clustering: Clustering, seed: int
) -> Floats:
    """Return (k, d) the mean contextual vector of each sense, of a sample where there are many."""
    way, rng = representations.get(name), np.random.default_rng(seed)
    means = []
    for sense in range(clustering.number):
        mine = sample(places[clustering.labels == sense], AVERAGED, rng)
        means.append(unit(vectors_at(representations.model, way, mine)).mean(axis=0))
    return np.stack(means)


def unmix(static: Floats, vectors: Floats, shares: Floats) -> tuple[Floats, float, float]:
    """Write a static vector as a sum of sense vectors (k, d), as nearly as can be.

    Returns the weights (k,), the share of its length that is left over, and the cosine of the
    mean of the senses, weighted by how often they occur, with the static vector.

    >>> weights, left, cosine = unmix(np.array([3.0, 4.0]), np.eye(2), np.array([0.5, 0.5]))
    >>> weights.round(6).tolist(), round(left, 6), round(cosine, 2)
    ([0.6, 0.8], 0.0, 0.99)
    """
    target = unit(static).astype(np.float64)
    basis = unit(vectors).astype(np.float64)
    weights, *_ = np.linalg.lstsq(basis.T, target, rcond=None)
    left = float(np.linalg.norm(target - weights @ basis))
    mean = unit(shares @ vectors.astype(np.float64))
    return weights, left, float(np.clip(mean @ target, -1, 1))


def _nearest(
    representations: Representations, found: Found, number: int
) -> list[list[tuple[str, float]]]:
    """Find the words nearest to what the context adds: the part across the word's own vector."""
    model, row = representations.model, representations.model.row(found.word)
    space = representations.get(found.attention).inputs
    own = unit(space[row]).astype(np.float64)
    across = found.vectors - (found.vectors @ own)[:, None] * own
    least = min(max(50, 1e-5 * model.tokens), model.counts[row] // 4)
    rare = np.flatnonzero(model.counts < least).tolist()  # noisy, and few know them
    return nearest(model, across.astype(np.float32), number, [[row, *rare]] * len(across), space)


def _quotes(model: Model, found: Found, sense: int) -> Iterator[str]:
    """Quote the occurrences of a sense, one a sentence, those nearest to its centre first."""
    index, seen = corpus_of(model), set()
    for row in found.centres:
        if found.clustering.labels[row] == sense:
            place = found.places[row : row + 1]
            sentence = int(index.sentence_of(place)[0])
            if sentence not in seen:
                seen.add(sentence)
                yield quote(index, int(place[0]))


def _different(quotes: Iterator[str], number: int, looked_at: int = 100) -> list[str]:
    """Take the first quotes that share less than half of their words with one taken before.

    >>> _different(iter(["a [bank] b", "a [bank] b c", "the river [bank]"]), 2)
    ['a [bank] b', 'the river [bank]']
    """
    taken: list[str] = []
    for quoted in islice(quotes, looked_at):
        words = set(quoted.split())
        if all(2 * len(words & set(x.split())) < len(words | set(x.split())) for x in taken):
            taken.append(quoted)
        if len(taken) == number:
            break
    return taken


def _by_centrality(vectors: Floats, space: SenseSpace, labels: Labels) -> list[int]:
    """Order occurrences by how near they lie to the centre of their sense."""
    placed = space.place(vectors)
    distance = np.empty(len(placed))
    for sense in np.unique(labels):
        mine = labels == sense
        distance[mine] = np.linalg.norm(placed[mine] - placed[mine].mean(axis=0), axis=1)
    return [int(row) for row in np.argsort(distance, kind="stable")]


def _mark(
    model: Model, places: Places, clustering: Clustering, target: int, number: int
) -> list[list[str]]:
    """Find the context words that tell each sense from the others and from the whole corpus.

    Ranked by the log-odds ratio with the corpus as prior (Monroe et al. 2008), times the same in
    standard errors: by the weaker of the two comparisons.
    """
    counts = np.zeros((clustering.number, len(model.vocab)))
    for batch in read(model, places, reach=10):
        senses_of = np.broadcast_to(clustering.labels[batch.rows, None], batch.ids.shape)
        np.add.at(counts, (senses_of[batch.mask], batch.ids[batch.mask]), 1)
    counts[:, target] = 0
    prior = 100 * model.counts / model.counts.sum()
    large = len(model.vocab) > 1000  # in a small corpus a frequent word may be any word
    share = model.counts / max(1, model.tokens) * large
    marks = []
    for mine in counts:
        score = _stands_out(mine, model.counts, prior)
        if clustering.number > 1:
            score = np.minimum(score, _stands_out(mine, counts.sum(axis=0) - mine, prior))
        score[mine < 2] = -np.inf
        best = np.argsort(-score, kind="stable")[: number + 200]
        words = [i for i in best if score[i] > 0 and _may_mark(model.vocab[i], float(share[i]))]
        marks.append([model.vocab[i] for i in words[:number]])
    return marks


def _stands_out(mine: Floats, rest: Floats, prior: Floats) -> Floats:
    """Compare counts (V,): log-odds ratio times the same in standard errors, with its sign."""
    mine, rest = mine + prior, rest + prior
    odds = np.log(mine / (mine.sum() - mine)) - np.log(rest / (rest.sum() - rest))
    return np.asarray(odds * np.abs(odds) / np.sqrt(1 / mine + 1 / rest))


def _may_mark(word: str, share: float) -> bool:
    """Tell whether a word may stand for a sense: content, and neither a number nor a letter."""
    return is_content(word, share) and sum(map(str.isalpha, word)) > 1


def _notes(
    found: Found, weights: Floats, residual: float, cosine: float, *, chosen: bool
) -> list[str]:
    """Say how the static vector is made of the senses, and what was looked at."""
    mix = " ".join(
        f"{'-' if weight < 0 else '+'} {abs(weight):.2f}·s{sense}"
        for sense, weight in enumerate(weights[:MOST], 1)
    ).removeprefix("+ ")
    mix += " + …" if len(weights) > MOST else ""
    notes = [
        f"{found.word} ≈ {mix}, {residual:.2f} of its length left over;"
        f" the mean of its occurrences has cosine {cosine:.3f} with the static vector"
    ]
    looked = len(found.places)
    if looked < found.total:
        notes.append(
            f"{looked} of {found.total} occurrences looked at ({looked / found.total:.1%});"
            " --max takes more"
        )
    stability, width = found.clustering.stability, found.clustering.width
    if stability is None:
        if chosen and width < WIDE:
            notes.append(
                f"one sense: the occurrences vary {width:.2f} times as much as the usual word's;"
                " --k 2 splits them anyway"
            )
        elif chosen:
            notes.append(
                "one sense: no split is clear and comes out the same from two random halves;"
                " --k 2 splits it anyway"
            )
    else:
        notes.append(f"the senses of two random halves agree to {stability:.2f} (adjusted Rand)")
    return notes
