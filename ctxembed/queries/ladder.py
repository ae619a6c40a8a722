"""Compare two words under every representation, from one-hot to contextual vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import spread_positions
from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import describe_skipped
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.attentions import layer_kind
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
BY_KIND = {
    "recurrent": "its meaning here, word by word",
    "encoder": "its meaning here, by several layers",
}
MAX_OCCURRENCES = 200  # of a word, among which one is chosen
SHORT = range(4, 15)  # words of a sentence that is easy to read
NAMES = "one-hot, bow, tfidf, static, bag, general, and each learned attention"
LADDER = (
    Column("representation", NAMES, "label"),
    Column("dim", "length of a vector"),
    Column("zeros", "share of the numbers of both vectors that are zero"),
    Column("cosine", "cosine of the two vectors"),
    Column("tells", "what the cosine can tell apart", "text"),
)


@on_model(*LADDER)
def ladder(model: Model, word1: str, word2: str, sentences: Sequence[str] | None = None) -> Table:
    """Compare two words under every representation: dimension, share of zeros, cosine.

    sentences: one for each word; by default, two of the corpus in which two words have similar
    meanings though the sentences share few words, or in which one word has different meanings.
    """
    representations, words = Representations.of(model), (word1, word2)
    for word in words:
        if not model.vocabulary.parts(word):
            raise UnknownWordError(model.vocabulary.unknown(word))
    if sentences:
        parsed = [_parse(model, *pair) for pair in zip(words, sentences, strict=True)]
        items = [one.occurrences[0] for one in parsed]
        notes = describe_skipped(parsed)
    else:
        items = _choose_from_corpus(representations, *words)
        if all(len(item.ids) == len(item.target) for item in items):
            notes = ["each word stands alone; give it a context with --sentences A B"]
        else:
            notes = [f"in the corpus: {' '.join(_mark_target(model, item))}" for item in items]
            notes.append("chosen to show the lesson; --sentences A B takes yours")
    size = len(model.vocabulary)
    vectors = {
        name: np.array([np.bincount(ids, minlength=size) for ids in rows], np.float64)  # (2, V)
        for name, rows in (("one-hot", [i.own for i in items]), ("bow", [i.ids for i in items]))
    }
    vectors["tfidf"] = vectors["bow"] * _idf(model, vectors["bow"])
    for name in representations.names():
        vectors[name] = representations.get(name).vectors(items).astype(np.float64)
    kinds = {name: layer_kind(model, name) for name in model.attentions()}
    tells = {name: BY_KIND[kind] for name, kind in kinds.items() if kind in BY_KIND} | TELLS
    rows: list[tuple[Cell, ...]] = [
        (name, pair.shape[1], float((pair == 0).mean()), cosine(*pair), tells.get(name, LEARNED))
        for name, pair in vectors.items()
    ]
    title = f"cosine of {word1} and {word2}"
    chart = Chart("bars", ["cosine"], label=["representation"], domain=(0, 1), title=title)
    return Table(LADDER, rows, notes, chart=chart)


def _parse(model: Model, word: str, sentence: str) -> Parsed:
    """Parse a sentence with the target marked in it, or else with this word as target."""
    try:
        return parse(model, sentence, None if "[" in sentence else word)
    except UsageError:
        raise UsageError(f"--sentences: {word!r} is not in {sentence!r}") from None


def _choose_from_corpus(representations: Representations, one: str, other: str) -> list[Occurrence]:
    """Return the pair of occurrences most alike in context but not in words; of one word, least."""
    model = representations.model
    both = [_occurrences(model, word) for word in (one, other)]
    representation = representations.get(representations.default())
    first, second = (unit(representation.vectors(items)) for items in both)
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
    """Return some occurrences of a word, spread over the corpus, in short sentences if possible."""
    parts = np.array(model.vocabulary.parts(word), np.int32)
    if model.index is None or len(parts) > 1:
        return [Occurrence(parts, range(len(parts)))]
    items = []
    positions = spread_positions(model.index.positions(int(parts[0])), MAX_OCCURRENCES)
    for position in positions.tolist():
        sentence = int(model.index.sentence_of(np.array([position]))[0])
        ids = model.index.sentence(sentence)
        at = position - model.index.offsets[sentence]
        before, after = (some[some < len(model.vocabulary)] for some in (ids[:at], ids[at + 1 :]))
        items.append(Occurrence.join(before, parts, after))
    return [item for item in items if len(item.ids) in SHORT] or items


def _mark_target(model: Model, item: Occurrence) -> list[str]:
    """Return the words of a sentence with the target in brackets."""
    words = model.vocabulary.spell(item.ids.tolist())
    own = " ".join(words[item.target.start : item.target.stop])
    return [*words[: item.target.start], f"[{own}]", *words[item.target.stop :]]


def _idf(model: Model, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (V,) ln((1 + n) / (1 + df)) + 1, as in scikit-learn; 1 for words not in counts."""
    idf = np.ones(counts.shape[1])  # n and df count sentences of the corpus, or these two
    number = len(counts) if model.index is None else len(model.index.offsets) - 1
    for word in np.flatnonzero(counts.any(axis=0)):
        if model.index is None:
            within = int((counts[:, word] > 0).sum())
        else:
            sentences = model.index.sentence_of(model.index.positions(int(word)))  # in order
            within = 1 + int(np.count_nonzero(np.diff(sentences)))
        idf[word] = np.log((1 + number) / (1 + within)) + 1
    return idf
