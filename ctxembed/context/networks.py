"""Representations by networks: a recurrent network, an encoder, and an encoder with attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import AttentionResult, attend
from ctxembed.attention.recurrent import (
    Recurrent,
    read_every_word,
    read_sentences,
    read_targets,
    read_with_shares,
)
from ctxembed.attention.scores import Mask
from ctxembed.context.occurrences import Windows
from ctxembed.context.parse import Occurrence, batches, collapse
from ctxembed.context.representation import (
    Attention,
    ModelRepresentation,
    Run,
    TargetTrace,
    list_traces,
)
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.index import Ids

if TYPE_CHECKING:
    from ctxembed.attention.encoder import Encoder, EncoderResult
    from ctxembed.attention.encoder_reading import Reading

Targets = NDArray[np.intp]  # (B,) the position of one target in each sentence
Chosen = tuple[Floats, Targets, Mask | None]  # words (B, n, d), the target's place, which are there
READ = 100  # words on either side of a target that a recurrent network or an encoder reads
CHOSEN = 8  # words that attention chooses for an encoder; 6 to 10 do as well
OWN_SHARE = 0.5  # of attention itself, beside an encoder that reads its choice
READ_AT_ONCE = 1 << 10  # sentences that a recurrent network reads


class Network(ModelRepresentation):
    """A network that reads the words around a target: at most READ on either side."""

    def output(self, x: Floats, targets: Targets, mask: Mask | None = None) -> Floats:
        """Return (B, d) the output for one target in each sentence x (B, T, d)."""
        raise NotImplementedError

    def read_with_shares(
        self, x: Floats, targets: Targets, mask: Mask | None = None
    ) -> tuple[Floats, Floats]:
        """Return (B, d) the outputs, and (B, n, T) how much of each word of x is in them."""
        raise NotImplementedError

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) contextual vectors of the targets of a batch."""
        return self.output(self.look_up(batch), batch.targets, batch.mask)

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors of targets; NaN where the target is unknown."""
        near = [item.clip(READ) for item in occurrences]
        vectors = np.full((len(near), self.dim), np.nan, self.alone(()).dtype)
        for rows in batches(near):
            x, _, targets, mask = self.prepare([near[row] for row in rows])
            vectors[rows] = self.output(x, targets, mask)
        return vectors

    def run(self, occurrences: Sequence[Occurrence]) -> Run:
        """Return the vectors of known targets, with the share of each word in them."""
        near = [item.clip(READ) for item in occurrences]
        vectors = np.full((len(near), self.dim), np.nan, self.alone(()).dtype)
        traces: dict[int, TargetTrace] = {}
        for rows in batches(near):
            x, _, targets, mask = self.prepare([near[row] for row in rows])
            vectors[rows], shares = self.read_with_shares(x, targets, mask)
            for row, own in zip(rows, shares, strict=True):
                traces[row] = _trace(occurrences[row], own)
        return Run(vectors, [traces[row] for row in sorted(traces)])


def _trace(item: Occurrence, near: Floats) -> TargetTrace:
    """Return the shares (n, T) of the words near a target as a trace; there are no weights."""
    length, first = len(item.ids) - len(item.target) + 1, max(0, item.target.start - READ)
    shares = np.zeros((len(near), length))
    read = min(near.shape[1], length - first)  # without padding
    shares[:, first : first + read] = near[:, :read]
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
        single = [collapse([item])[:2] for item in items]  # ids (1, T) and target (1,)
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

    def read_with_shares(
        self, x: Floats, targets: Targets, mask: Mask | None = None
    ) -> tuple[Floats, Floats]:
        """Return (B, d) the outputs, and (B, 2, T) the share of each word left, by reading."""
        return read_with_shares(self.network, x, targets, mask)


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
        return self.read(x, targets, mask).output

    def read(
        self, x: Floats, targets: Targets, mask: Mask | None = None, hidden: bool = True
    ) -> "Reading":
        """Return the output for one target in each sentence x (B, T, d), and what it saw."""
        from ctxembed.attention.encoder_reading import read_targets  # most queries go without it

        return read_targets(self.encoder, x, targets, mask, hidden=hidden)

    def read_with_shares(
        self, x: Floats, targets: Targets, mask: Mask | None = None
    ) -> tuple[Floats, Floats]:
        """Return (B, d) the outputs, and (B, 1, T) how much each target saw of each word."""
        read = self.read(x, targets, mask)
        return read.output, read.seen[:, None]


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
            attended, chosen, _ = self._attend([occurrences[row] for row in rows])
            vectors[rows] = self._join(attended, chosen)
        return vectors

    def run(self, occurrences: Sequence[Occurrence]) -> Run:
        """Return the vectors of known targets, with the traces of attention."""
        vectors = np.zeros((len(occurrences), self.dim), self.alone(()).dtype)
        shown = np.zeros_like(vectors)
        traces: dict[int, TargetTrace] = {}
        for rows in batches(occurrences):
            items = [occurrences[row] for row in rows]
            attended, chosen, mask = self._attend(items)
            vectors[rows] = self._join(attended, chosen)
            shown[rows] = self.encoder.read(*chosen, hidden=False).output
            traces |= zip(rows, list_traces(attended, mask), strict=True)
        return Run(vectors, [traces[row] for row in sorted(traces)], shown)

    def _attend(self, items: Sequence[Occurrence]) -> tuple[AttentionResult, Chosen, Mask | None]:
        """Return the result of attention, the words that it chooses, and which words are there."""
        x, ids, targets, mask = self.attention.prepare(items)
        attended = attend(self.attention.layer, x, ids, queries=targets, mask=mask)
        if self.encoder.inputs is not self.attention.inputs:
            x = self.encoder.prepare(items)[0]
        return attended, _choose(attended, x, targets, mask), mask

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
