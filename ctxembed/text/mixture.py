"""Two corpora in one, in any proportion and always of one size."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.progress import Progress
from ctxembed.text.build_index import build
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Ingredient:
    """A corpus as an index of all its words."""

    name: str
    index: Index
    tokens: int


def read_ingredient(
    corpus: Corpus, tokenizer: Tokenizer, folder: Path, progress: Progress
) -> Ingredient:
    """Read a corpus once into a folder."""
    folder.mkdir()
    counted = build(corpus, tokenizer, folder, 1, progress)
    index = Index(folder, counted.types, counted.files)
    return Ingredient(", ".join(corpus.names), index, counted.tokens)


def write_mixture(
    texts: Sequence[Ingredient], share: float, words: int, seed: int, target: Path
) -> None:
    """Write whole sentences of two texts, so many words in all, a share of them from the second.

    With one seed, what a larger share takes from a text contains what a smaller one takes.
    """
    second = round(share * words)
    drawn = []
    for place, (text, wanted) in enumerate(zip(texts, (words - second, second), strict=True)):
        order = draw(text.index.offsets, wanted, np.random.default_rng((seed, place)))
        drawn += [(text.index, int(number)) for number in order]
    shuffled = np.random.default_rng((seed, len(texts))).permutation(len(drawn))
    with target.open("w", encoding="utf-8", newline="\n") as file:
        for i in shuffled:
            index, number = drawn[i]
            file.write(" ".join(index.words(index.sentence(number))) + "\n")


def draw(offsets: NDArray[np.int64], words: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw whole sentences at random until they hold so many words.

    >>> draw(np.array([0, 4, 8, 12]), 7, np.random.default_rng(0)).tolist()
    [2, 0]
    """
    order = rng.permutation(len(offsets) - 1)
    total = np.cumsum(np.diff(offsets)[order])
    return order[: np.searchsorted(total, words) + 1] if words else order[:0]
