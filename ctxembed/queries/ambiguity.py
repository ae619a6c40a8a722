"""Answer `ambiguity`: which words need their context, and which are served by one vector."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from ctxembed.context.columns import WORD
from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import CHUNK_SIZE, sample_positions
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.tokenizer import MANY, is_content
from ctxembed.word_senses.cluster import cluster
from ctxembed.word_senses.sense_space import SenseSpace, current_senses, make_space

MIN_OCCURRENCES = 20  # a word with fewer is too rare
MIN_WORDS = 20  # for a note about all of them together
OCCURRENCES_PER_WORD = 300  # at most, read of each word
VERDICTS = ("needs-context", "static-ok", "too-rare")
AMBIGUITY = (
    WORD, Column("count", "how often it occurs"),
    Column("senses", "how many senses it has, as `senses` finds them"),
    Column("score", "how far apart the two senses lie that two would be, 1 is what makes two"),
    Column("self_similarity", "mean cosine of two of its occurrences, over that of random pairs of"
           " different words; low: used in many ways"),
    Column("low", "lower end of its 95 % bootstrap interval"), Column("high", "upper end"),
    Column("static_variance", "share of its contextual vectors that lies along the static vector",
           "aside"),
    Column("verdict", "static-ok, needs-context or too-rare", "label"),
)  # fmt: skip
SUMMARY = (
    Column("property", "with --summary: words, words_VERDICT; text_judged, a share of the running"
           " text; text_needs_context and content_text_needs_context, shares of what was judged",
           "label"),
    Column("value", "with --summary: its value"),
)  # fmt: skip
DOTS = Chart(
    "dots", ["self_similarity"], label=["word"], series=["verdict"], low="low", high="high",
    title="self-similarity: low, used in many ways",
)  # fmt: skip


@dataclass(frozen=True)
class Usage:
    """How differently one word is used in its occurrences."""

    word: str
    count: int
    senses: int = 0  # 0 where there are too few occurrences
    score: float = np.nan  # of two senses
    similarity: float = np.nan  # mean cosine of two occurrences, over that of different words
    low: float = np.nan  # 95 % of the bootstrap samples lie between these
    high: float = np.nan
    explained: float = np.nan  # fraction of the vectors' squared length along the static vector

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if not self.senses:
            return "too-rare"
        return "needs-context" if self.senses > 1 else "static-ok"


@on_model(*AMBIGUITY, *SUMMARY)
def ambiguity(
    model: Model, words: str | Sequence[str] = (), *, min_count: int = 100,
    attention: str | None = None, number: int | None = None, summary: bool = False, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return how ambiguous words are, or all frequent words; the most ambiguous first."""
    representations = Representations.of(model)
    known, notes, unknown = model.vocabulary.keep_known(words) if words else ([], [], [])
    measured = list(dict.fromkeys(known))
    if not words:
        frequent = max(min_count, MIN_OCCURRENCES)
        measured = model.vocabulary.spell(np.flatnonzero(model.counts >= frequent).tolist())
    if not measured:
        raise CtxembedError(f"no word occurs {min_count} times; give a lower --min-count")
    name = attention or representations.default()
    usages = list(measure_usages(representations, name, measured, seed, progress))
    usages.sort(key=lambda item: _order(item, carries_content(representations, item.word)))
    space = make_space(representations, name)
    over = f"{space.baseline:.3f}, that of random pairs of different words"
    needs = "a word with more than one sense needs its context"
    notes = [*notes, f"{needs}; self_similarity is over {over}"]
    judged = [item for item in usages if item.senses]
    several = sum(item.senses > 1 for item in judged)
    if len(judged) >= MIN_WORDS and several > 0.4 * len(judged):
        some = f"{several} of {len(judged)} words have more than one sense: where so many do, these"
        topics = "are topics of a small or a mixed corpus more than meanings"
        notes.append(f"{some} {topics}; senses WORD shows them")
    if summary:
        return Table(SUMMARY, _summary(representations, usages), notes, unknown)
    shown = usages[:number]
    rows = [(u.word, u.count, u.senses or None, *astuple(u)[3:], u.verdict) for u in shown]
    return Table(AMBIGUITY, rows, notes, unknown, DOTS)


def _order(item: Usage, is_content: bool) -> tuple[bool, bool, bool, float]:
    """Return the sort key: content words first, then several senses, then the largest score."""
    score = -item.score if item.senses else 0.0
    return not item.senses, not is_content, item.senses < 2, score


def carries_content(representations: Representations, word: str) -> bool:
    """Return whether a word carries content; a single letter or a number does not."""
    vocabulary = representations.model.vocabulary
    row = vocabulary.find(word)
    counted = row is not None and len(vocabulary.words) > MANY
    frequency = float(representations.frequency[row]) if counted else 0.0
    return sum(map(str.isalpha, word)) > 1 and is_content(word, frequency)


