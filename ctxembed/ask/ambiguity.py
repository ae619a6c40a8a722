"""Which words need their context, and for which does one vector do?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.ask.induce import RAREST, WIDE, SenseSpace, adjusted_rand, make_space
from ctxembed.context.occurrences import AT_ONCE, corpus_of, sample
from ctxembed.context.representations import Representations, representations_of, vectors_at
from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.function_words import is_content

FEWEST = 20  # occurrences below which nothing is said
EACH = 100  # occurrences looked at for each word
CLOSER = 1000  # and for each of the words that are asked about by name
AGREE = 0.5  # adjusted Rand index of two halves, from which a word has two senses
VERDICTS = ("needs-context", "static-ok", "too-rare")
AMBIGUITY = (
    Column("word", "the word", "label"),
    Column("count", "how often it occurs"),
    Column(
        "self_similarity",
        "mean cosine of two of its occurrences, over that of random pairs of different words;"
        " low: used in many ways",
    ),
    Column("low", "lower end of its 95 % bootstrap interval"),
    Column("high", "upper end"),
    Column("static_variance", "share of its contextual vectors that lies along the static vector"),
    Column("senses", "2 where its occurrences fall into two groups or more, else 1"),
    Column("verdict", "static-ok, needs-context or too-rare", "label"),
)
SUMMARY = (
    Column(
        "property",
        "with --summary: words, words_VERDICT, text_judged, text_needs_context,"
        " content_text_needs_context, and the ends of their intervals, _low and _high",
        "label",
    ),
    Column("value", "with --summary: its value"),
)


@dataclass(frozen=True)
class Usage:
    """What the occurrences of one word say."""

    row: int
    count: int
    similarity: float  # mean cosine of two occurrences, over that of different words
    low: float  # 95 % of the bootstrap samples lie between these
    high: float
    explained: float  # share of the vectors' squared length along the static vector
    senses: int


@on_model(*AMBIGUITY, *SUMMARY)
def ambiguity(
    model: Model,
    words: str | Sequence[str] = (),
    *,
    min_count: int = 100,
    attention: str | None = None,
    threshold: float | None = None,
    number: int | None = None,
    summary: bool = False,
    seed: int = 1,
    progress: Progress | None = None,
) -> Table:
    """Measure words, or all that occur often enough, those that need their context most first."""
    representations = representations_of(model)
    known, forms, unknown = model.keep_known(words) if words else ([], [], [])
    if words:
        rows = list(dict.fromkeys(model.row(word) for word in known))
    else:
        rows = np.flatnonzero(model.counts >= max(min_count, FEWEST)).tolist()
    if not rows:
        raise CtxembedError(f"no word occurs {min_count} times; give a lower --min-count")
    space = make_space(representations, attention or representations.default(), seed)
    if threshold is None:
        threshold = space.alike
    each = CLOSER if words else EACH
    found = list(measure(model, space, rows, seed, progress or Progress(), each))
    found.sort(key=lambda item: (np.isnan(item.similarity), item.similarity))
    notes = [
        *forms,
        f"self_similarity is over {space.baseline:.3f}, that of random pairs of different words;"
        f" below {threshold:.3g}, or with two senses, a word needs its context (--threshold)",
    ]
    if summary:
        return Table(SUMMARY, _summary(representations, found, threshold), notes, unknown)
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
        for item in found[:number]
    ]
    chart = Chart(
        "dots",
        ["self_similarity"],
        label=["word"],
        series=["verdict"],
        low="low",
        high="high",
        title="self-similarity: low, used in many ways",
    )
    return Table(AMBIGUITY, lines, notes, unknown, chart)


def ambiguous_words(
    representations: Representations, attention: str, seed: int, progress: Progress
) -> Iterator[str]:
    """Yield the content words that may have several senses, the most ambiguous first."""
    model = representations.model
    space = make_space(representations, attention, seed)
    large = len(model.vocab) > 1000
    often = np.flatnonzero(model.counts >= min(200, max(FEWEST, model.tokens // 10_000)))
    frequency = representations.frequency
    rows = [
        row for row in often.tolist() if is_content(model.vocab[row], float(frequency[row]) * large)
    ]
    found = list(measure(model, space, rows, seed, progress))
    found.sort(key=lambda item: (-item.senses, item.similarity))
    yield from (model.vocab[item.row] for item in found)


def verdict(item: Usage, threshold: float) -> str:
    """Say what a word needs."""
    if item.count < FEWEST:
        return "too-rare"
    return "needs-context" if item.similarity < threshold or item.senses > 1 else "static-ok"


def measure(
    model: Model,
    space: SenseSpace,
    rows: Sequence[int],
    seed: int,
    progress: Progress,
    each: int = EACH,
) -> Iterator[Usage]:
    """Read the occurrences of many words, a batch of words at a time."""
    index, rng = corpus_of(model), np.random.default_rng(seed)
    weights = {each: _draws(each, rng)}
    with progress.stage("measuring", len(rows), "words") as stage:
        for batch in _batches(model, rows, each):
            places = [sample(index.positions(row), each, rng) for row in batch]
            made = unit(vectors_at(model, space.way, np.concatenate(places)))
            ends = np.cumsum([len(some) for some in places])
            for row, vectors in zip(batch, np.split(made, ends[:-1]), strict=True):
                n = len(vectors)
                if n < FEWEST:
                    gap = float("nan")
                    yield Usage(row, int(model.counts[row]), gap, gap, gap, gap, 0)
                    continue
                if n not in weights:
                    weights[n] = _draws(n, rng)
                static = unit(space.way.inputs[row])
                yield describe(row, int(model.counts[row]), vectors, static, space, weights[n])
            stage.advance(len(batch))


def describe(
    row: int, count: int, vectors: Floats, static: Floats, space: SenseSpace, draws: Floats
) -> Usage:
    """Measure one word from the unit vectors (n, d) of its occurrences."""
    cosines = vectors @ vectors.T  # (n, n)
    n = len(vectors)
    similarity = float((cosines.sum() - np.trace(cosines)) / (n * (n - 1)))
    # Pairs of the same occurrence, which a bootstrap sample has, say nothing: left out.
    same = (draws * draws).sum(axis=1)
    drawn = np.einsum("bn,bn->b", draws @ cosines, draws) - (draws * draws) @ np.diag(cosines)
    low, high = np.quantile(drawn / (n * n - same), [0.025, 0.975])
    placed = vectors.astype(np.float64) @ space.matrix
    return Usage(
        row,
        count,
        similarity - space.baseline,
        float(low) - space.baseline,
        float(high) - space.baseline,
        float(((vectors @ static) ** 2).mean()),
        2 if space.width(placed) >= WIDE and falls_apart(placed) else 1,
    )


def falls_apart(placed: Floats) -> bool:
    """Tell whether occurrences (n, d) fall into two groups, at the price of a few products.

    Two random halves are each cut in two; both cuts must put all occurrences into about the same
    two groups, and so must two other halves: the criterion of `senses` with fewer repeats.
    """
    rng = np.random.default_rng(len(placed))
    for _ in range(2):
        halves = np.array_split(rng.permutation(len(placed)), 2)
        cuts = (cut(placed[half]) for half in halves)
        one, other = ((placed @ line > edge).astype(np.intp) for line, edge in cuts)
        fewest = np.bincount(one, minlength=2).min()
        if fewest < max(2, RAREST * len(placed)) or adjusted_rand(one, other) < AGREE:
            return False
    return True


def cut(x: Floats) -> tuple[Floats, float]:
    """Cut occurrences (n, d) in two: the groups lie on the two sides of x @ line = edge.

    The direction of greatest variance by power iteration, cut where two groups are tightest, then
    three rounds of 2-means.

    >>> x = np.array([[0.0, 0], [8, 1], [8, 0], [0, 1]])
    >>> line, edge = cut(x)
    >>> sides = x @ line > edge
    >>> bool(sides[0] == sides[3] != sides[1] == sides[2])
    True
    """
    middle = x.mean(axis=0)
    x = x - middle
    line = x[np.argmax((x * x).sum(axis=1))]
    for _ in range(6):
        line = x.T @ (x @ line)
        line /= np.sqrt(line @ line) or 1.0
    along = x @ line
    ordered = np.sort(along)
    n = np.arange(1, len(along))
    head = np.cumsum(ordered)[:-1]
    between = head**2 / n + (ordered.sum() - head) ** 2 / (len(along) - n)
    second, edge = along > ordered[int(between.argmax())], 0.0
    for _ in range(3):
        if not 0 < second.sum() < len(x):
            break
        one, two = x[~second].mean(axis=0), x[second].mean(axis=0)
        line, edge = two - one, 0.5 * float(two @ two - one @ one)
        second = x @ line > edge
    return line, edge + float(middle @ line)


def _draws(n: int, rng: np.random.Generator, repeats: int = 200) -> Floats:
    """Return (repeats, n): how often each occurrence is in each bootstrap sample."""
    return rng.multinomial(n, np.full(n, 1 / n), repeats).astype(np.float32)


def _batches(model: Model, rows: Sequence[int], each: int) -> Iterator[list[int]]:
    """Group words so that a batch has about as many occurrences as are read at once."""
    batch: list[int] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += min(each, int(model.counts[row]))
        if size >= AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _summary(
    representations: Representations, found: Sequence[Usage], threshold: float
) -> list[tuple[str, Cell]]:
    """Count how much of the text needs context; the interval is that of the self-similarities."""
    model = representations.model
    judged = [item for item in found if item.count >= FEWEST]
    large = len(model.vocab) > 1000
    content = [
        item
        for item in judged
        if is_content(model.vocab[item.row], float(representations.frequency[item.row]) * large)
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
