"""Where a word, several words or a pattern stands in the corpus: apple, New York, bank* of."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import Places, corpus_of
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.text.index import CHUNK, Index

T = TypeVar("T")


@dataclass(frozen=True)
class Hits:
    """The occurrences of what was asked for."""

    asked: str
    places: Places  # (n,) of the first token of each, in the order of the text
    size: int  # tokens of each


def find_hits(model: Model, asked: str) -> Hits:
    """Find a word, words in a row, or words with * for any letters, within a sentence."""
    index = corpus_of(model)
    row = None if "*" in asked else model.vocabulary.find(asked)
    if row is not None:
        return Hits(model.vocabulary.words[row], index.positions(row), 1)
    terms = list(_read(model, index, asked))
    if not terms:
        raise UsageError(f"{asked!r}: no word in it")
    if not all(len(term) for term in terms):
        raise UnknownWordError(model.vocabulary.unknown(asked))
    anchor, places = _rarest(model, index, terms)
    first = places - anchor
    first = first[(first >= 0) & (first + len(terms) <= len(index.ids))]
    first = first[index.sentence_of(first) == index.sentence_of(first + len(terms) - 1)]
    for number, term in enumerate(terms):
        if number != anchor:
            first = first[np.isin(index.ids[first + number], term)]
    return Hits(asked, first, len(terms))


def find_each(words: Iterable[str], find: Callable[[str], T]) -> tuple[list[T], list[str]]:
    """Find words, and say of the others why they are unknown; if all are, that is an error."""
    found: list[T] = []
    unknown: list[str] = []
    for word in words:
        try:
            found.append(find(word))
        except UnknownWordError as error:
            unknown.append(str(error))
    if unknown and not found:
        raise UnknownWordError("\n".join(unknown))
    return found, unknown


def _read(model: Model, index: Index, asked: str) -> Iterator[NDArray[np.int64]]:
    """Yield the ids that each token may have; none where no word is like it."""
    for starred, parts in groupby(asked.split(), key=lambda part: "*" in part):
        if starred:
            yield from (_like(model, index, part) for part in parts)
        else:
            words = model.vocabulary.tokenizer.words(" ".join(parts))
            yield from (_ids(model, index, word) for word in words)


def _ids(model: Model, index: Index, word: str) -> NDArray[np.int64]:
    """Return the id of a word as an array, rare words too, or an empty one."""
    row = model.vocabulary.find(word)
    if row is not None:
        return np.array([row])
    try:
        return np.array([len(model.vocabulary) + index.rare.index(word)])
    except ValueError:
        return np.zeros(0, np.int64)


def _like(model: Model, index: Index, pattern: str) -> NDArray[np.int64]:
    """Return the ids of the words that a pattern fits, where * is any letters or none."""
    wanted = model.vocabulary.tokenizer.normalise(pattern)
    if not wanted.strip("*"):
        return np.arange(len(model.vocabulary) + len(index.rare))
    fits = re.compile(".*".join(map(re.escape, wanted.split("*")))).fullmatch
    words = enumerate(chain(model.vocabulary.words, index.rare))
    return np.array([row for row, word in words if fits(word)], np.int64)


def _rarest(model: Model, index: Index, terms: list[NDArray[np.int64]]) -> tuple[int, Places]:
    """Return which token is the fewest places, and all of them, in the order of the text."""
    counts = [
        model.counts[term].sum() if (term < len(model.vocabulary)).all() else np.inf
        for term in terms
    ]
    anchor = int(np.argmin(counts))
    term = terms[anchor]
    if len(term) <= 1000 and np.isfinite(counts[anchor]):
        return anchor, np.sort(np.concatenate([index.positions(int(row)) for row in term]))
    wanted = np.zeros(len(model.vocabulary) + len(index.rare), np.bool_)
    wanted[term] = True
    found = [
        first + np.flatnonzero(wanted[index.ids[first : first + CHUNK]])
        for first in range(0, len(index.ids), CHUNK)
    ]
    return anchor, np.concatenate(found)