def ambiguous_words(
    representations: Representations, attention: str, seed: int, progress: Progress,
    min_count: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """Yield the content words that may have several senses, the most ambiguous first."""
    model = representations.model
    min_count = min_count or min(200, max(MIN_OCCURRENCES, model.tokens // 10_000))
    frequent = model.vocabulary.spell(np.flatnonzero(model.counts >= min_count).tolist())
    words = [word for word in frequent if carries_content(representations, word)]
    usages = measure_usages(representations, attention, words, seed, progress)
    yield from (item.word for item in sorted(usages, key=lambda item: _order(item, True)))


def measure_usages(
    representations: Representations, attention: str, words: Sequence[str], seed: int,
    progress: Progress,
) -> Iterator[Usage]:  # fmt: skip
    """Yield the usage of each word; occurrences are read a batch of words at a time."""
    model, space = representations.model, make_space(representations, attention)
    with progress.stage("measuring", len(words), "words") as stage:
        for batch in _batches(model, words):
            # The draw for a word depends on that word only, not on the others in its batch.
            keys = [(seed, *model.vocabulary.parts(hits.query)) for hits in batch]
            pairs = zip(batch, map(np.random.default_rng, keys), strict=True)
            positions = [
                sample_positions(hits.positions, OCCURRENCES_PER_WORD, rng) for hits, rng in pairs
            ]
            joined = np.concatenate(positions)
            every = unit(vectors_at(model, space.representation, joined, batch[0].size))
            parts = np.split(every, np.cumsum([len(some) for some in positions])[:-1])
            for hits, key, vectors in zip(batch, keys, parts, strict=True):
                word, count = hits.query, len(hits.positions)
                if len(vectors) < MIN_OCCURRENCES:
                    yield Usage(word, count)
                    continue
                static = unit(model.vector(word, space.representation.inputs))
                saved = current_senses(model, word, attention)
                if saved is not None and (saved.facts.get("k") or "min_score" in saved.facts):
                    saved = None  # their number was set by an option
                yield measure_usage(word, count, vectors, static, space, key, saved)
            stage.advance(len(batch))


def measure_usage(
    word: str, count: int, vectors: Floats, static: Floats, space: SenseSpace,
    seed: int | Sequence[int], saved: SavedSenses | None = None,
) -> Usage:  # fmt: skip
    """Return the usage of a word from unit vectors: its occurrences' (n, d), its static (d,)."""
    n = len(vectors)
    cosines = vectors @ vectors.T  # (n, n)
    similarity = float((cosines.sum() - np.trace(cosines)) / (n * (n - 1)))
    # A bootstrap sample has pairs of the same occurrence; these are left out.
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), 200)  # (200, n)
    weights, squares = draws.astype(np.float32), draws.astype(np.float32) ** 2
    drawn = np.einsum("bn,bn->b", weights @ cosines, weights) - squares @ np.diag(cosines)
    low, high = np.quantile(drawn / (n * n - squares.sum(axis=1)), [0.025, 0.975]).tolist()
    if saved is not None:
        senses, scores = saved.number, saved.facts["scores"]
    else:
        clustering = cluster(vectors, space, None)
        senses, scores = clustering.number, clustering.scores
    similarity, low, high = (value - space.baseline for value in (similarity, low, high))
    explained = float(((vectors @ static) ** 2).mean())
    return Usage(word, count, senses, scores[0], similarity, low, high, explained)


def _batches(model: Model, words: Sequence[str]) -> Iterator[list[Hits]]:
    """Yield the occurrences of words in batches; words in one batch have one length."""
    batch: list[Hits] = []
    number = 0
    for word in words:
        hits = find_hits(model, word)
        if batch and (number >= CHUNK_SIZE or hits.size != batch[0].size):
            yield batch
            batch, number = [], 0
        batch.append(hits)
        number += min(OCCURRENCES_PER_WORD, len(hits.positions))
    if batch:
        yield batch


def _summary(representations: Representations, usages: Sequence[Usage]) -> list[tuple[str, Cell]]:
    """Return how many words and how much of the text need context."""

    def total(items: Sequence[Usage]) -> int:
        return sum(item.count for item in items)

    def ambiguous(items: Sequence[Usage]) -> float:
        return total([item for item in items if item.senses > 1]) / max(1, total(items))

    verdicts = [item.verdict for item in usages]
    judged = [item for item in usages if item.senses]
    content = [item for item in judged if carries_content(representations, item.word)]
    return [
        ("words", len(usages)), *((f"words_{name}", verdicts.count(name)) for name in VERDICTS),
        ("text_judged", total(judged) / max(1, representations.model.tokens)),
        ("text_needs_context", ambiguous(judged)),
        ("content_text_needs_context", ambiguous(content)),
    ]  # fmt: skip
