"""What gives an occurrence a vector: static, bag and attention; how it was computed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import AttentionResult, attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.products import matmul_heads
from ctxembed.context.occurrences import Positions, Windows, read_windows
from ctxembed.context.parse import Occurrence, Rows, batches, collapse
from ctxembed.model.model import Model
from ctxembed.static.space import Space, Vectors
from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Ids


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


SUMMED = 64  # targets whose sentences are summed together


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

    def alone(self, rows: Rows) -> Floats:
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

    def prepare(
        self, items: Sequence[Occurrence]
    ) -> tuple[Floats, Ids, NDArray[np.intp], NDArray[np.bool_] | None]:
        """Return x (B, T, d), ids, targets (B,) and mask; a target of several words is a mean."""
        ids, targets, mask = collapse(items)
        x = self.inputs[ids]
        for row, item in enumerate(items):
            if len(item.target) > 1:
                x[row, targets[row]] = self.inputs[item.own].mean(axis=0)
        return x, ids, targets, mask


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
            x, ids, targets, mask = self.prepare([occurrences[row] for row in rows])
            vectors[rows] = attend(self.layer, x, ids, queries=targets, mask=mask).output[:, 0]
        return vectors

    def every_word(self, ids: Ids) -> Floats:
        """Return (B, T, d) contextual vectors of all words of sentences ids (B, T)."""
        return attend(self.layer, self.inputs[ids], ids).output

    def run(self, occurrences: Sequence[Occurrence]) -> Run:
        """Run the layer once for each known target; return vectors (n, d) and traces."""
        vectors = np.zeros((len(occurrences), self.dim), self.alone(()).dtype)
        traces: dict[int, TargetTrace] = {}
        for rows in batches(occurrences):
            x, ids, targets, mask = self.prepare([occurrences[row] for row in rows])
            attended = attend(self.layer, x, ids, queries=targets, mask=mask)
            vectors[rows] = attended.output[:, 0]
            traces |= zip(rows, list_traces(attended, mask), strict=True)
        return Run(vectors, [traces[row] for row in sorted(traces)])


def list_traces(
    attended: AttentionResult, mask: NDArray[np.bool_] | None = None
) -> list[TargetTrace]:
    """Return how attention computed the vector of the one target of each sentence of a batch."""
    weights = attended.weights[:, :, 0].astype(np.float64)  # (B, H, T)
    parts, own = split_outputs(attended)
    parts *= weights
    lengths = [weights.shape[2]] * len(parts) if mask is None else mask.sum(axis=1).tolist()
    each = zip(weights, parts, own.tolist(), lengths, strict=True)
    return [TargetTrace(w[:, :length], part[:, :length], one) for w, part, one, length in each]


def split_outputs(attended: AttentionResult) -> tuple[Floats, Floats]:
    """Return the part of each value (B, H, T) along the output of a sentence's target, and (B,) its
    own: the parts times the weights, and its own, sum to 1.
    """
    layer, output = attended.layer, attended.output[:, 0].astype(np.float64)  # (B, d)
    lengths = np.einsum("bd,bd->b", output, output)
    output_parts = output / np.where(lengths > 0, lengths, 1)[:, None]
    own = np.einsum("bd,bd->b", attended.own[:, 0].astype(np.float64), output_parts)
    # x W_V W_O · output = x · (W_V W_O output): no word is multiplied by a matrix
    along = output_parts[:, None] * (layer.share / (layer.heads if layer.w_o is None else 1))
    for matrices in (layer.w_o, layer.w_v):
        if matrices is not None:
            along = matmul_heads(along, matrices, transpose=True)  # (B, H, ...)
    keys = attended.keys.astype(np.float64)
    parts = along @ keys.swapaxes(1, 2)  # (B, H or 1, T)
    return np.array(np.broadcast_to(parts, attended.weights[:, :, 0].shape)), own


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
        known = [row for row, item in enumerate(occurrences) if item.target]
        for first in range(0, len(known), SUMMED):
            rows = known[first : first + SUMMED]
            items = [occurrences[row] for row in rows]
            # a sentence is summed once for all its targets
            sentences = {id(item.ids): item.ids for item in items}
            numbers = {key: number for number, key in enumerate(sentences)}
            totals = self._sum_words(list(sentences.values()))
            targets = self._sum_words([item.own for item in items])
            context = np.array([len(item.ids) - len(item.target) for item in items])[:, None]
            sizes = np.array([len(item.target) for item in items])[:, None]
            others = totals[[numbers[id(item.ids)] for item in items]] - targets
            vectors[rows] = np.where(context, others / np.maximum(context, 1), targets / sizes)
        return vectors

    def _sum_words(self, texts: Sequence[Ids]) -> Floats:
        """Return (n, d) the sums of the vectors of texts, none of which is empty."""
        starts = np.cumsum([0, *(len(ids) for ids in texts[:-1])])
        words = self.inputs[np.concatenate(texts)].astype(np.float64)
        return np.asarray(np.add.reduceat(words, starts, axis=0))


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
