"""Representations, which give an occurrence a vector: static, bag, attention and other layers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import AttentionResult, attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import general, random_layer, read_temperature
from ctxembed.attention.recurrent import (
    Recurrent,
    read_every_word,
    read_sentences,
    read_targets,
    shares_left,
)
from ctxembed.attention.scores import Mask
from ctxembed.context.occurrences import Positions, Windows, read_windows
from ctxembed.context.parse import Occurrence, batches, collapse
from ctxembed.errors import ModelError
from ctxembed.model.attentions import TOGETHER, load_attention, written_at
from ctxembed.model.model import Model
from ctxembed.static.space import Space, Vectors
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.index import Ids

if TYPE_CHECKING:
    from ctxembed.attention.encoder import Encoder, EncoderResult

Targets = NDArray[np.intp]  # (B,) the position of one target in each sentence
READ = 100  # words on either side of a target that a recurrent network or an encoder reads
Chosen = tuple[Floats, Targets, Mask | None]  # words (B, n, d), the target's place, which are there
CHOSEN = 8  # words that attention chooses for an encoder; 6 to 10 do as well
OWN_SHARE = 0.5  # of attention itself, beside an encoder that reads its choice
READ_AT_ONCE = 1 << 10  # sentences that a recurrent network reads


class Representation(Protocol):
    """Anything that gives an occurrence a vector.

    vectors: returns (n, dim) vectors of targets; NaN where a target is unknown.
    alone: returns (n, dim) vectors of words of the vocabulary, without a sentence.
    """

    @property
    def name(self) -> str: ...
    @property
    def dim(self) -> int: ...
    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats: ...
    def alone(self, rows: Sequence[int]) -> Floats: ...


@dataclass(frozen=True)
class TargetTrace:
    """How attention computed the vector of one target; a target of several words is one token."""

    weights: Floats  # (H, T) each row sums to 1, or to 0 where there is no context
    contributions: Floats  # (H, T) part of the vector that each token contributes
    own: float  # part that the target contributes by itself; all parts of attention sum to 1


@dataclass(frozen=True)
class Run:
    """The vectors of some targets, and how they were computed."""

    vectors: Floats  # (n, d)
    traces: Sequence[TargetTrace] = ()  # one for each target; empty without attention
    shown: Floats | None = None  # (n, d) an encoder's output if it sees the target too


@dataclass(frozen=True)
class ModelRepresentation:
    """A representation computed from the model's own vectors."""

    name: str
    inputs: Vectors | Space  # (V, d) the vector of each word before attention

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.inputs.shape[1])

    def alone(self, rows: Sequence[int]) -> Floats:
        """Return (n, d) vectors of words of the vocabulary, without a sentence."""
        return self.inputs[np.asarray(rows, np.intp)]

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) vectors of targets; NaN where the target is unknown."""
        raise NotImplementedError

    def run(self, occurrences: Sequence[Occurrence]) -> Run:
        """Return the vectors of known targets, with the trace of each if this is an attention."""
        return Run(self.vectors(occurrences))

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) vectors of the targets of a batch from the corpus."""
        raise NotImplementedError

    def look_up(self, batch: Windows) -> Floats:
        """Return (B, T, d) the words of a batch; a target of several words is their mean."""
        x = self.inputs[batch.ids]
        if batch.own is not None:
            known = (batch.own >= 0)[..., None]  # (B, size, 1)
            total = np.where(known, self.inputs[batch.own.clip(0)], 0).sum(axis=1)
            x[np.arange(len(x)), batch.targets] = total / known.sum(axis=1)
        return x

    def prepare(self, items: Sequence[Occurrence]) -> tuple[Floats, Ids, NDArray[np.intp]]:
        """Return x (B, T, d), ids (B, T) and targets (B,); a target of several words is a mean."""
        ids, targets = collapse(items)
        x = self.inputs[ids]
        for row, item in enumerate(items):
            if len(item.target) > 1:
                x[row, targets[row]] = self.inputs[item.own].mean(axis=0)
        return x, ids, targets


