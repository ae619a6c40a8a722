"""Find a word, several words or a pattern in the corpus: apple, New York, bank* of."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import TypeVar
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import Positions, corpus_of
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.text.index import CHUNK, Index

T = TypeVar("T")
MAX_WORDS, MAX_PATTERNS = 1000, 20  # in one query: words, and different words with a *


@dataclass(frozen=True)
class Hits:
    """The occurrences of a word, several words or a pattern."""

    query: str
    positions: Positions  # (n,) of the first token of each, in the order of the text
    size: int  # tokens of each


def find_hits(model: Model, query: str) -> Hits:
    """Return where a word, words in a row, or words with * for any letters occur in a sentence."""
    index = corpus_of(model)
    row = None if "*" in query else model.vocabulary.find(query)
    if row is not None:
        return Hits(model.vocabulary.words[row], index.positions(row), 1)
    words: list[str] = []
    for starred, parts in groupby(query.split(), key=lambda part: "*" in part):
        some = list(parts)
        words += some if starred else model.vocabulary.tokenizer.words(" ".join(some))
    if not words:
        raise UsageError(f"{query!r}: no word in it")
    distinct = dict.fromkeys(words)
    if len(words) > MAX_WORDS or sum("*" in word for word in distinct) > MAX_PATTERNS:
        limit = f"at most {MAX_WORDS:,} words and {MAX_PATTERNS} patterns are searched together"
        raise UsageError(f"{query[:60]!r}…: {limit}. Shorten the query")
    ids = {word: _matching_ids(model, index, word) for word in distinct}
    if not all(map(len, ids.values())):
        raise UnknownWordError(model.vocabulary.unknown(query))
    terms = [ids[word] for word in words]
    rarest, positions = _rarest(model, index, terms)
    first = positions - rarest
    first = first[(first >= 0) & (first + len(terms) <= len(index.ids))]
    first = first[index.sentence_of(first) == index.sentence_of(first + len(terms) - 1)]
    for number, term in enumerate(terms):
        if number != rarest:
            first = first[np.isin(index.ids[first + number], term)]
    return Hits(query, first, len(terms))


def find_each(words: str | Iterable[str], find: Callable[[str], T]) -> tuple[list[T], list[str]]:
    """Return results for known words, and messages on unknown ones; fail if all are unknown."""
    results, unknown = list[T](), list[str]()
    for word in [words] if isinstance(words, str) else words:
        try:
            results.append(find(word))
        except UnknownWordError as error:
            unknown.append(str(error))
    if unknown and not results:
        raise UnknownWordError("\n".join(unknown))
    return results, unknown


def _matching_ids(model: Model, index: Index, word: str) -> NDArray[np.int64]:
    """Return the ids of a word, or of all that match its *, rare words too; empty if none."""
    vocabulary = model.vocabulary
    if "*" not in word:
        if (row := vocabulary.find(word)) is not None:
            return np.array([row])
        for form in (word, normalize("NFC", word), normalize("NFD", word)):
            with suppress(ValueError):
                return np.array([len(vocabulary) + index.rare.index(form)])
        return np.zeros(0, np.int64)
    pattern = normalize("NFC", vocabulary.tokenizer.normalise(word))
    if not pattern.strip("*"):
        return np.arange(len(vocabulary) + len(index.rare))
    pieces = pattern.split("*")
    words = map(partial(normalize, "NFC"), chain(vocabulary.words, index.rare))
    rows = (row for row, word in enumerate(words) if has_pieces(word, pieces))
    return np.fromiter(rows, np.int64)


def has_pieces(word: str, pieces: Sequence[str]) -> bool:
    """Return whether a word is these pieces in order, with any letters between them.

    Each piece is searched after the end of the piece before it, so the time is linear in the word.

    >>> has_pieces("banana", ["b", "an", "a"]), has_pieces("ban", ["ba", "an"])
    (True, False)
    """
    first, *inner, last = pieces
    at, end = len(first), len(word) - len(last)
    if at > end or not (word.startswith(first) and word.endswith(last)):
        return False
    for piece in inner:
        at = word.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _rarest(model: Model, index: Index, terms: list[NDArray[np.int64]]) -> tuple[int, Positions]:
    """Return the number of the rarest term, and its positions in the order of the text."""
    known = len(model.vocabulary)
    counts = [model.counts[term].sum() if (term < known).all() else np.inf for term in terms]
    rarest = int(np.argmin(counts))
    term = terms[rarest]
    if len(term) <= 1000 and np.isfinite(counts[rarest]):
        return rarest, np.sort(np.concatenate([index.positions(int(row)) for row in term]))
    wanted = np.zeros(known + len(index.rare), np.bool_)
    wanted[term] = True
    blocks = range(0, len(index.ids), CHUNK)
    parts = [first + np.flatnonzero(wanted[index.ids[first : first + CHUNK]]) for first in blocks]
    return rarest, np.concatenate(parts)
