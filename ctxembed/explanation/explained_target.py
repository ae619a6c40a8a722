"""One attention for one target: what it looked at, and every number of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import Attended, Trace, attend
from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.context.parse import Parsed
from ctxembed.context.representations import Attention, collapse
from ctxembed.context.sentences import name_targets
from ctxembed.stats.vectors import Floats
from ctxembed.table import Chart, Column, Table

SENTENCE = Column("sentence", "with several sentences: the number of its line, from 1", "label")
TARGET = Column(
    "target", "the word explained; apple:2 is the second apple of the sentence", "label"
)
TOKEN = Column("token", "a word of the sentence; one without numbers is unknown", "label")
WEIGHT = Column(
    "weight",
    "softmax of the sums of one head, which sum to 1; of head mean, the mean of the heads' weights",
    "share",
    ("sentence", "target", "head"),
)
HEAD = Column(
    "head", "a number, mean over all heads, or own for what the word itself brings", "label"
)
STEPS = (
    Column("step", "with --steps: the matrix, E Q K V scores ... sum weights output", "label"),
    HEAD,
    Column("row", "with --steps: number of the row, from 1"),
    Column("row_token", "with --steps: the word of the row", "label"),
    Column("column", "with --steps: number of the column, from 1"),
    Column("column_name", "with --steps: the word or dimension of the column", "label"),
    Column("value", "with --steps: the number; on a terminal each matrix is laid out"),
)


@dataclass(frozen=True)
class Explained:
    """One target, the words it looks at, and all that the layer computed for it."""

    sentence: int  # its number
    target: str  # apple, or apple:2 for the second one
    place: int | None  # of the target among the tokens; None where they are another sentence's
    tokens: Sequence[str]
    positions: Sequence[int]  # of the tokens among the words as written, from 1
    unknown: Mapping[int, str]  # words left out, by their positions
    attended: Attended  # one sentence, one word that asks

    @property
    def heads(self) -> int:
        """How many heads the layer has."""
        return self.attended.layer.heads

    @cached_property
    def trace(self) -> Trace:
        """Every step from q·k to the weights."""
        return self.attended.trace()

    @cached_property
    def weights(self) -> Floats:
        """(H, T) each row sums to 1; to 0 where there is nothing to look at."""
        return self.attended.weights[0, :, 0].astype(np.float64)

    @cached_property
    def seen(self) -> NDArray[np.bool_]:
        """(H, T) False for the word itself where it is left out of its own weights."""
        return np.asarray(np.isfinite(self.trace.scaled[0, :, 0]))

    @property
    def terms(self) -> list[str]:
        """The names of what adds to the scores."""
        return list(self.trace.added)

    def steps(self, head: int, place: int) -> list[float]:
        """Return score, scale, what each term adds, and the sum, of one word in one head."""
        at = (0, head, 0, place)
        added = (part[at] for part in self.trace.added.values())
        found = (self.trace.scores[at], self.scale[head], *added, self.trace.scaled[at])
        return [float(number) for number in found]

    @property
    def scale(self) -> Floats:
        """(H,) what q·k is multiplied by."""
        return np.broadcast_to(np.asarray(self.attended.layer.scale, np.float64), self.heads)

    @cached_property
    def contributions(self) -> tuple[Floats, float]:
        """How far each token moves the output along its own direction, (H, T), and the word.

        All of them sum to 1: Σ c·o / o·o = o·o / o·o.
        """
        output = self.attended.output[0, 0].astype(np.float64)
        length = float(output @ output) or 1.0
        along = self.attended.values[0].astype(np.float64) @ output / length  # (H, T)
        own = self.attended.own[0, 0].astype(np.float64) @ output
        return self.weights * along, float(own) / length


def explain_targets(
    attention: Attention, parsed: Parsed, *, over: Parsed | None = None, encoding: str = "none"
) -> Iterator[Explained]:
    """Run the layer for each target, one at a time: long sentences need no square matrix."""
    names = name_targets(parsed)
    for name, item in zip(names, parsed.occurrences, strict=True):
        (ids,), (place,) = collapse([item])
        x = attention.inputs[ids].astype(np.float64)
        x[place] = attention.inputs[item.own].mean(axis=0)
        x = encode_places(x, encoding)
        other = None
        if over is None:
            start, stop = item.target.start, item.target.stop
            span = " ".join(parsed.words[start:stop])
            tokens = [*parsed.words[:start], span, *parsed.words[stop:]]
            whole = parsed.positions
            positions = [*whole[: start + 1], *whole[stop:]]
            inside = range(whole[start], whole[stop - 1])
            unknown = {at + 1: w for at, w in parsed.unknown.items() if at + 1 not in inside}
        else:
            key_ids = over.occurrences[0].ids[None]
            other = encode_places(attention.inputs[key_ids[0]], encoding)[None], key_ids
            tokens, positions = over.words, over.positions
            unknown = {at + 1: word for at, word in over.unknown.items()}
        queries = np.array([place], np.intp)
        attended = attend(attention.layer, x[None], ids[None], over=other, queries=queries)
        at = int(place) if over is None else None
        yield Explained(parsed.number, name, at, tokens, positions, unknown, attended)


def draw_tokens(title: str, panel: Sequence[str], of: Callable[[], Table] | None = None) -> Chart:
    """Describe a sentence, each word shaded by its weight, with an arc from the target."""
    chart = Chart("tokens", ["weight"], "position", ["token"], start="target", title=title)
    return replace(chart, panel=panel, of=of)


def encode_places(x: Floats, encoding: str) -> Floats:
    """Add sine waves for the place of each word, where they are asked for."""
    return x + sinusoidal(*x.shape) if encoding == "sinusoidal" else x.astype(np.float64)
