"""Some documents of an index, as an index of their own: every question can be put to it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctxembed.text.index import Ids, Index
from ctxembed.text.layers import Layer
from ctxembed.text.metadata import Metadata, MetadataColumn
from ctxembed.text.original import Ints, Original


@dataclass(frozen=True)
class SubsetText:
    """The original text, by the positions of a subset."""

    original: Original
    tokens: Ints = field(repr=False)  # (n,) of the whole corpus

    def around(self, token: int, size: int, width: int) -> tuple[str, str, str]:
        """Return the text before `size` tokens, the tokens, and the text after them."""
        return self.original.around(int(self.tokens[token]), size, width)


@dataclass(frozen=True)
class Subset(Index):
    """The chosen documents of another index; positions, sentences and documents count anew."""

    whole: Index | None = field(default=None, repr=False)
    chosen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_), repr=False)

    @classmethod
    def of(cls, index: Index, chosen: NDArray[np.bool_]) -> "Subset":
        """Return the documents (D,) that are chosen."""
        return cls(index.folder, index.vocab, index.files, index.tokenizer, index, chosen)

    @property
    def _whole(self) -> Index:
        assert self.whole is not None
        return self.whole

    @cached_property
    def tokens(self) -> Ints:
        """(n,) the position of each token in the whole corpus."""
        return np.flatnonzero(np.repeat(self.chosen, np.diff(self._whole.documents)))

    @cached_property
    def _sentences(self) -> Ints:
        """(S,) the number of each sentence in the whole corpus."""
        whole = self._whole
        return np.flatnonzero(self.chosen[whole.document_of(np.asarray(whole.offsets[:-1]))])

    @cached_property
    def ids(self) -> Ids:
        return np.asarray(self._whole.ids[self.tokens])

    @cached_property
    def offsets(self) -> Ints:
        offsets = np.asarray(self._whole.offsets)
        return np.append(0, np.cumsum(np.diff(offsets)[self._sentences]))

    @cached_property
    def lines(self) -> Ids:
        return np.asarray(self._whole.lines[self._sentences])

    @cached_property
    def documents(self) -> Ints:
        return np.append(0, np.cumsum(np.diff(self._whole.documents)[self.chosen]))

    @cached_property
    def metadata(self) -> Metadata:
        whole = self._whole.metadata

        def part(column: MetadataColumn) -> MetadataColumn:
            array = column.array[self.chosen]
            return MetadataColumn(column.name, column.kind, array, column.values)

        columns = {name: part(column) for name, column in whole.columns.items()}
        return Metadata(columns, part(whole.files))

    @cached_property
    def layers(self) -> dict[str, Layer]:
        layers = self._whole.layers.items()
        return {name: Layer(layer.numbers[self.tokens], layer.values) for name, layer in layers}

    @cached_property
    def original(self) -> SubsetText | None:  # type: ignore[override]
        original = self._whole.original
        return None if original is None else SubsetText(original, self.tokens)

    @cached_property
    def _positions(self) -> tuple[Ints, Ints]:
        known = np.flatnonzero(self.ids < len(self.vocab))
        counts = np.bincount(self.ids[known], minlength=len(self.vocab))
        order = known[np.argsort(self.ids[known], kind="stable")]
        return np.append(0, np.cumsum(counts)), order

    @cached_property
    def _ends(self) -> Ints:
        return np.searchsorted(self._sentences, self._whole._ends)

    def in_whole(self, positions: Ints) -> Ints:
        """Return the positions in the whole corpus of positions here."""
        return self.tokens[positions]
