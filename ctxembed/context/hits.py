"""Find a word, several words or a pattern in the corpus: apple, New York, bank* of, a|b ? c."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import TypeVar
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import Positions, corpus_of
from ctxembed.context.patterns import Element, compile_regex, expand, is_pattern, parse_pattern
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.text.index import CHUNK, Index
from ctxembed.text.layers import Layer

T = TypeVar("T")
MAX_WORDS, MAX_PATTERNS = 1000, 20  # in one query: words, and different patterns among them
MAX_LETTERS = 100  # of a word that a regular expression is tried on


@dataclass(frozen=True)
class Hits:
    """The occurrences of a word, several words or a pattern."""

    query: str
    positions: Positions  # (n,) of the first token of each, in the order of the text
    size: int  # tokens of each


def find_hits(model: Model, query: str) -> Hits:
    """Return where a word, words in a row, or a pattern of one length occur in a sentence."""
    hits = find_all(model, query)
    if len(hits) > 1:
        raise UsageError(f"{query!r}: only kwic and collocates take patterns with optional words")
    return hits[0]


def find_all(model: Model, query: str) -> list[Hits]:
    """Return where words in a row or a pattern occur in a sentence, for each of its lengths."""
    index = corpus_of(model)
    row = None if "*" in query else model.vocabulary.find(query)
    if row is not None:
        return [Hits(model.vocabulary.words[row], index.positions(row), 1)]
    if is_pattern(query):
        elements = parse_pattern(query)
    else:
        elements = [Element((word,)) for word in model.vocabulary.tokenizer.words(query)]
    if not elements or all(element.optional for element in elements):
        raise UsageError(f"{query!r}: no word in it")
    distinct = {word for element in elements for word in element.words}
    if len(elements) > MAX_WORDS or sum(is_pattern(word) for word in distinct) > MAX_PATTERNS:
        limit = f"at most {MAX_WORDS:,} words and {MAX_PATTERNS} patterns are searched together"
        raise UsageError(f"{query[:60]!r}…: {limit}. Shorten the query")
    find_term = cache(partial(_find_term, model, index))
    by_size: dict[int, list[Positions]] = {}
    for some in expand(elements):
        terms = [term for element in some for term in find_term(element)]
        if any(term.is_empty for term in terms):
            if not is_pattern(query):
                raise UnknownWordError(model.vocabulary.unknown(query))
            lacking = next(str(one) for one in some if any(t.is_empty for t in find_term(one)))
            raise UnknownWordError(f"{query!r}: no word of the corpus is {lacking}")
        by_size.setdefault(len(terms), []).append(_match(model, index, terms))
    hits = list[Hits]()
    for size, positions in by_size.items():  # the longest first
        starts = np.unique(np.concatenate(positions))
        for longer in hits:  # a match within a longer one is left out
            first = np.searchsorted(longer.positions, starts + size - longer.size)
            last = np.searchsorted(longer.positions, starts, side="right")
            starts = starts[first >= last]
        hits.append(Hits(query, starts, size))
    found = [some for some in hits if len(some.positions)]
    return found or hits[:1]


@dataclass(frozen=True)
class Term:
    """What one word of a query may be."""

    ids: NDArray[np.int64] | None  # None is any word
    layers: tuple[tuple[Layer, NDArray[np.int64]], ...] = ()  # and its values that fit

    @property
    def is_empty(self) -> bool:
        """Whether no word can fit."""
        some = [values for _, values in self.layers] + ([] if self.ids is None else [self.ids])
        return any(not len(values) for values in some)


def _find_term(model: Model, index: Index, element: Element) -> list[Term]:
    """Return the term of an element; a word that the tokenizer splits has several."""
    layers = []
    for name, values in element.layers:
        if name not in index.layers:
            raise UsageError(f"{name}={'|'.join(values)}: this corpus has no {name} of its words;"
                             " index it from CoNLL-U or VRT")  # fmt: skip
        layer = index.layers[name]
        fits = [row for row, value in enumerate(layer.values) if value and _fits(value, values)]
        layers.append((layer, np.array(fits, np.int64)))
    if not element.words:
        return [Term(None, tuple(layers))]
    split = [
        [word] if is_pattern(word) else model.vocabulary.tokenizer.words(word)
        for word in element.words
    ]
    if len(split) == 1 and not layers and not is_pattern(element.words[0]):
        return [Term(_matching_ids(model, index, word)) for word in split[0]]
    if any(len(words) != 1 for words in split):
        raise UsageError(f"{element}: one of these is not one word")
    ids = np.unique(np.concatenate([_matching_ids(model, index, words[0]) for words in split]))
    known = ids[ids < len(model.vocabulary)]  # a model may have words that the corpus lacks
    ids = np.append(known[model.counts[known] > 0], ids[len(known) :])
    return [Term(ids, tuple(layers))]


def _fits(value: str, patterns: Sequence[str]) -> bool:
    """Return whether a lemma or tag is one of some values, with * for any letters, or a /regex/."""
    for pattern in patterns:
        if len(pattern) > 2 and pattern[0] == pattern[-1] == "/":
            if compile_regex(pattern).fullmatch(value[:MAX_LETTERS]):
                return True
        elif value == pattern or ("*" in pattern and has_pieces(value, pattern.split("*"))):
            return True
    return False


def _match(model: Model, index: Index, terms: Sequence[Term]) -> Positions:
    """Return the positions at which the terms follow each other in a sentence."""
    rarest, positions = _rarest(model, index, terms)
    first = positions - rarest
    first = first[(first >= 0) & (first + len(terms) <= len(index.ids))]
    first = first[index.sentence_of(first) == index.sentence_of(first + len(terms) - 1)]
    for number, term in enumerate(terms):
        if number != rarest and term.ids is not None:
            first = first[np.isin(index.ids[first + number], term.ids)]
        for layer, values in term.layers:
            first = first[np.isin(layer.numbers[first + number], values)]
    return np.asarray(first)


def find_each_length(model: Model, words: str | Iterable[str]) -> tuple[list[Hits], list[str]]:
    """Return the hits of queries, one for each length of a pattern, and notes on unknown words."""
    results, unknown = find_each(words, partial(find_all, model))
    return [hits for some in results for hits in some], unknown


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
    if is_pattern(word) and word[0] == "/":
        pattern_of = compile_regex(word)
        every = chain(vocabulary.words, index.rare)
        rows = (row for row, one in enumerate(every)
                if len(one) <= MAX_LETTERS and pattern_of.fullmatch(one))  # fmt: skip
        return np.fromiter(rows, np.int64)
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
    matching = (row for row, word in enumerate(words) if has_pieces(word, pieces))
    return np.fromiter(matching, np.int64)


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


def _rarest(model: Model, index: Index, terms: Sequence[Term]) -> tuple[int, Positions]:
    """Return the number of the rarest term, and its positions in the order of the text."""
    known = len(model.vocabulary)
    counts = []
    for term in terms:
        counted = term.ids is not None and (term.ids < known).all()
        counts.append(float(model.counts[term.ids].sum()) if counted else np.inf)
    rarest = int(np.argmin(counts))
    ids = terms[rarest].ids
    if ids is not None and len(ids) <= 1000 and np.isfinite(counts[rarest]):
        return rarest, np.sort(np.concatenate([index.positions(int(row)) for row in ids]))
    rarest = next((i for i, t in enumerate(terms) if t.ids is not None and not t.layers), rarest)
    rarest = next((i for i, term in enumerate(terms) if term.layers), rarest)
    wanted = np.ones(known + len(index.rare), np.bool_)
    if (ids := terms[rarest].ids) is not None:
        wanted[:] = False
        wanted[ids] = True
    parts = []
    for first in range(0, len(index.ids), CHUNK):
        found = wanted[index.ids[first : first + CHUNK]]
        for layer, values in terms[rarest].layers:
            found &= np.isin(layer.numbers[first : first + CHUNK], values)
        parts.append(first + np.flatnonzero(found))
    return rarest, np.concatenate(parts)
