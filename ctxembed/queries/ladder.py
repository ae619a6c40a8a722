"""Two words on every rung: one-hot, counts, TF-IDF, static vectors, vectors in context."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representations import Representations, representations_of
from ctxembed.context.sentences import tell_skipped
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import cosine, unit
from ctxembed.table import Cell, Chart, Column, Table

TELLS = {
    "one-hot": "which word it is",
    "bow": "words the sentences share",
    "tfidf": "words they share, rare ones more",
    "static": "the word's average meaning",
    "bag": "the words around it",
    "general": "its meaning here, no parameters",
}
LEARNED = "its meaning here, learned"
SOME = 200  # occurrences of a word among which one is chosen
SHORT = range(4, 15)  # words of a sentence that is easy to read
LADDER = (
    Column(
        "representation",
        "one-hot, bow, tfidf, static, bag, general, and each learned attention",
        "label",
    ),
    Column("dim", "length of a vector"),
    Column("zeros", "share of the numbers of both vectors that are zero"),
    Column("cosine", "cosine of the two vectors"),
    Column("tells", "what the cosine can tell apart", "text"),
)


@on_model(*LADDER)
def ladder(model: Model, word1: str, word2: str, sentences: Sequence[str] | None = None) -> Table:
    """Compare two words under every representation: dimension, share of zeros, cosine.

    sentences: one for each word; without them, two of the corpus in which two words mean alike
    though the sentences share few words, or in which one word means most unlike things.
    """
    representations, words = representations_of(model), (word1, word2)
    for word in words:
        if not model.vocabulary.parts(word):
            raise UnknownWordError(model.vocabulary.unknown(word))
    notes: list[str] = []
    if sentences:
        parsed = [_parse(model, *pair) for pair in zip(words, sentences, strict=True)]
        items = [one.occurrences[0] for one in parsed]
        notes += tell_skipped(parsed)
    else:
        items = _from_corpus(representations, *words)
        if all(len(item.ids) == len(item.target) for item in items):
            notes.append("each word stands alone; give it a context with --sentences A B")
        else:
            notes += [f"in the corpus: {_quote(model, item)}" for item in items]
            notes.append("chosen to show the lesson; --sentences A B takes yours")
    found = {"one-hot": _count(model, [item.own for item in items])}
    found["bow"] = _count(model, [item.ids for item in items])
    found["tfidf"] = found["bow"] * _idf(model, found["bow"])
    for name in representations.names():
        found[name] = representations.get(name).vectors(items).astype(np.float64)
    rows: list[tuple[Cell, ...]] = [
        (name, pair.shape[1], float((pair == 0).mean()), cosine(*pair), TELLS.get(name, LEARNED))
        for name, pair in found.items()
    ]
    title = f"cosine of {word1} and {word2}"
    chart = Chart("bars", ["cosine"], label=["representation"], domain=(0, 1), title=title)
    return Table(LADDER, rows, notes, chart=chart)


def _parse(model: Model, word: str, sentence: str) -> Parsed:
    """Find a word in its sentence, or the target that is marked in it."""
    try:
        return parse(model, sentence, None if "[" in sentence else word)
    except UsageError:
        raise UsageError(f"--sentences: {word!r} is not in {sentence!r}") from None


def _from_corpus(representations: Representations, one: str, other: str) -> list[Occurrence]:
    """Choose an occurrence of each word that shows what context does; alone without a corpus.

    Of two words, two that are as alike in context as sentences with so few words in common can be;
    of one word, the two that are least alike.
    """
    model = representations.model
    both = [_occurrences(model, word) for word in (one, other)]
    way = representations.get(representations.default())
    first, second = (unit(way.vectors(items)) for items in both)
    alike = first @ second.T  # (n, m)
    if model.vocabulary.spelling(one) == model.vocabulary.spelling(other):
        alike = -alike
    else:
        rows = sorted({int(i) for items in both for item in items for i in item.ids})
        bags = [
            unit(np.array([np.isin(rows, item.ids) for item in items], np.float32))
            for items in both
        ]
        alike = alike - bags[0] @ bags[1].T
    i, j = np.unravel_index(int(np.argmax(alike)), alike.shape)
    return [both[0][int(i)], both[1][int(j)]]


def _occurrences(model: Model, word: str) -> list[Occurrence]:
    """List some occurrences of a word all over the corpus, in short sentences if it can be."""
    parts = np.array(model.vocabulary.parts(word), np.int32)
    if model.index is None or len(parts) > 1:
        return [Occurrence(parts, range(len(parts)))]
    places = model.index.positions(int(parts[0]))
    evenly = np.linspace(0, len(places) - 1, min(SOME, len(places))).astype(np.intp)
    found = []
    for place in places[evenly].tolist():
        sentence = int(model.index.sentence_of(np.array([place]))[0])
        ids = model.index.sentence(sentence)
        known = ids < len(model.vocabulary)
        target = int(known[: place - model.index.offsets[sentence]].sum())
        found.append(Occurrence(ids[known], range(target, target + 1)))
    short = [item for item in found if len(item.ids) in SHORT]
    return short or found


def _quote(model: Model, item: Occurrence) -> str:
    words = [model.vocabulary.words[i] for i in item.ids]
    words[item.target.start] = f"[{words[item.target.start]}"
    words[item.target.stop - 1] += "]"
    return " ".join(words)


def _count(model: Model, ids: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
    """Return (2, V) how often each word is there."""
    return np.array([np.bincount(one, minlength=len(model.vocabulary)) for one in ids], np.float64)


def _idf(model: Model, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (V,) ln((1 + n) / (1 + df)) + 1, as scikit-learn has it; 1 for words not asked for.

    n and df count sentences of the corpus, or the two sentences where there is none.
    """
    idf = np.ones(counts.shape[1])
    number = len(counts) if model.index is None else len(model.index.offsets) - 1
    for word in np.flatnonzero(counts.any(axis=0)):
        if model.index is None:
            within = int((counts[:, word] > 0).sum())
        else:
            sentences = model.index.sentence_of(model.index.positions(int(word)))  # in order
            within = 1 + int(np.count_nonzero(np.diff(sentences)))
        idf[word] = np.log((1 + number) / (1 + within)) + 1
    return idf