@dataclass(frozen=True)
class Attention(ModelRepresentation):
    """A layer, and the vectors of the words that it is applied to."""

    layer: Layer

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) contextual vectors of the targets of a batch."""
        mask = None if batch.mask.all() else batch.mask
        x = self.look_up(batch)  # (B, T, d)
        return attend(self.layer, x, batch.ids, mask=mask, queries=batch.targets).output[:, 0]

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors of targets; NaN where the target is unknown."""
        vectors = np.full((len(occurrences), self.dim), np.nan, self.alone(()).dtype)
        for rows in batches(occurrences):
            x, ids, targets = self.prepare([occurrences[row] for row in rows])
            vectors[rows] = attend(self.layer, x, ids, queries=targets).output[:, 0]
        return vectors

    def every_word(self, ids: Ids) -> Floats:
        """Return (B, T, d) contextual vectors of all words of sentences ids (B, T)."""
        return attend(self.layer, self.inputs[ids], ids).output

    def run(self, occurrences: Sequence[Occurrence]) -> Run:
        """Run the layer once for each known target; return vectors (n, d) and traces."""
        vectors = np.zeros((len(occurrences), self.dim), self.alone(()).dtype)
        traces: dict[int, TargetTrace] = {}
        for rows in batches(occurrences):
            x, ids, targets = self.prepare([occurrences[row] for row in rows])
            attended = attend(self.layer, x, ids, queries=targets)
            vectors[rows] = attended.output[:, 0]
            for number, row in enumerate(rows):
                traces[row] = trace_target(attended, number)
        return Run(vectors, [traces[row] for row in sorted(traces)])


class Network(ModelRepresentation):
    """A network that reads the words around a target: at most READ on either side."""

    def output(self, x: Floats, targets: Targets, mask: Mask | None = None) -> Floats:
        """Return (B, d) the output for one target in each sentence x (B, T, d)."""
        raise NotImplementedError

    def shares(self, x: Floats, target: int) -> Floats:
        """Return (n, T) how much of each word of x (T, d) is in the target's output."""
        raise NotImplementedError

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) contextual vectors of the targets of a batch."""
        return self.output(self.look_up(batch), batch.targets, batch.mask)

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors of targets; NaN where the target is unknown."""
        near = [item.clip(READ) for item in occurrences]
        vectors = np.full((len(near), self.dim), np.nan, self.alone(()).dtype)
        for rows in batches(near):
            x, _, targets = self.prepare([near[row] for row in rows])
            vectors[rows] = self.output(x, targets)
        return vectors

    def run(self, occurrences: Sequence[Occurrence]) -> Run:
        """Return the vectors of known targets, with the share of each word in them."""
        return Run(self.vectors(occurrences), [self._trace(item) for item in occurrences])

    def _trace(self, item: Occurrence) -> TargetTrace:
        """Return the share of each token in the target's output; there are no weights."""
        length, first = len(item.ids) - len(item.target) + 1, max(0, item.target.start - READ)
        (x,), _, (target,) = self.prepare([item.clip(READ)])
        near = self.shares(x, int(target))
        shares = np.pad(near, ((0, 0), (first, length - first - len(x))))
        return TargetTrace(np.zeros((0, length)), shares, 0.0)


