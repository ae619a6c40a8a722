"""Whatever gives an occurrence a vector: static, bag, general and learned attention."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import Attended, attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import general, random_layer
from ctxembed.context.occurrences import Places, Windows, read
from ctxembed.context.parse import Occurrence
from ctxembed.errors import ModelError, UsageError
from ctxembed.model.attentions import load_attention, written_at
from ctxembed.model.model import Model
from ctxembed.static.space import Space, Vectors
from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Ids

BATCH = 1 << 12  # words run through a layer at once: their vectors stay near the processor


class Representation(Protocol):
    """Anything that gives an occurrence a vector."""

    @property
    def name(self) -> str:
        """What its rows are called."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, dim) vectors of targets; NaN where it has none."""

    def alone(self, rows: Sequence[int]) -> Floats:
        """Return (n, dim) vectors of words of the vocabulary, without a sentence."""


@dataclass(frozen=True)
class Ours:
    """A representation made of the model's own vectors."""

    name: str
    inputs: Vectors | Space  # (V, d) each word as this representation takes it

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.inputs.shape[1])

    def alone(self, rows: Sequence[int]) -> Floats:
        """Return (n, d) vectors of words of the vocabulary, without a sentence."""
        return self.inputs[np.asarray(rows, np.intp)]

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) vectors of targets; NaN where the target is unknown."""
        known = [row for row, item in enumerate(occurrences) if len(item.target)]
        if len(known) == len(occurrences):
            return self.vectors_of_known(occurrences)
        vectors = np.full((len(occurrences), self.dim), np.nan, np.float32)
        if known:
            vectors[known] = self.vectors_of_known([occurrences[row] for row in known])
        return vectors

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) vectors of targets that the model knows."""
        raise NotImplementedError

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) vectors of the targets of a batch from the corpus."""
        raise NotImplementedError

    def look_up(self, batch: Windows) -> Floats:
        """Return (B, T, d) the words of a batch; a target of several is the mean of its own."""
        x = self.inputs[batch.ids]
        if batch.own is not None:
            there = (batch.own >= 0)[..., None]  # (B, size, 1)
            total = np.where(there, self.inputs[batch.own.clip(0)], 0).sum(axis=1)
            x[np.arange(len(x)), batch.targets] = total / there.sum(axis=1)
        return x


@dataclass(frozen=True)
class Attention(Ours):
    """A layer and the table of what each word brings to it."""

    layer: Layer

    def attend(self, occurrences: Sequence[Occurrence]) -> Attended:
        """Run the layer on occurrences whose sentences have one length, targets only."""
        ids, places = collapse(occurrences)
        x = self.inputs[ids]  # (B, T, d)
        for row, item in enumerate(occurrences):
            if len(item.target) > 1:  # a span asks with the mean of its words
                x[row, places[row]] = self.inputs[item.own].mean(axis=0)
        return attend(self.layer, x, ids, queries=places)

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) contextual vectors of the targets of a batch."""
        mask = None if batch.mask.all() else batch.mask
        x = self.look_up(batch)  # (B, T, d)
        return attend(self.layer, x, batch.ids, mask=mask, queries=batch.targets).output[:, 0]

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors, in batches of sentences of one length."""
        vectors = np.zeros((len(occurrences), self.dim), self.alone(()).dtype)
        for rows in batches(occurrences):
            vectors[rows] = self.attend([occurrences[row] for row in rows]).output[:, 0]
        return vectors


def collapse(occurrences: Sequence[Occurrence]) -> tuple[Ids, NDArray[np.intp]]:
    """Return ids (B, T) with each span as one word, and the places (B,) of the targets."""
    ids = [
        o.ids
        if len(o.target) == 1
        else np.concatenate([o.ids[: o.target.start + 1], o.ids[o.target.stop :]])
        for o in occurrences
    ]
    return np.array(ids, np.int32), np.array([o.target.start for o in occurrences], np.intp)


def batches(occurrences: Sequence[Occurrence]) -> Iterator[list[int]]:
    """Group occurrences by the length of their sentences, no group larger than memory likes."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for row, item in enumerate(occurrences):
        by_length[len(item.ids) - len(item.target) + 1].append(row)
    for length, rows in sorted(by_length.items()):
        step = max(1, BATCH // length)
        for first in range(0, len(rows), step):
            yield rows[first : first + step]


class Bag(Ours):
    """The baseline: the plain mean of the context, the target left out."""

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d); a target without context keeps its static vector."""
        rows = np.arange(len(batch.ids))
        look = batch.mask.copy()
        look[rows, batch.targets] = ~(batch.mask.sum(axis=1) > 1)
        weights = look / look.sum(axis=1, keepdims=True, dtype=np.float32)  # (B, T)
        return np.asarray((weights[:, None] @ self.look_up(batch))[:, 0], np.float32)

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d); a target without context keeps its static vector."""
        vectors = np.zeros((len(occurrences), self.dim), np.float32)
        ids: Ids | None = None
        for row, item in enumerate(occurrences):
            if item.ids is not ids:  # a sentence is summed once for all its targets
                ids = item.ids
                total = self.inputs[ids].sum(axis=0, dtype=np.float64)
            target = self.inputs[item.own]
            others = len(item.ids) - len(item.target)
            if others:
                vectors[row] = (total - target.sum(axis=0, dtype=np.float64)) / others
            else:
                vectors[row] = target.mean(axis=0)
        return vectors


