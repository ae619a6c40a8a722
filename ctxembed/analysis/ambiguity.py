"""Which words need their context, and for which does one vector do?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.analysis.context import Context, vectors_at
from ctxembed.analysis.induce import APART, RAREST, Space, make_space, separation
from ctxembed.analysis.occurrences import AT_ONCE, corpus_of, sample
from ctxembed.attention.scores import Floats
from ctxembed.errors import CtxembedError
from ctxembed.model import Model, unit
from ctxembed.progress import Progress
from ctxembed.table import Cell, Table
from ctxembed.text.function_words import is_content

FEWEST = 20  # occurrences below which nothing is said
EACH = 100  # occurrences looked at for each word
ALIKE = 0.62  # self-similarity over the baseline, below which a word needs its context
SPLIT = 4.0  # own spreads between two groups; one normal cloud cut in two has 2.7
VERDICTS = ("needs-context", "static-ok", "too-rare")
COLUMNS = (
    "word",
    "count",
    "self_similarity",
    "low",
    "high",
    "static_variance",
    "senses",
    "verdict",
)


@dataclass(frozen=True)
class Measured:
    """What the occurrences of one word say."""

    row: int
    count: int
    similarity: float  # mean cosine of two occurrences, over that of different words
    low: float  # 95 % of the bootstrap samples lie between these
    high: float
    explained: float  # share of the vectors' squared length along the static vector
    senses: int


def ambiguity(
    model: Model,
    words: Sequence[str] = (),
    *,
    min_count: int = 100,
    attention: str | None = None,
    threshold: float = ALIKE,
    most: int | None = None,
    summary: bool = False,
    seed: int = 1,
    progress: Progress | None = None,
) -> Table:
    """Measure words, or all that occur often enough, those that need their context most first."""
    context = Context(model)
    if words:
        rows = list(dict.fromkeys(model.row(word) for word in words))
    else:
        rows = np.flatnonzero(model.counts >= max(min_count, FEWEST)).tolist()
    if not rows:
        raise CtxembedError(f"no word occurs {min_count} times; give a lower --min-count")
    space = make_space(context, attention or context.default(), seed)
    found = list(measure(model, space, rows, seed, progress or Progress()))
    found.sort(key=lambda item: (np.isnan(item.similarity), item.similarity))
    notes = [
        f"self_similarity is over {space.baseline:.3f}, that of random pairs of different words;"
        f" below {threshold:g}, or with two senses, a word needs its context (--threshold)"
    ]
    if summary:
        return Table(("property", "value"), _summary(context, found, threshold), notes=notes)
    lines: list[tuple[Cell, ...]] = [
        (
            model.vocab[item.row],
            item.count,
            item.similarity,
            item.low,
            item.high,
            item.explained,
            item.senses or None,
            verdict(item, threshold),
        )
        for item in found[:most]
    ]
    return Table(COLUMNS, lines, notes=notes)


def verdict(item: Measured, threshold: float = ALIKE) -> str:
    """Say what a word needs."""
    if item.count < FEWEST:
        return "too-rare"
    return "needs-context" if item.similarity < threshold or item.senses > 1 else "static-ok"


def measure(
    model: Model, space: Space, rows: Sequence[int], seed: int, progress: Progress
) -> Iterator[Measured]:
    """Read the occurrences of many words, a batch of words at a time."""
    index, rng = corpus_of(model), np.random.default_rng(seed)
    weights = {n: _draws(n, rng) for n in (EACH,)}
    with progress.stage("measuring", len(rows), "words") as stage:
        for batch in _batches(model, rows):
            places = [sample(index.positions(row), EACH, rng) for row in batch]
            made = unit(vectors_at(model, space.way, np.concatenate(places)))
            ends = np.cumsum([len(some) for some in places])
            for row, vectors in zip(batch, np.split(made, ends[:-1]), strict=True):
                n = len(vectors)
                if n < FEWEST:
                    gap = float("nan")
                    yield Measured(row, int(model.counts[row]), gap, gap, gap, gap, 0)
                    continue
                if n not in weights:
                    weights[n] = _draws(n, rng)
                static = unit(space.way.inputs[row])
                yield describe(row, int(model.counts[row]), vectors, static, space, weights[n])
            stage.advance(len(batch))


def describe(
    row: int, count: int, vectors: Floats, static: Floats, space: Space, draws: Floats
) -> Measured:
    """Measure one word from the unit vectors (n, d) of its occurrences."""
    cosines = vectors @ vectors.T  # (n, n)
    n = len(vectors)
    similarity = float((cosines.sum() - np.trace(cosines)) / (n * (n - 1)))
    # Pairs of the same occurrence, which a bootstrap sample has, say nothing: left out.
    same = (draws * draws).sum(axis=1)
    drawn = np.einsum("bn,bn->b", draws @ cosines, draws) - (draws * draws) @ np.diag(cosines)
    low, high = np.quantile(drawn / (n * n - same), [0.025, 0.975])
    return Measured(
        row,
        count,
        similarity - space.baseline,
        float(low) - space.baseline,
        float(high) - space.baseline,
        float(((vectors @ static) ** 2).mean()),
        2 if falls_apart(vectors.astype(np.float64) @ space.matrix) else 1,
    )


def falls_apart(placed: Floats) -> bool:
    """Tell whether occurrences (n, d) fall into two groups, at the price of a few products.

    The direction of greatest variance by power iteration, cut where two groups are tightest, then
    three rounds of 2-means: the criterion of `senses` without its resampling.
    """
    x = placed - placed.mean(axis=0)
    line = x[np.argmax((x * x).sum(axis=1))]
    for _ in range(8):
        line = x.T @ (x @ line)
        line /= np.linalg.norm(line) or 1.0
    along = np.sort(x @ line)
    n = np.arange(1, len(along))
    head = np.cumsum(along)[:-1]
    between = head**2 / n + (along.sum() - head) ** 2 / (len(along) - n)
    second = (x @ line) > along[int(between.argmax())]
    for _ in range(3):
        if min(second.sum(), (~second).sum()) < max(2, RAREST * len(x)):
            return False
        one, two = x[~second].mean(axis=0), x[second].mean(axis=0)
        second = x @ (two - one) > 0.5 * (two @ two - one @ one)
    if min(second.sum(), (~second).sum()) < max(2, RAREST * len(x)):
        return False
    apart, own = separation(x[~second], x[second])
    return apart >= APART and own >= SPLIT


def _draws(n: int, rng: np.random.Generator, repeats: int = 200) -> Floats:
    """Return (repeats, n): how often each occurrence is in each bootstrap sample."""
    return rng.multinomial(n, np.full(n, 1 / n), repeats).astype(np.float32)


def _batches(model: Model, rows: Sequence[int]) -> Iterator[list[int]]:
    """Group words so that a batch has about as many occurrences as are read at once."""
    batch: list[int] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += min(EACH, int(model.counts[row]))
        if size >= AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _summary(
    context: Context, found: Sequence[Measured], threshold: float
) -> list[tuple[str, Cell]]:
    """Count how much of the text needs context; the interval is that of the self-similarities."""
    model = context.model
    judged = [item for item in found if item.count >= FEWEST]
    large = len(model.vocab) > 1000
    content = [
        item
        for item in judged
        if is_content(model.vocab[item.row], float(context.frequency[item.row]) * large)
    ]
    lines: list[tuple[str, Cell]] = [("words", len(found))]
    for name in VERDICTS:
        lines.append((f"words_{name}", sum(verdict(item, threshold) == name for item in found)))
    lines.append(("text_judged", sum(item.count for item in judged) / max(1, model.tokens)))
    for label, items in (("text", judged), ("content_text", content)):
        total = max(1, sum(item.count for item in items))
        for suffix, bound in (("", "similarity"), ("_low", "high"), ("_high", "low")):
            needs = sum(
                item.count for item in items if item.senses > 1 or getattr(item, bound) < threshold
            )
            lines.append((f"{label}_needs_context{suffix}", needs / total))
    return lines
