"""Two corpora in one, in any proportion and always of one size."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.progress import Progress
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import build
from ctxembed.text.npy import load
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.text.word_list import read_lines, write_lines


@dataclass(frozen=True)
class Ingredient:
    """A corpus as sentences of words, read from a folder."""

    name: str
    folder: Path
    tokens: int

    def types(self) -> Sequence[str]:
        """Read the distinct words."""
        return read_lines(self.folder / "types.txt")

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """(S+1,) where each sentence begins."""
        return np.array(load(self.folder / "offsets.npy"))

    def sentence(self, number: int) -> str:
        """Return the words of a sentence with spaces between them."""
        first, last = self.offsets[number : number + 2]
        return " ".join(self._words[self._ids[first:last]])

    @cached_property
    def _ids(self) -> Any:
        return load(self.folder / "ids.npy")

    @cached_property
    def _words(self) -> NDArray[Any]:
        return np.array(self.types(), dtype=object)


def read_ingredient(
    corpus: Corpus, tokenizer: Tokenizer, folder: Path, progress: Progress
) -> Ingredient:
    """Read a corpus once into a folder."""
    folder.mkdir()
    counted = build(corpus, tokenizer, folder, 1, progress)
    write_lines(folder / "types.txt", counted.types)
    return Ingredient(", ".join(corpus.names), folder, counted.tokens)


def write_mixture(
    texts: Sequence[Ingredient], share: float, words: int, seed: int, target: Path
) -> None:
    """Write whole sentences of two texts, so many words in all, a share of them from the second.

    With one seed, what a larger share takes from a text contains what a smaller one takes.
    """
    second = round(share * words)
    drawn = []
    for place, (text, wanted) in enumerate(zip(texts, (words - second, second), strict=True)):
        order = draw(text.offsets, wanted, np.random.default_rng((seed, place)))
        drawn += [(text, int(number)) for number in order]
    shuffled = np.random.default_rng((seed, len(texts))).permutation(len(drawn))
    with target.open("w", encoding="utf-8", newline="\n") as file:
        for i in shuffled:
            text, number = drawn[i]
            file.write(text.sentence(number) + "\n")


def draw(offsets: NDArray[np.int64], words: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw whole sentences at random until they hold so many words.

    >>> draw(np.array([0, 4, 8, 12]), 7, np.random.default_rng(0)).tolist()
    [2, 0]
    """
    order = rng.permutation(len(offsets) - 1)
    total = np.cumsum(np.diff(offsets)[order])
    return order[: np.searchsorted(total, words) + 1] if words else order[:0]
