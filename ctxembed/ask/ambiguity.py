"""Which words need their context, and for which does one vector do?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.ask.columns import WORD
from ctxembed.ask.find_senses import current_senses
from ctxembed.ask.induce import cluster
from ctxembed.ask.sense_space import SenseSpace, make_space
from ctxembed.context.occurrences import AT_ONCE, corpus_of, sample
from ctxembed.context.representations import Representations, representations_of, vectors_at
from ctxembed.errors import CtxembedError
from ctxembed.progress import SILENT, Progress
from ctxembed.static.space import Floats, unit
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.function_words import is_content

FEWEST = 20  # occurrences below which nothing is said
EACH = 300  # occurrences looked at for each word
VERDICTS = ("needs-context", "static-ok", "too-rare")
AMBIGUITY = (
    WORD,
    Column("count", "how often it occurs"),
    Column("senses", "how many senses it has, as `senses` finds them"),
    Column(
        "score",
        "how far apart the two senses lie that two would be, 1 is what makes two",
    ),
    Column(
        "self_similarity",
        "mean cosine of two of its occurrences, over that of random pairs of different words;"
        " low: used in many ways",
    ),
    Column("low", "lower end of its 95 % bootstrap interval"),
    Column("high", "upper end"),
    Column("static_variance", "share of its contextual vectors that lies along the static vector"),
    Column("verdict", "static-ok, needs-context or too-rare", "label"),
)
SUMMARY = (
    Column(
        "property",
        "with --summary: words, words_VERDICT, text_judged, text_needs_context and"
        " content_text_needs_context, shares of the running text",
        "label",
    ),
    Column("value", "with --summary: its value"),
)


@dataclass(frozen=True)
class Usage:
    """What the occurrences of one word say."""

    row: int
    count: int
    senses: int = 0  # 0 where there are too few occurrences
    score: float = np.nan  # of two senses
    similarity: float = np.nan  # mean cosine of two occurrences, over that of different words
    low: float = np.nan  # 95 % of the bootstrap samples lie between these
    high: float = np.nan
    explained: float = np.nan  # share of the vectors' squared length along the static vector

    @property
    def verdict(self) -> str:
        """What the word needs."""
        if not self.senses:
            return "too-rare"
        return "needs-context" if self.senses > 1 else "static-ok"


@on_model(*AMBIGUITY, *SUMMARY)
def ambiguity(
    model: Model,
    words: str | Sequence[str] = (),
    *,
    min_count: int = 100,
    attention: str | None = None,
    number: int | None = None,
    summary: bool = False,
    seed: int = 1,
    progress: Progress = SILENT,
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
    name = attention or representations.default()
    found = list(measure(representations, name, rows, seed, progress))
    carries = content(representations)
    found.sort(key=lambda item: _order(item, carries(item.row)))
    space = make_space(representations, name)
    notes = [
        *forms,
        f"a word with more than one sense needs its context; self_similarity is over"
        f" {space.baseline:.3f}, that of random pairs of different words",
    ]
    if summary:
        return Table(SUMMARY, _summary(representations, found), notes, unknown)
    lines: list[tuple[Cell, ...]] = [
        (
            model.vocab[item.row],
            item.count,
            item.senses or None,
            item.score,
            item.similarity,
            item.low,
            item.high,
            item.explained,
            item.verdict,
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


def _order(item: Usage, is_content: bool) -> tuple[bool, bool, bool, float]:
    """Content words first; among them those of several senses, the clearest first."""
    score = -item.score if item.senses else 0.0
    return not item.senses, not is_content, item.senses < 2, score


class content:
    """Which words of a model carry content, by row."""

    def __init__(self, representations: Representations) -> None:
        self.vocab = representations.model.vocab
        self.frequency = representations.frequency
        self.large = len(self.vocab) > 1000  # in a small corpus a frequent word may be any word

    def __call__(self, row: int) -> bool:
        """Tell whether a word carries content: a letter or a number does not."""
        word = self.vocab[row]
        letters = sum(map(str.isalpha, word)) > 1
        return letters and is_content(word, float(self.frequency[row]) * self.large)


def ambiguous_words(
    representations: Representations,
    attention: str,
    seed: int,
    progress: Progress,
    min_count: int | None = None,
) -> Iterator[str]:
    """Yield the content words that may have several senses, the most ambiguous first."""
    model = representations.model
    least = min_count or min(200, max(FEWEST, model.tokens // 10_000))
    carries = content(representations)
    rows = [row for row in np.flatnonzero(model.counts >= least).tolist() if carries(row)]
    found = list(measure(representations, attention, rows, seed, progress))
    found.sort(key=lambda item: _order(item, True))
    yield from (model.vocab[item.row] for item in found)


def measure(
    representations: Representations,
    attention: str,
    rows: Sequence[int],
    seed: int,
    progress: Progress,
) -> Iterator[Usage]:
    """Read the occurrences of many words, a batch of words at a time; each word by itself."""
    model, space = representations.model, make_space(representations, attention)
    index = corpus_of(model)
    with progress.stage("measuring", len(rows), "words") as stage:
        for batch in _batches(model, rows):
            places = [
                sample(index.positions(row), EACH, np.random.default_rng((seed, row)))
                for row in batch
            ]
            made = unit(vectors_at(model, space.way, np.concatenate(places)))
            ends = np.cumsum([len(some) for some in places])
            for row, vectors in zip(batch, np.split(made, ends[:-1]), strict=True):
                count = int(model.counts[row])
                if len(vectors) < FEWEST:
                    yield Usage(row, count)
                    continue
                static = unit(space.way.inputs[row])
                kept = current_senses(model, model.vocab[row], attention)
                senses = kept.number if kept and kept.facts.get("k") is None else None
                yield describe(row, count, vectors, static, space, seed, senses)
            stage.advance(len(batch))


def describe(
    row: int,
    count: int,
    vectors: Floats,
    static: Floats,
    space: SenseSpace,
    seed: int,
    senses: int | None = None,
) -> Usage:
    """Measure one word from the unit vectors (n, d) of its occurrences."""
    n = len(vectors)
    cosines = vectors @ vectors.T  # (n, n)
    similarity = float((cosines.sum() - np.trace(cosines)) / (n * (n - 1)))
    # Pairs of the same occurrence, which a bootstrap sample has, say nothing: left out.
    draws = np.random.default_rng((seed, row)).multinomial(n, np.full(n, 1 / n), 200)
    weights = draws.astype(np.float32)  # (200, n)
    squares = weights * weights
    drawn = np.einsum("bn,bn->b", weights @ cosines, weights) - squares @ np.diag(cosines)
    low, high = np.quantile(drawn / (n * n - squares.sum(axis=1)), [0.025, 0.975])
    found = cluster(vectors, space, None)
    return Usage(
        row,
        count,
        senses or found.number,
        found.scores[0],
        similarity - space.baseline,
        float(low) - space.baseline,
        float(high) - space.baseline,
        float(((vectors @ static) ** 2).mean()),
    )


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


def _summary(representations: Representations, found: Sequence[Usage]) -> list[tuple[str, Cell]]:
    """Count how much of the text needs context."""
    carries = content(representations)
    judged = [item for item in found if item.senses]
    lines: list[tuple[str, Cell]] = [("words", len(found))]
    for name in VERDICTS:
        lines.append((f"words_{name}", sum(item.verdict == name for item in found)))
    tokens = max(1, representations.model.tokens)
    lines.append(("text_judged", sum(item.count for item in judged) / tokens))
    some = [item for item in judged if carries(item.row)]
    for label, items in (("text", judged), ("content_text", some)):
        needs = sum(item.count for item in items if item.senses > 1)
        lines.append((f"{label}_needs_context", needs / max(1, sum(item.count for item in items))))
    return lines