@dataclass(frozen=True)
class RecurrentRepresentation(Network):
    """A recurrent network, which reads the words around a target one by one."""

    network: Recurrent

    def output(self, x: Floats, targets: Targets, mask: Mask | None = None) -> Floats:
        """Return (B, d) the output for one target in each sentence x (B, T, d)."""
        return read_sentences(self.network, x, targets, mask).output

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) contextual vectors of the targets of a batch."""
        x, mask = self.look_up(batch)[batch.mask], batch.mask  # (N, d), (B, T)
        before = mask & (np.arange(mask.shape[1]) < batch.targets[:, None])
        end = np.cumsum(mask.sum(axis=1))
        first = end - mask.sum(axis=1)
        targets = first + before.sum(axis=1)
        return read_targets(self.network, x, np.arange(len(x)), first, targets, end - 1)

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors of targets; NaN where the target is unknown."""
        vectors = np.full((len(occurrences), self.dim), np.nan, self.alone(()).dtype)
        known = [row for row, item in enumerate(occurrences) if item.target]
        for start in range(0, len(known), READ_AT_ONCE):
            rows = known[start : start + READ_AT_ONCE]
            vectors[rows] = self._read([occurrences[row].clip(READ) for row in rows])
        return vectors

    def _read(self, items: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors of known targets, all sentences at once."""
        single = [collapse([item]) for item in items]  # ids (1, T) and target (1,)
        end = np.cumsum([ids.shape[1] for ids, _ in single])
        first = np.concatenate([[0], end[:-1]])
        targets = first + np.concatenate([target for _, target in single])
        distinct, words = np.unique(np.concatenate([i[0] for i, _ in single]), return_inverse=True)
        x, several = self.inputs[distinct], [n for n, i in enumerate(items) if len(i.target) > 1]
        if several:
            words[targets[several]] = len(x) + np.arange(len(several))
            means = [self.inputs[items[n].own].mean(axis=0) for n in several]
            x = np.concatenate([x, means])
        return read_targets(self.network, x, words, first, targets, end - 1)

    def every_word(self, ids: Ids) -> Floats:
        """Return (B, T, d) contextual vectors of all words of sentences ids (B, T)."""
        return read_every_word(self.network, self.inputs[ids])

    def shares(self, x: Floats, target: int) -> Floats:
        """Return (2, T) the share of each word of x (T, d) left at the target, by reading."""
        return shares_left(self.network, x, target)


@dataclass(frozen=True)
class EncoderRepresentation(Network):
    """A Transformer encoder with the target hidden: what the words around say about it."""

    encoder: "Encoder"

    def encode(
        self, x: Floats, targets: Targets, mask: Mask | None = None, hidden: bool = True
    ) -> "EncoderResult":
        """Return the result for one target in each sentence x (B, T, d), with every step."""
        from ctxembed.attention import encoder  # most queries start without it

        rows, there = np.arange(len(x)), np.ones(x.shape[:2], bool) if mask is None else mask
        asked = encoder.Targets(rows, targets, np.full(len(x), hidden))
        return encoder.encode(self.encoder, x, there, asked)

    def output(self, x: Floats, targets: Targets, mask: Mask | None = None) -> Floats:
        """Return (B, d) the output for one target in each sentence x (B, T, d)."""
        return self.encode(x, targets, mask).output

    def shares(self, x: Floats, target: int) -> Floats:
        """Return (1, T) how much the target saw of each word of x (T, d) in the end."""
        return self.encode(x[None], np.array([target])).rollout()


@dataclass(frozen=True)
class Together(ModelRepresentation):
    """Learned attention chooses words of the sentence, and an encoder reads them.

    The encoder reads the CHOSEN words with the largest weights, and does not see the target. So a
    clause about something else, to which attention gives little weight, cannot mislead it. The
    vector is the sum of both at length 1, attention's times OWN_SHARE.
    """

    attention: Attention
    encoder: EncoderRepresentation

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) contextual vectors of the targets of a batch."""
        mask = None if batch.mask.all() else batch.mask
        x = self.attention.look_up(batch)
        attended = attend(self.attention.layer, x, batch.ids, mask=mask, queries=batch.targets)
        chosen = _choose(attended, self.encoder.look_up(batch), batch.targets, mask)
        return self._join(attended, chosen)

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors of targets; NaN where the target is unknown."""
        vectors = np.full((len(occurrences), self.dim), np.nan, self.alone(()).dtype)
        for rows in batches(occurrences):
            vectors[rows] = self._join(*self._attend([occurrences[row] for row in rows]))
        return vectors

    def run(self, occurrences: Sequence[Occurrence]) -> Run:
        """Return the vectors of known targets, with the traces of attention."""
        vectors = np.zeros((len(occurrences), self.dim), self.alone(()).dtype)
        shown = np.zeros_like(vectors)
        traces: dict[int, TargetTrace] = {}
        for rows in batches(occurrences):
            attended, chosen = self._attend([occurrences[row] for row in rows])
            vectors[rows] = self._join(attended, chosen)
            shown[rows] = self.encoder.encode(*chosen, hidden=False).output
            traces |= {row: trace_target(attended, number) for number, row in enumerate(rows)}
        return Run(vectors, [traces[row] for row in sorted(traces)], shown)

    def _attend(self, items: Sequence[Occurrence]) -> tuple[AttentionResult, Chosen]:
        """Return the result of attention, and the words that it chooses."""
        x, ids, targets = self.attention.prepare(items)
        attended = attend(self.attention.layer, x, ids, queries=targets)
        if self.encoder.inputs is not self.attention.inputs:
            x = self.encoder.prepare(items)[0]
        return attended, _choose(attended, x, targets, None)

    def _join(self, attended: AttentionResult, chosen: Chosen) -> Floats:
        """Return (B, d) the sum of attention's output and the encoder's for the chosen words."""
        read = self.encoder.output(*chosen)
        return np.asarray(unit(read) + OWN_SHARE * unit(attended.output[:, 0]))


def _choose(attended: AttentionResult, x: Floats, targets: Targets, mask: Mask | None) -> Chosen:
    """Return the words with the largest weights, with the target, and the target's place there."""
    weights = attended.weights[:, :, 0].mean(axis=1)  # (B, T)
    rows = np.arange(len(weights))
    weights[rows, targets] = np.inf  # its place is always kept
    number = min(CHOSEN + 1, weights.shape[1])
    kept = np.sort(np.argpartition(-weights, number - 1, axis=1)[:, :number], axis=1)
    there = None if mask is None else mask[rows[:, None], kept]
    return x[rows[:, None], kept], np.argmax(kept == targets[:, None], axis=1), there


def trace_target(attended: AttentionResult, row: int) -> TargetTrace:
    """Return how attention computed the vector of one target of a batch."""
    weights = attended.weights[row, :, 0].astype(np.float64)
    return TargetTrace(weights, *split_output(attended, row))


def split_output(attended: AttentionResult, row: int = 0) -> tuple[Floats, float]:
    """Return the part of each token (H, T) along a target's output, and its own; they sum to 1."""
    output = attended.output[row, 0].astype(np.float64)
    length = float(output @ output) or 1.0
    along = attended.values[row].astype(np.float64) @ output / length  # (H, T)
    own = attended.own[row, 0].astype(np.float64) @ output
    return attended.weights[row, :, 0].astype(np.float64) * along, float(own) / length


class Bag(ModelRepresentation):
    """The baseline: the plain mean of the context, without the target."""

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d); a target without context keeps its static vector."""
        rows = np.arange(len(batch.ids))
        context = batch.mask.copy()
        context[rows, batch.targets] = ~(batch.mask.sum(axis=1) > 1)
        weights = context / context.sum(axis=1, keepdims=True, dtype=np.float32)  # (B, T)
        return np.asarray((weights[:, None] @ self.look_up(batch))[:, 0], np.float32)

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d); a target without context keeps its static vector, NaN if unknown."""
        vectors = np.full((len(occurrences), self.dim), np.nan, np.float32)
        ids: Ids | None = None
        for row, item in enumerate(occurrences):
            if item.ids is not ids:  # a sentence is summed once for all its targets
                ids = item.ids
                total = self.inputs[ids].sum(axis=0, dtype=np.float64)
            target = self.inputs[item.own]
            context = len(item.ids) - len(item.target)
            if item.target and context:
                vectors[row] = (total - target.sum(axis=0, dtype=np.float64)) / context
            elif item.target:
                vectors[row] = target.mean(axis=0)
        return vectors


