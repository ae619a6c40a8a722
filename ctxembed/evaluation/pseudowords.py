"""Two words merged into one: which of them stood here? No labels are needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.errors import CorpusError, ModelError
from ctxembed.evaluation.senses import Labelled
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.text.corpus import Corpus
from ctxembed.text.numbering import number_words

BANDS = (20, 100, 1000, 10_000)  # occurrences at which a band of frequency begins
COMMON = 1e-3  # a word that makes up more of the text is no pseudoword's half
EACH = 60  # occurrences of each half: one teaches, the next is asked about
LONGEST = 60  # words of a sentence kept to either side of the target


@dataclass(frozen=True)
class Text:
    """A text as rows of the vocabulary; -1 or rows past its end are words without a vector."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]  # (V,) how often each word occurs in this text


def own_text(model: Model) -> Text:
    """Take the text that the model was trained on."""
    if model.index is None:
        raise ModelError(
            f"{model.path}: has no corpus of its own; give one:"
            " ctxembed evaluate pseudowords CORPUS"
        )
    return Text(model.index.ids, model.index.offsets, model.counts)


def other_text(model: Model, corpus: Corpus, progress: Progress) -> Text:
    """Read another text as the model would."""
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
    most = COMMON * max(1, len(text.ids))
    found = False
    for low, high in zip(BANDS, (*BANDS[1:], None), strict=True):
        inside = (text.counts >= low) & (text.counts <= most)
        if high:
            inside &= text.counts < high
        words = rng.permutation(np.flatnonzero(inside))[: 2 * pairs]
        name = f"{low}-{high - 1}" if high else f"{low}+"
        for a, b in zip(words[::2].tolist(), words[1::2].tolist(), strict=False):
            found = True
            yield name, _merge(model, text, (min(a, b), max(a, b)), rng)
    if not found:
        raise CorpusError(
            f"too little text for pseudowords: no two words occur {BANDS[0]} times or more, each"
            f" less than {COMMON:.1%} of the text"
        )


def _merge(model: Model, text: Text, pair: tuple[int, int], rng: np.random.Generator) -> Labelled:
    items: list[Occurrence] = []
    labels: list[int] = []
    folds: list[int] = []
    for label, word in enumerate(pair):
        places = np.flatnonzero(text.ids == word)
        places = np.sort(rng.choice(places, min(EACH, len(places)), replace=False))
        for turn, place in enumerate(places.tolist()):
            items.append(_item(model, text, place, pair))
            labels.append(label)
            folds.append(turn % 2 - 1)  # -1, 0, -1, 0 ...
    name = "+".join(model.vocabulary.words[word] for word in pair)
    return Labelled(name, items, np.array(labels, np.intp), np.array(folds, np.intp))


def _item(model: Model, text: Text, place: int, pair: Sequence[int]) -> Occurrence:
    """Put both words, always in one order, where one of them stood: a span's vector is its mean."""
    sentence = int(np.searchsorted(text.offsets, place, side="right")) - 1
    begin = max(int(text.offsets[sentence]), place - LONGEST)
    end = min(int(text.offsets[sentence + 1]), place + 1 + LONGEST)
    before, after = (
        part[(part >= 0) & (part < len(model.vocabulary))]
        for part in (text.ids[begin:place], text.ids[place + 1 : end])
    )
    ids = np.concatenate([before, pair, after]).astype(np.int32)
    target = range(len(before), len(before) + 2)
    return Occurrence(ids, target)
