"""Cosines of vectors with the words of the vocabulary (neighbours) and with named axes."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ctxembed.context.best import Best
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.static.space import BLOCK, Space, Vectors
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Column

Axes = Mapping[str, Sequence[str]]  # the words whose mean is an axis, by its name
Alone = Callable[[Sequence[int]], Floats]  # returns (n, d) vectors of rows, without a sentence

BATCH_SIZE = 256  # vectors compared with the whole vocabulary at once
MAX_BLOCKS, SCORES = 8, 64  # blocks of words ranked at once, where few vectors are compared
MAX_KEPT = 4  # values of min_count whose trust is kept
LEAST = np.float32(1e-6)  # trust of a word that was never seen
_kept_trust: WeakKeyDictionary[Model, dict[tuple[int, bool], tuple[Floats, Floats]]]
_kept_trust = WeakKeyDictionary()
NOISE = 0.02  # times the root of the corpus size: k, occurrences of a word that say little


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
    trust, highest = _ranked_trust(model, min_count, raw)
    neighbors = []
    for first in range(0, len(queries), BATCH_SIZE):
        left_out = exclude[first : first + BATCH_SIZE]
        number_read = number + max(map(len, left_out), default=0)
        best = _rank(space, queries[first : first + BATCH_SIZE], number_read, trust, highest)
        for (rows, scores), excluded in zip(best.rank(), left_out, strict=True):
            kept = ~np.isin(rows, excluded)
            rows, scores = rows[kept][:number], scores[kept][:number]
            cosines = scores / np.where(scores > 0, trust[rows], 2 - trust[rows])
            neighbors.append(list(zip(rows.tolist(), cosines.tolist(), strict=True)))
    return neighbors


def _ranked_trust(model: Model, min_count: int, raw: bool) -> tuple[Floats, Floats]:
    """Return (V,) the trust of each word, NaN if it is left out, and the highest from there on."""
    kept = _kept_trust.setdefault(model, {})
    if (min_count, raw) not in kept:
        trust = np.ones(len(model.vocabulary), np.float32) if raw else vector_trust(model)
        trust = np.maximum(trust, LEAST)
        trust[np.asarray(model.seen) < min_count] = np.nan
        highest = np.maximum.accumulate(np.nan_to_num(trust)[::-1])[::-1]
        if len(kept) == MAX_KEPT:
            kept.clear()
        kept[min_count, raw] = trust, highest
    return kept[min_count, raw]


def _rank(
    space: Vectors | Space, queries: Floats, number: int, trust: Floats, highest: Floats
) -> Best:
    """Return the best words for queries (n, d) of length 1; words without trust are left out.

    A score is at most the word's trust: the end of the vocabulary is not read if it has less than
    the scores before it.
    """
    best = Best(len(queries), number)
    step = BLOCK * min(MAX_BLOCKS, max(1, SCORES // len(queries)))
    for first in range(0, len(trust), step):
        if highest[first] < best.least.min():
            break
        last = min(first + step, len(trust))
        if isinstance(space, Space):
            cosines = space.cosines(queries, first, last)  # (words, n)
        else:
            cosines = unit(space[first:last]) @ queries.T
        own = trust[first:last, None]
        scores = cosines * own
        cosines *= 2 - own
        best.add(first, np.minimum(scores, cosines))  # a doubtful word is less near, or less far
    return best


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
        parts = [model.vocabulary.parts(word) for word in words]
        sizes = np.array(list(map(len, parts)))
        sums = np.add.reduceat(look_up(list(chain(*parts))), np.cumsum(sizes) - sizes, axis=0)
        directions.append(unit(sums / sizes[:, None].astype(sums.dtype)).mean(axis=0))
    return unit(np.array(directions))


def axis_cosines(model: Model, vectors: Floats, axes: Axes, alone: Alone | None = None) -> Floats:
    """Return (n, axes) the cosine of each vector with each axis."""
    vectors = np.atleast_2d(vectors)
    if not axes:
        return np.zeros((len(vectors), 0))
    return np.asarray(unit(vectors) @ axis_vectors(model, axes, alone).T)
