"""Pseudowords: two words merged into one; which of them was here? No labels are needed."""

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.errors import CorpusError, ModelError
from ctxembed.evaluation.senses import Labelled
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.text.corpus import Corpus
from ctxembed.text.numbering import number_words
from ctxembed.text.tokenizer import is_content

BANDS = (20, 100, 1000, 10_000)  # occurrences at which a band of frequency begins
MAX_FREQUENCY = 1e-3  # a word that makes up more of the text is not merged
OCCURRENCES_PER_WORD = 60  # of each half: they train and test by turns
MAX_CONTEXT = 60  # words of a sentence kept to either side of the target


@dataclass(frozen=True)
class Text:
    """A text as rows of the vocabulary; -1 or rows past its end are words without a vector."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]  # (V,) how often each word occurs in this text


def own_text(model: Model) -> Text:
    """Return the text that the model was trained on."""
    if model.index is None:
        command = "ctxembed evaluate pseudowords CORPUS"
        raise ModelError(f"{model.path}: has no corpus; give one: {command}")
    return Text(model.index.ids, model.index.offsets, model.counts)


def other_text(model: Model, corpus: Corpus, progress: Progress) -> Text:
    """Return another text, split into words as the model does."""
    pieces, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int32)]
    with progress.stage("reading", corpus.size, "B") as stage:
        for block, size in corpus.blocks():
            part = number_words(block, model.vocabulary.tokenizer, corpus.lines)
            rows = np.array([model.vocabulary.rows.get(word, -1) for word in part.types], np.int32)
            pieces.append(rows[part.ids])
            lengths.append(part.lengths)
            stage.advance(size)
    ids = np.concatenate(pieces)
    counts = np.bincount(ids[ids >= 0], minlength=len(model.vocabulary))
    return Text(ids, np.cumsum(np.concatenate(lengths)), counts)


def merge_words(
    model: Model, text: Text, pairs: int, rng: np.random.Generator
) -> Iterator[tuple[str, Labelled]]:
    """Yield pseudowords with the name of their band; both halves come from one band."""
    max_count, number = MAX_FREQUENCY * max(1, len(text.ids)), 0
    for low, high in zip(BANDS, (*BANDS[1:], None), strict=True):
        inside = (text.counts >= low) & (text.counts <= max_count)
        if high:
            inside &= text.counts < high
        words = rng.permutation(np.flatnonzero(inside))[: 2 * pairs]
        band = f"{low}-{high - 1}" if high else f"{low}+"
        for a, b in zip(words[::2].tolist(), words[1::2].tolist(), strict=False):
            number += 1
            yield band, _merge(model, text, (min(a, b), max(a, b)), rng)
    if not number:
        limits = f"{BANDS[0]} times or more, each less than {MAX_FREQUENCY:.1%} of the text"
        raise CorpusError(f"too little text for pseudowords: no two words occur {limits}")


def pair_with_words(model: Model, word: str, partners: int, seed: int) -> list[Labelled]:
    """Return pseudowords of a word, each with another content word about as frequent as it.

    The other words depend on this word and the seed only.
    """
    text, row = own_text(model), model.vocabulary.row(word)
    count = int(text.counts[row])
    if count < BANDS[0]:
        few = f"{word!r} occurs {count} times: too few to tell contexts apart"
        raise CorpusError(f"{few} (at least {BANDS[0]} are needed, hundreds are better)")
    near = (text.counts >= max(BANDS[0], count / 2)) & (text.counts <= 2 * count)
    near[row] = False
    frequency = text.counts / max(1, len(text.ids))
    words = model.vocabulary.words
    others = [i for i in np.flatnonzero(near).tolist() if is_content(words[i], frequency[i])]
    if not others:
        raise CorpusError(f"{word!r}: no other word is about as frequent; the text is too small")
    rng = np.random.default_rng([seed, crc32(word.encode("utf-8", "surrogatepass"))])
    drawn = rng.choice(others, min(partners, len(others)), replace=False).tolist()
    return [_merge(model, text, (min(row, i), max(row, i)), rng) for i in drawn]


def _merge(model: Model, text: Text, pair: tuple[int, int], rng: np.random.Generator) -> Labelled:
    """Return occurrences of two words, labelled by the word; every other one is for training."""
    items: list[Occurrence] = []
    sizes = []
    for word in pair:
        positions = np.flatnonzero(text.ids == word)
        sizes.append(min(OCCURRENCES_PER_WORD, len(positions)))
        drawn = np.sort(rng.choice(positions, sizes[-1], replace=False))
        items += [_item(model, text, position, pair) for position in drawn.tolist()]
    folds = np.concatenate([np.arange(size) % 2 - 1 for size in sizes])  # -1, 0, -1, 0 ...
    name = "+".join(model.vocabulary.words[word] for word in pair)
    return Labelled(name, items, np.repeat([0, 1], sizes), folds)


def _item(model: Model, text: Text, position: int, pair: tuple[int, int]) -> Occurrence:
    """Return both words, always in one order, as one target: its vector is their mean."""
    sentence = int(np.searchsorted(text.offsets, position, side="right")) - 1
    begin = max(int(text.offsets[sentence]), position - MAX_CONTEXT)
    end = min(int(text.offsets[sentence + 1]), position + 1 + MAX_CONTEXT)
    sides = text.ids[begin:position], text.ids[position + 1 : end]
    before, after = (ids[(ids >= 0) & (ids < len(model.vocabulary))] for ids in sides)
    return Occurrence.join(before, pair, after)
