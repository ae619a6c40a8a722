"""Which words need their context, and for which does one vector do?"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from ctxembed.context.columns import WORD
from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import AT_ONCE, sample
from ctxembed.context.representations import Representations, representations_of, vectors_at
from ctxembed.errors import CtxembedError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.function_words import MANY, is_content
from ctxembed.word_senses.assign import current_senses
from ctxembed.word_senses.cluster import cluster
from ctxembed.word_senses.sense_space import SenseSpace, make_space

FEWEST = 20  # occurrences below which nothing is said
MANY_WORDS = 20  # of which something can be said together
EACH = 300  # occurrences looked at for each word
VERDICTS = ("needs-context", "static-ok", "too-rare")
AMBIGUITY = (
    WORD,
    Column("count", "how often it occurs"),
    Column("senses", "how many senses it has, as `senses` finds them"),
    Column("score", "how far apart the two senses lie that two would be, 1 is what makes two"),
    Column(
        "self_similarity",
        "mean cosine of two of its occurrences, over that of random pairs of different words;"
        " low: used in many ways",
    ),
    Column("low", "lower end of its 95 % bootstrap interval"),
    Column("high", "upper end"),
    Column(
        "static_variance",
        "share of its contextual vectors that lies along the static vector",
        "aside",
    ),
    Column("verdict", "static-ok, needs-context or too-rare", "label"),
)
SUMMARY = (
    Column(
        "property",
        "with --summary: words, words_VERDICT; text_judged, a share of the running text;"
        " text_needs_context and content_text_needs_context, shares of what was judged",
        "label",
    ),
    Column("value", "with --summary: its value"),
)


@dataclass(frozen=True)
class Usage:
    """What the occurrences of one word say."""

    word: str
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
    known, forms, unknown = model.vocabulary.keep_known(words) if words else ([], [], [])
    rows = np.flatnonzero(model.counts >= max(min_count, FEWEST)).tolist()
    asked = list(dict.fromkeys(known)) if words else [model.vocabulary.words[row] for row in rows]
    if not asked:
        raise CtxembedError(f"no word occurs {min_count} times; give a lower --min-count")
    name = attention or representations.default()
    found = list(measure(representations, name, asked, seed, progress))
    found.sort(key=lambda item: _order(item, carries_content(representations, item.word)))
    space = make_space(representations, name)
    notes = [
        *forms,
        f"a word with more than one sense needs its context; self_similarity is over"
        f" {space.baseline:.3f}, that of random pairs of different words",
    ]
    judged = [item for item in found if item.senses]
    several = sum(item.senses > 1 for item in judged)
    if len(judged) >= MANY_WORDS and several > 0.4 * len(judged):
        notes.append(
            f"{several} of {len(judged)} words have more than one sense: where so many do, these"
            " are topics of a small or a mixed corpus more than meanings; senses WORD shows them"
        )
    if summary:
        return Table(SUMMARY, _summary(representations, found), notes, unknown)
    lines: list[tuple[Cell, ...]] = [
        (item.word, item.count, item.senses or None, *astuple(item)[3:], item.verdict)
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


def carries_content(representations: Representations, word: str) -> bool:
    """Tell whether a word carries content: a letter or a number does not."""
    row = representations.model.vocabulary.find(word)
    counted = row is not None and len(representations.model.vocabulary.words) > MANY
    share = float(representations.frequency[row]) if counted else 0.0
    return sum(map(str.isalpha, word)) > 1 and is_content(word, share)


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
    often = (model.vocabulary.words[row] for row in np.flatnonzero(model.counts >= least).tolist())
    words = [word for word in often if carries_content(representations, word)]
    found = measure(representations, attention, words, seed, progress)
    yield from (item.word for item in sorted(found, key=lambda item: _order(item, True)))


def measure(
    representations: Representations,
    attention: str,
    words: Sequence[str],
    seed: int,
    progress: Progress,
) -> Iterator[Usage]:
    """Read the occurrences of many words, a batch of words at a time; each word by itself."""
    model, space = representations.model, make_space(representations, attention)
    with progress.stage("measuring", len(words), "words") as stage:
        for batch in _batches(model, words):
            keys = [
                (seed, *model.vocabulary.parts(hits.asked)) for hits in batch
            ]  # a word by itself
            places = [
                sample(hits.places, EACH, np.random.default_rng(key))
                for hits, key in zip(batch, keys, strict=True)
            ]
            made = unit(vectors_at(model, space.way, np.concatenate(places), batch[0].size))
            ends = np.cumsum([len(some) for some in places])
            for hits, key, vectors in zip(batch, keys, np.split(made, ends[:-1]), strict=True):
                word, count = hits.asked, len(hits.places)
                if len(vectors) < FEWEST:
                    yield Usage(word, count)
                    continue
                static = unit(model.vector(word, space.way.inputs))
                kept = current_senses(model, word, attention)
                if kept is not None and (kept.facts.get("k") or "min_score" in kept.facts):
                    kept = None  # as many as somebody asked for
                yield describe(word, count, vectors, static, space, key, kept)
            stage.advance(len(batch))


def describe(
    word: str,
    count: int,
    vectors: Floats,
    static: Floats,
    space: SenseSpace,
    seed: int | Sequence[int],
    kept: SavedSenses | None = None,
) -> Usage:
    """Measure one word from the unit vectors (n, d) of its occurrences; its senses may be known."""
    n = len(vectors)
    cosines = vectors @ vectors.T  # (n, n)
    similarity = float((cosines.sum() - np.trace(cosines)) / (n * (n - 1)))
    # Pairs of the same occurrence, which a bootstrap sample has, say nothing: left out.
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), 200)
    weights = draws.astype(np.float32)  # (200, n)
    squares = weights * weights
    drawn = np.einsum("bn,bn->b", weights @ cosines, weights) - squares @ np.diag(cosines)
    low, high = np.quantile(drawn / (n * n - squares.sum(axis=1)), [0.025, 0.975])
    if kept is not None:
        senses, scores = kept.number, kept.facts["scores"]
    else:
        found = cluster(vectors, space, None)
        senses, scores = found.number, found.scores
    return Usage(
        word,
        count,
        senses,
        scores[0],
        similarity - space.baseline,
        float(low) - space.baseline,
        float(high) - space.baseline,
        float(((vectors @ static) ** 2).mean()),
    )


def _batches(model: Model, words: Sequence[str]) -> Iterator[list[Hits]]:
    """Find words; a batch has about as many occurrences as are read at once, of one size."""
    batch: list[Hits] = []
    number = 0
    for word in words:
        hits = find_hits(model, word)
        if batch and (number >= AT_ONCE or hits.size != batch[0].size):
            yield batch
            batch, number = [], 0
        batch.append(hits)
        number += min(EACH, len(hits.places))
    if batch:
        yield batch


def _summary(representations: Representations, found: Sequence[Usage]) -> list[tuple[str, Cell]]:
    """Count how much of the text needs context."""
    judged = [item for item in found if item.senses]
    lines: list[tuple[str, Cell]] = [("words", len(found))]
    for name in VERDICTS:
        lines.append((f"words_{name}", sum(item.verdict == name for item in found)))
    tokens = max(1, representations.model.tokens)
    lines.append(("text_judged", sum(item.count for item in judged) / tokens))
    some = [item for item in judged if carries_content(representations, item.word)]
    for label, items in (("text", judged), ("content_text", some)):
        needs = sum(item.count for item in items if item.senses > 1)
        lines.append((f"{label}_needs_context", needs / max(1, sum(item.count for item in items))))
    return lines
