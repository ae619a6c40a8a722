"""Cosines of vectors with the words of the vocabulary (neighbours) and with named axes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.static.space import Space, Vectors
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Column

Axes = Mapping[str, Sequence[str]]  # the words whose mean is an axis, by its name
Alone = Callable[[Sequence[int]], Floats]  # returns (n, d) vectors of rows, without a sentence

BATCH_SIZE = 64  # vectors compared with the whole vocabulary at once
MIN_TRUST = 0.3  # words with less are compared only where the others are not enough
MAX_SHORTLIST = 100  # with more neighbours, all words are compared
NOISE = 0.02  # times the root of the corpus size: k, occurrences of a word that say little
Ranked = tuple[float, float, int]  # score, cosine and row of a word


def nearest(
    model: Model, vectors: Floats, number: int, *options: Any, **ranking: Any
) -> list[list[tuple[str, float]]]:
    """Return the words nearest to each vector (n, d), with their cosines; see nearest_rows."""
    neighbors = nearest_rows(model, vectors, number, *options, **ranking)
    return [[(model.vocabulary.words[row], cosine) for row, cosine in best] for best in neighbors]


def nearest_rows(
    model: Model,
    vectors: Floats,
    number: int,
    exclude: Sequence[Sequence[int]] = (),
    space: Vectors | Space | None = None,
    *,
    min_count: int = 1,
    raw: bool = False,
) -> list[list[tuple[int, float]]]:
    """Return the rows nearest to each vector (n, d), with their cosines.

    exclude: rows to leave out, for each vector. space (V, d): the words as the attention that
    computed the vectors sees them. Words rarer than min_count are left out; of the others, rare
    ones are ranked lower unless raw.
    """
    if space is None or space is model.vectors:
        space = model.space
    queries = unit(np.atleast_2d(vectors))
    exclude = exclude or [()] * len(queries)
    reliability = np.ones(len(model.vocabulary), np.float32) if raw else vector_trust(model)  # (V,)
    # A score is at most the word's reliability. If enough words score above that of the rare words
    # at the end of the vocabulary, the rare ones cannot be among the nearest.
    first_rare = int(np.count_nonzero(reliability >= MIN_TRUST))
    if number > MAX_SHORTLIST or (reliability[:first_rare] < MIN_TRUST).any():
        first_rare = len(reliability)
    bound = float(reliability[first_rare:].max(initial=0))

    def cosines_with(batch: Floats, first: int, last: int) -> Floats:
        """Return (n, V) the cosines of vectors (n, d) with the words from first to last."""
        if isinstance(space, Space):
            return space.cosines(batch, first, last)
        return np.asarray(batch @ unit(space[first:last]).T)

    def rank(cosines: Floats, excluded: Sequence[Sequence[int]]) -> list[list[Ranked]]:
        """Return the best words of each row of cosines (n, V); of equals, the frequent first."""
        words = cosines.shape[1]
        # a doubtful word is less near, or less far
        scores = np.abs(cosines)
        scores *= reliability[:words] - 1
        scores += cosines
        scores[:, model.seen[:words] < min_count] = -np.inf
        for row, rows in zip(scores, excluded, strict=True):
            row[[i for i in rows if i < words]] = -np.inf
        ranked = []
        for score, cosine in zip(scores, cosines, strict=True):
            cut = words - min(number, words)
            top = np.flatnonzero(score >= np.partition(score, cut)[cut])
            top = top[np.argsort(-score[top], kind="stable")][:number]
            best = [(float(score[i]), float(cosine[i]), int(i)) for i in top]
            ranked.append([item for item in best if item[0] > -np.inf])
        return ranked

    neighbors = []
    for first in range(0, len(queries), BATCH_SIZE):
        batch, excluded = queries[first : first + BATCH_SIZE], exclude[first : first + BATCH_SIZE]
        cosines = cosines_with(batch, 0, first_rare)
        ranked = rank(cosines, excluded)
        short = [i for i, best in enumerate(ranked) if len(best) < number or best[-1][0] <= bound]
        if short and first_rare < len(reliability):
            rest = cosines_with(batch[short], first_rare, len(reliability))
            every = rank(
                np.concatenate([cosines[short], rest], axis=1), [excluded[i] for i in short]
            )
            for i, best in zip(short, every, strict=True):
                ranked[i] = best
        neighbors += [[(i, cosine) for _, cosine, i in best] for best in ranked]
    return neighbors


def vector_trust(model: Model) -> Floats:
    """Return (V,) from 0 to 1: how far each word's vector can be trusted, by its count.

    1 - exp(-n / k) for a word that occurs n times. Without it rare words come first: a vector of
    few occurrences is near to other words by chance, and most words are rare. k grows as the root
    of the corpus, which fits people's ratings of neighbours best (bench/README.md).
    """
    if model.meta.get("counts_estimated"):
        return np.ones(len(model.vocabulary), np.float32)
    counts = np.asarray(model.seen, np.float32)
    return np.asarray(-np.expm1(-counts / (NOISE * model.seen_tokens**0.5)), np.float32)


def known_axes(
    model: Model, axes: Axes | None, beside: Sequence[Column] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the axes with their known words, and notes; refuse the name of a column beside."""
    vocabulary, kept, notes = model.vocabulary, dict[str, list[str]](), list[str]()
    for name, words in (axes or {}).items():
        if name in [column.name for column in beside]:
            raise UsageError(f"--axis {name}: the table has a column {name}; rename the axis")
        try:
            kept[name], forms, unknown = vocabulary.keep_known(words)
        except UnknownWordError as error:
            raise UnknownWordError(f"--axis {name}: {error}") from None
        notes += [f"--axis {name}: {message}" for message in (*forms, *unknown)]
    return kept, notes


def axis_vectors(model: Model, axes: Axes, alone: Alone | None = None) -> Floats:
    """Return (axes, d) directions of length 1: the mean of each axis's words, of length 1 too."""
    look_up = alone or model.vectors.__getitem__
    directions = []
    for words in axes.values():
        if unknown := model.vocabulary.sort_known(words)[1]:
            raise UnknownWordError(model.vocabulary.unknown(unknown[0]))
        vectors = np.array([look_up(model.vocabulary.parts(word)).mean(axis=0) for word in words])
        directions.append(unit(vectors).mean(axis=0))
    return unit(np.array(directions))


def axis_cosines(model: Model, vectors: Floats, axes: Axes, alone: Alone | None = None) -> Floats:
    """Return (n, axes) the cosine of each vector with each axis."""
    vectors = np.atleast_2d(vectors)
    if not axes:
        return np.zeros((len(vectors), 0))
    return np.asarray(unit(vectors) @ axis_vectors(model, axes, alone).T)
