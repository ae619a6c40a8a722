"""Explain one attention for one target: every number from q·k to the output vector."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import AttentionResult, Trace, attend
from ctxembed.attention.scores import softmax
from ctxembed.attention.terms import sinusoidal
from ctxembed.context.parse import Parsed, collapse
from ctxembed.context.representation import Attention, split_outputs
from ctxembed.context.sentences import list_targets
from ctxembed.errors import CtxembedError, UsageError
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Row

MAX_SUM = 20.0  # a head with a larger sum is shown with e^(sum - largest), which weighs the same


@dataclass(frozen=True)
class Explanation:
    """One target, the words it attends to, and everything that the layer computed for it."""

    sentence: int  # its number
    target: str  # apple, or apple:2 for the second one
    target_index: int | None  # of the target in tokens; None if they are of another sentence
    tokens: Sequence[str]
    positions: Sequence[int]  # of the tokens among the words as written, from 1
    unknown: Mapping[int, str]  # words left out, by their positions
    attended: AttentionResult  # of one sentence and one query

    @property
    def heads(self) -> int:
        """The number of heads of the layer."""
        return self.attended.layer.heads

    @cached_property
    def trace(self) -> Trace:
        """Every step from q·k to the weights."""
        return self.attended.trace()

    @cached_property
    def weights(self) -> Floats:
        """(H, T) each row sums to 1; to 0 without context."""
        return self.attended.weights[0, :, 0].astype(np.float64)

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """(H, T) False for the word itself where the layer leaves it out, and for masked words."""
        return np.asarray(np.isfinite(self.trace.scaled[0, :, 0]))

    @property
    def terms(self) -> list[str]:
        """The names of the terms that are added to the scores."""
        return list(self.trace.added)

    @cached_property
    def largest(self) -> Floats:
        """(H,) what is taken from each sum before the exponential: its largest, or 0 if small."""
        largest = self.trace.scaled[0, :, 0].max(axis=1)
        return np.where(largest > MAX_SUM, largest, 0.0)

    def steps(self, head: int, token: int) -> list[float]:
        """Return score, scale, each term, and their sum, of one token in one head."""
        at = (0, head, 0, token)
        added = (part[at] for part in self.trace.added.values())
        steps = (self.trace.scores[at], self.attended.layer.scale, *added, self.trace.scaled[at])
        return [float(number) for number in steps]

    def exponential(self, head: int, token: int) -> float:
        """Return e^sum of one token in one head, or e^(sum - largest) if a sum is large."""
        return float(np.exp(self.trace.scaled[0, head, 0, token] - self.largest[head]))

    @cached_property
    def contributions(self) -> tuple[Floats, float]:
        """(H, T) the part of the output that each token contributes, and the word's own part.

        All of them sum to 1.
        """
        (parts,), (own,) = split_outputs(self.attended)
        return self.attended.weights[0, :, 0] * parts, float(own)

    def rows(self, head: str = "mean") -> list[Row]:
        """Return head, token, position, each step of one head, weight and contribution, by token.

        head: "mean", "each" or a number. The mean of several heads has no steps: its weights are no
        softmax. A word that is unknown or masked has no numbers, nor has the word itself where it
        is left out.
        """
        parts, own = self.contributions
        whole = head != "mean" or self.heads == 1
        empty: list[Cell] = [None] * (4 + len(self.terms) if whole else 0)
        if whole:
            numbers: Sequence[int] = range(self.heads)
            if head != "each":
                numbers = [0 if head == "mean" else pick_head(head, self.heads)]
            chosen = [(str(h + 1), self.weights[h], parts[h].copy(), self.seen[h]) for h in numbers]
        else:
            chosen = [("mean", self.weights.mean(0), parts.sum(0), self.seen.max(axis=0))]
        if head == "mean" and self.target_index is not None:
            chosen[0][2][self.target_index] += own
        rows: list[Row] = []
        for name, weights, contributions, seen in chosen:
            by_position: dict[int, Row] = {
                position: (name, token, position, *empty, None, None)
                for position, token in self.unknown.items()
            }
            for i, position in enumerate(self.positions):
                steps = empty
                if whole and seen[i]:
                    at = int(name) - 1
                    steps = [*self.steps(at, i), self.exponential(at, i)]
                weight = float(weights[i]) if seen[i] else None
                cells = (name, self.tokens[i], position, *steps, weight, float(contributions[i]))
                by_position[position] = cells
            rows += [by_position[position] for position in sorted(by_position)]
        if own and (head == "each" or (head == "mean" and self.target_index is None)):
            rows.append(("own", self.target, None, *empty, None, own))
        return rows


def pick_head(head: str, heads: int) -> int:
    """Return the index of a head from its number in an option."""
    if not re.fullmatch("[0-9]{1,9}", head) or not 1 <= int(head) <= heads:
        raise UsageError(f"--head {head[:60]}: this attention has heads 1 to {heads}")
    return int(head) - 1


def trace_targets(
    attention: Attention,
    parsed: Parsed,
    *,
    over: Parsed | None = None,
    encoding: str = "none",
    causal: bool = False,
) -> Iterator[Explanation]:
    """Yield the explanation of each target, one at a time: long sentences need no square matrix.

    over: another sentence to attend to. encoding: "sinusoidal" adds position vectors.
    causal: later words are masked.
    """
    for _, name, item in list_targets([parsed]):
        (ids,), (target,), _ = collapse([item])
        x = attention.inputs[ids].astype(np.float64)
        x[target] = attention.inputs[item.own].mean(axis=0)
        x = encode_positions(x, encoding)
        other = None
        if over is None:
            tokens, positions = parsed.tokens(item)
            whole = parsed.positions
            inside = range(whole[item.target.start], whole[item.target.stop - 1])
            unknown = {i + 1: word for i, word in parsed.unknown.items() if i + 1 not in inside}
        else:
            key_ids = over.occurrences[0].ids[None]
            other = encode_positions(attention.inputs[key_ids[0]], encoding)[None], key_ids
            tokens, positions = over.words, over.positions
            unknown = {i + 1: word for i, word in over.unknown.items()}
        queries = np.array([target], np.intp)
        attended = attend(
            attention.layer, x[None], ids[None], over=other, queries=queries, causal=causal
        )
        index = int(target) if over is None else None
        yield Explanation(parsed.number, name, index, tokens, positions, unknown, attended)


def encode_positions(x: Floats, encoding: str) -> Floats:
    """Return vectors (T, d), with a sinusoidal encoding of each position added if wanted."""
    return x + sinusoidal(*x.shape) if encoding == "sinusoidal" else x.astype(np.float64)


def check_rows(rows: Sequence[Row], item: Explanation) -> None:
    """Recompute a target's output vector from its rows; raise an error if it differs.

    score times scale plus the terms must be the sum; weights must be the softmax of the sums and
    sum to 1; the weighted values and the word's own part must sum to the output, and the
    contributions to 1.
    """
    names = ["head", "token", "position", "score", "scale", *item.terms, "sum"]
    names += ["exponential", "weight", "share"]
    known = [row for row in rows if row[2] in {*item.positions}]
    own = sum(float(cast(float, row[-1])) for row in rows if row[0] == "own")

    def column(name: str, empty: float = 0.0) -> Floats:
        cells = (row[names.index(name)] for row in known)
        numbers = [empty if cell is None else cell for cell in cells]
        return np.array(numbers, np.float64).reshape(item.heads, -1)  # (H, T)

    total, weights, powers = column("sum", -np.inf), column("weight"), column("exponential")
    added = column("scale") * column("score") + sum(column(term) for term in item.terms)
    seen = np.isfinite(total)
    scales = np.where(seen, item.attended.layer.scale, 0)
    mixed = np.einsum("ht,htd->d", weights, item.attended.values[0]) + item.attended.own[0, 0]
    parts = column("share").sum() + own
    for what, actual, expected in (
        ("the scale with that of the layer", column("scale"), scales),
        ("the sum with what is added", added[seen], total[seen]),
        ("the exponentials with e to the sum", powers, np.exp(total - item.largest[:, None])),
        ("the weights with the softmax of the sums", softmax(total), weights),
        ("the sum of the weights with 1", weights.sum(1), total.max(1) > -np.inf),
        ("the weighted sum with the output", mixed, item.attended.output[0, 0]),
        ("the sum of the contributions with 1", parts, 1.0),
    ):
        size = max(1.0, float(np.abs(expected).max(initial=0)))
        gap = float(np.abs(np.asarray(actual, np.float64) - expected).max(initial=0)) / size
        if not gap < 1e-6:
            raise CtxembedError(f"check failed for {item.target!r}: {what} differs by {gap:.3g}")