class Static(Ours):
    """The baseline that knows no context: one vector a word."""

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) the static vectors of the targets."""
        rows = np.arange(len(batch.ids))
        if batch.own is not None:
            return self.look_up(batch)[rows, batch.targets]
        return self.inputs[batch.ids[rows, batch.targets]]

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) the mean of each target's static vectors."""
        if not occurrences:
            return np.zeros((0, self.dim), np.float32)
        sizes = np.array([len(item.target) for item in occurrences])
        words = self.inputs[np.concatenate([item.own for item in occurrences])]
        total = np.add.reduceat(words, np.cumsum(sizes) - sizes, axis=0)
        return np.asarray(total / sizes[:, None].astype(np.float32), np.float32)


def vectors_at(model: Model, representation: Ours, places: Places, size: int = 1) -> Floats:
    """Return (n, d) vectors of the words, `size` in a row, at these places of the corpus."""
    vectors = np.empty((len(places), model.dim), np.float32)
    for batch in read(model, places, size=size):
        vectors[batch.rows] = representation.embed(batch)
    return vectors


@dataclass(frozen=True)
class Representations:
    """A model's representations of a word in a sentence, by name; each is made once."""

    model: Model
    made: dict[tuple[int, str, str, int, int], Ours] = field(default_factory=dict)

    @cached_property
    def frequency(self) -> Floats:
        """(V,) each word's share of the corpus."""
        return (self.model.seen / max(1, self.model.seen_tokens)).astype(np.float32)

    def inputs(self, kind: str) -> Vectors | Space:
        """(V, d) static vectors as a layer wants them: raw, unit, or centred."""
        if kind == "raw":
            return self.model.vectors
        return self.model.space if kind == "unit" else self.model.centred_space

    def names(self) -> list[str]:
        """List the representations a result stands beside: the baselines, then what was learned."""
        return ["static", "bag", "general", *self.model.attentions()]

    def default(self) -> str:
        """Name the attention that is used unless another is asked for."""
        return "learned" if "learned" in self.model.attentions() else "general"

    def get(self, name: str, kind: str = "cosine", heads: int = 4, seed: int = 1) -> Ours:
        """Return a representation: static, bag, general (of a kind), learned, or a name.

        kind: textbook, scaled or cosine; cosine:3 has a temperature of 3.
        """
        kind, _, temperature = (kind if name == "general" else "").partition(":")
        # An attention may be learned again meanwhile.
        asked = (written_at(self.model, name), name, kind, heads, seed)
        if asked not in self.made:
            self.made[asked] = self._make(*asked[1:])
        made = self.made[asked]
        if temperature and isinstance(made, Attention):
            return replace(made, layer=replace(made.layer, scale=read_temperature(temperature)))
        return made

    def _make(self, name: str, kind: str, heads: int, seed: int) -> Ours:
        if name in ("static", "bag"):
            return (Static if name == "static" else Bag)(name, self.model.vectors)
        if name == "general":
            layer = general(kind, self.model.dim, heads, self.frequency)
            return Attention(name, self.inputs("unit" if layer.unit else "raw"), layer)
        if name == "random":
            layer = random_layer(self.model.dim, heads, np.random.default_rng(seed))
            return Attention(name, self.inputs("raw"), layer)
        if name in self.model.attentions():
            saved = load_attention(self.model, name)
            return Attention(name, self.inputs(saved.inputs), saved.layer)
        known = ", ".join(["general", *self.model.attentions()])
        raise ModelError(f"{self.model.path}: no attention {name!r}; it has {known}")


def read_temperature(text: str) -> float:
    """Read what general attention multiplies its scores by."""
    try:
        temperature = float(text)
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature <= 1000:
        raise UsageError(f"--general: a temperature of {text!r}; give a number from 0 to 1000")
    return temperature


@lru_cache(maxsize=4)
def representations_of(model: Model) -> Representations:
    """Return the representations of an opened model, the same for everybody who asks."""
    return Representations(model)