class Static(ModelRepresentation):
    """The baseline without context: one vector for each word."""

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) the static vectors of the targets."""
        rows = np.arange(len(batch.ids))
        if batch.own is not None:
            return self.look_up(batch)[rows, batch.targets]
        return self.inputs[batch.ids[rows, batch.targets]]

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) the mean of each target's static vectors; NaN where it is unknown."""
        vectors = np.full((len(occurrences), self.dim), np.nan, np.float32)
        known = [row for row, item in enumerate(occurrences) if item.target]
        if known:
            sizes = np.array([len(occurrences[row].target) for row in known])
            words = self.inputs[np.concatenate([occurrences[row].own for row in known])]
            total = np.add.reduceat(words, np.cumsum(sizes) - sizes, axis=0)
            vectors[known] = total / sizes[:, None].astype(np.float32)
        return vectors


def vectors_at(
    model: Model, representation: ModelRepresentation, positions: Positions, size: int = 1
) -> Floats:
    """Return (n, d) vectors of targets of `size` words that begin at positions of the corpus."""
    vectors = np.empty((len(positions), model.dim), np.float32)
    for batch in read_windows(model, positions, size=size):
        vectors[batch.rows] = representation.embed(batch)
    return vectors


@dataclass(frozen=True)
class Representations:
    """The representations of a model by name; each is created once."""

    model: Model
    known: dict[tuple[int, str, str, int, int], ModelRepresentation] = field(default_factory=dict)
    sense_spaces: dict[tuple[str, int], Any] = field(default_factory=dict)  # of word_senses
    definitions: dict[tuple[str, ...], Any] = field(default_factory=dict)  # by dictionaries

    @classmethod
    def of(cls, model: Model) -> "Representations":
        """Return the representations of an opened model: one object, kept by the model."""
        model.representations = model.representations or cls(model)
        kept: Representations = model.representations
        return kept

    @cached_property
    def frequency(self) -> Floats:
        """(V,) the relative frequency of each word in the corpus."""
        return (self.model.seen / max(1, self.model.seen_tokens)).astype(np.float32)

    def inputs(self, kind: str) -> Vectors | Space:
        """Return (V, d) static vectors: raw, unit (of length 1), or centred (and of length 1)."""
        if kind == "raw":
            return self.model.vectors
        return self.model.space if kind == "unit" else self.model.centred_space

    def names(self) -> list[str]:
        """Return the names of all representations: baselines first, then learned layers."""
        names = ["static", "bag", "general", *self.model.attentions()]
        return names if self.answer() in names else [*names, self.answer()]

    def default(self) -> str:
        """Return the name of the attention that is used if none is named."""
        return "learned" if "learned" in self.model.attentions() else "general"

    def answer(self) -> str:
        """Return the name of the representation that answers if none is named."""
        both = {"learned", "encoder"} <= {*self.model.attentions()}
        return TOGETHER if both else self.default()

    def get(
        self, name: str, kind: str = "cosine", heads: int = 4, seed: int = 1
    ) -> ModelRepresentation:
        """Return a representation: static, bag, general, random, or a learned attention's name.

        kind: of general attention: textbook, scaled or cosine; cosine:3 has a temperature of 3.
        """
        kind, _, temperature = (kind if name == "general" else "").partition(":")
        # The time of writing: an attention may be learned again meanwhile.
        key = (written_at(self.model, name), name, kind, heads, seed)
        if (chosen := self.known.get(key)) is None:
            if name in ("static", "bag"):
                chosen = (Static if name == "static" else Bag)(name, self.model.vectors)
            elif name == "general":
                layer = general(kind, self.model.dim, heads, self.frequency)
                chosen = Attention(name, self.inputs("unit" if layer.unit else "raw"), layer)
            elif name == "random":
                layer = random_layer(self.model.dim, heads, np.random.default_rng(seed))
                chosen = Attention(name, self.inputs("raw"), layer)
            elif name == TOGETHER and self.answer() == name:
                attention, encoder = self.get("learned"), self.get("encoder")
                assert isinstance(attention, Attention)
                assert isinstance(encoder, EncoderRepresentation)
                return Together(name, attention.inputs, attention, encoder)
            elif name in self.model.attentions():
                saved = load_attention(self.model, name)
                inputs = self.inputs(saved.inputs)
                if isinstance(saved.layer, Layer):
                    chosen = Attention(name, inputs, saved.layer)
                elif isinstance(saved.layer, Recurrent):
                    chosen = RecurrentRepresentation(name, inputs, saved.layer)
                else:
                    chosen = EncoderRepresentation(name, inputs, saved.layer)
            else:
                known = ", ".join(["general", *self.model.attentions()])
                raise ModelError(f"{self.model.path}: no attention {name!r}; it has {known}")
            self.known[key] = chosen
        if temperature and isinstance(chosen, Attention):
            return replace(chosen, layer=replace(chosen.layer, scale=read_temperature(temperature)))
        return chosen
