"""Answer `ambiguity`: which words need their context, and which are served by one vector."""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np

from ctxembed.context.columns import WORD
from ctxembed.context.hits import find_hits
from ctxembed.context.occurrences import no_corpus
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.bundled import on_model, refuse_bundled
from ctxembed.model.model import Model
from ctxembed.model.saved_ambiguity import SavedAmbiguity, read_ambiguity, save_words
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import cores
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.processes import in_processes
from ctxembed.text.tokenizer import MANY, is_content
from ctxembed.word_senses.evidence import MIN_OCCURRENCES
from ctxembed.word_senses.sense_space import current_senses, make_space
from ctxembed.word_senses.sense_test import BAR, SenseTest, open_test

BLOCK = 32  # words that are read together
MANY_BLOCKS = 12  # that are worth other processes, which have to start
MIN_WORDS = 20  # for a note about all of them together
VERDICTS = ("needs-context", "unsure", "static-ok", "too-rare", "not-measured")
AMBIGUITY = (
    WORD, Column("count", "how often it occurs"),
    Column("senses", "how many senses it has, as `senses` finds them"),
    Column("probability", "that it has two senses or more"),
    Column("prob_low", "lower end of its 95 % interval"), Column("prob_high", "upper end"),
    Column("score", "how far apart the two senses lie that two would be; 1: as far as two words"
           " usually do", "aside"),
    Column("self_similarity", "mean cosine of two of its occurrences, over that of random pairs of"
           " different words; low: used in many ways", "aside"),
    Column("low", "lower end of its 95 % bootstrap interval", "aside"),
    Column("high", "upper end", "aside"),
    Column("neighbors", "mean cosine of its static vector with the 15 nearest words; low: between"
           " several meanings", "aside"),
    Column("static_variance", "share of its contextual vectors that lies along the static vector",
           "aside"),
    Column("verdict", "needs-context, static-ok, unsure (the interval covers 0.5), too-rare, or"
           " not-measured: a model without its corpus has saved no figures of the word", "label"),
)  # fmt: skip
SUMMARY = (
    Column("property", "with --summary: words, words_VERDICT; text_judged, a share of the running"
           " text; text_needs_context and content_text_needs_context, shares of what was judged",
           "label"),
    Column("value", "with --summary: its value"),
)  # fmt: skip
DOTS = Chart(
    "dots", ["probability"], label=["word"], series=["verdict"], low="prob_low", high="prob_high",
    title="probability of two senses or more",
)  # fmt: skip


@dataclass(frozen=True)
class Usage:
    """How differently one word is used in its occurrences."""

    word: str
    count: int | None  # None where nothing was saved
    senses: int = 0  # 0 where there are too few occurrences, or nothing was saved
    probability: float = np.nan  # of two senses or more
    prob_low: float = np.nan  # its 95 % interval
    prob_high: float = np.nan
    score: float = np.nan  # of two senses
    similarity: float = np.nan  # mean cosine of two occurrences, over that of different words
    low: float = np.nan  # 95 % of the bootstrap samples lie between these
    high: float = np.nan
    neighbors: float = np.nan  # mean cosine of the static vector with the nearest words
    explained: float = np.nan  # fraction of the vectors' squared length along the static vector

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        if not self.senses:
            return "not-measured" if self.count is None else "too-rare"
        several = self.senses > 1
        if self.prob_low <= BAR <= self.prob_high or several != (self.probability >= BAR):
            return "unsure"
        return "needs-context" if several else "static-ok"


@on_model(*AMBIGUITY, *SUMMARY)
def ambiguity(
    model: Model, words: str | Sequence[str] = (), *, min_count: int = 100,
    attention: str | None = None, number: int | None = None, summary: bool = False,
    save: bool = False, seed: int | None = None, progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return how ambiguous words are, or all frequent words; the most ambiguous first.

    save: keep the figures of these words in the model, for copies of it without the corpus.
    seed: has no effect; the same occurrences of a word are always drawn.
    """
    if save:
        refuse_bundled(model.path)
    representations = Representations.of(model)
    known, notes, unknown = model.vocabulary.keep_known(words) if words else ([], [], [])
    name = attention or representations.default()
    usages, interrupted = list[Usage](), False
    if model.index is None:
        usages, note = _look_up(
            model, name, list(dict.fromkeys(known)) if words else None, min_count
        )
        notes.append(note)
    else:
        measured = list(dict.fromkeys(known))
        if not words:
            frequent = max(min_count, MIN_OCCURRENCES)
            measured = model.vocabulary.spell(np.flatnonzero(model.counts >= frequent).tolist())
        if not measured:
            raise CtxembedError(f"no word occurs {min_count} times; give a lower --min-count")
        try:
            for usage in measure_usages(representations, name, measured, progress):
                usages.append(usage)
        except KeyboardInterrupt:
            if not usages:
                raise
            interrupted = True
            some = f"the {len(usages)}{'' if words else ' most frequent'} of {len(measured)} words"
            notes.append(f"interrupted: only {some} were measured")
        over = f"{make_space(representations, name).baseline:.3f}"
        notes.append(_explain(SenseTest.of(representations, name).calibration().words, over))
    if save:
        judged = {item.word: astuple(item)[1:] for item in usages if item.senses}
        notes.append(f"{len(judged)} saved in {save_words(model, name, judged)}")
    usages.sort(key=lambda item: _order(item, carries_content(representations, item.word)))
    judged_words = [item for item in usages if item.senses]
    several = sum(item.senses > 1 for item in judged_words)
    if len(judged_words) >= MIN_WORDS and several > 0.4 * len(judged_words):
        some = f"{several} of {len(judged_words)} words have more than one sense: where so many do,"
        topics = "these are topics of a small or a mixed corpus more than meanings"
        notes.append(f"{some} {topics}; senses WORD shows them")
    if seed is not None:
        notes.append("the seed has no effect: of a word the same occurrences are always drawn")
    if summary:
        table = Table(SUMMARY, _summary(representations, usages), notes, unknown)
        table.interrupted = interrupted
        return table
    rows = [
        (u.word, u.count, u.senses or None, *astuple(u)[3:], u.verdict) for u in usages[:number]
    ]
    table = Table(AMBIGUITY, rows, notes, unknown, DOTS)
    table.interrupted = interrupted
    return table


def _explain(calibrated: int, baseline: str) -> str:
    """Return a note on what the verdict and self_similarity are measured against."""
    bar = (
        f"the threshold between one sense and two is that of {calibrated} words and as many"
        " pseudowords of this corpus"
        if calibrated else "too little text for pseudowords: the threshold is a score of 1"
    )  # fmt: skip
    return f"{bar}; self_similarity is over {baseline}, that of random pairs of different words"


def _look_up(
    model: Model, attention: str, words: list[str] | None, min_count: int
) -> tuple[list[Usage], str]:
    """Return what a model without its corpus has saved of words, or of all, and a note."""
    saved = read_ambiguity(model)
    if not saved.words:
        raise ModelError(f"cannot measure ambiguity: {no_corpus(model)}")
    if attention != saved.attention:
        have = f"{model.path.name} has figures of {saved.attention} only"
        raise ModelError(f"{have}; leave --attention out, or index a corpus")
    listed = words or [word for word, figures in saved.words.items() if figures[0] >= min_count]
    usages = [_saved_usage(model, saved, word) for word in listed]
    note = "no corpus in the model: these figures were saved when it had one"
    if missing := sum(item.count is None for item in usages):
        words_have = "1 word has" if missing == 1 else f"{missing} words have"
        note += f"; {words_have} none. {no_corpus(model)}"
    return usages, note


def _saved_usage(model: Model, saved: SavedAmbiguity, word: str) -> Usage:
    """Return the saved figures of a word; its number of senses is that of its saved senses."""
    word = model.vocabulary.spelling(word)
    if word not in saved.words:
        return Usage(word, None)
    count, senses, *rest = saved.words[word]
    kept = current_senses(model, word, saved.attention)
    return Usage(word, int(count), kept.number if kept else int(senses), *rest)


def _order(item: Usage, is_content: bool) -> tuple[bool, bool, bool, float, float]:
    """Return the sort key: content words first, then several senses, then how probable."""
    figures = (-item.probability, -item.score) if item.senses else (0.0, 0.0)
    return not item.senses, not is_content, item.senses < 2, *figures


def carries_content(representations: Representations, word: str) -> bool:
    """Return whether a word carries content; a single letter or a number does not."""
    vocabulary = representations.model.vocabulary
    row = vocabulary.find(word)
    counted = row is not None and len(vocabulary.words) > MANY
    frequency = float(representations.frequency[row]) if counted else 0.0
    return sum(map(str.isalpha, word)) > 1 and is_content(word, frequency)


def ambiguous_words(
    representations: Representations, attention: str, progress: Progress,
    min_count: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """Yield the content words that may have several senses, the most ambiguous first."""
    model = representations.model
    min_count = min_count or min(200, max(MIN_OCCURRENCES, model.tokens // 10_000))
    frequent = model.vocabulary.spell(np.flatnonzero(model.counts >= min_count).tolist())
    words = [word for word in frequent if carries_content(representations, word)]
    usages = measure_usages(representations, attention, words, progress)
    yield from (item.word for item in sorted(usages, key=lambda item: _order(item, True)))


def measure_usages(
    representations: Representations, attention: str, words: Sequence[str], progress: Progress
) -> Iterator[Usage]:
    """Yield the usage of each word; what it is depends on no other word.

    Words are read in blocks; many blocks are divided among processes.
    """
    model, test = representations.model, SenseTest.of(representations, attention)
    calibration = test.calibration(progress)
    blocks = [words[first : first + BLOCK] for first in range(0, len(words), BLOCK)]
    workers, measure = 1, partial(_measure_block, test)
    if len(blocks) >= MANY_BLOCKS and model.whole is None:
        workers = min(cores(), len(blocks))
        measure = partial(_measure_in_process, pickle.dumps((model, attention, calibration)))
    with progress.stage("measuring", len(words), "words") as stage:
        for usages in in_processes(measure, blocks, workers):
            stage.advance(len(usages))
            yield from usages


def _measure_in_process(pickled: bytes, words: Sequence[str]) -> list[Usage]:
    return _measure_block(open_test(pickled), words)


def _measure_block(test: SenseTest, words: Sequence[str]) -> list[Usage]:
    """Return the usage of some words, which are read together."""
    all_hits = [find_hits(test.reader.representations.model, word) for word in words]
    usages = []
    for hits, evidence in zip(all_hits, test.reader.read(all_hits), strict=True):
        if evidence is None:
            usages.append(Usage(hits.query, len(hits.positions)))
            continue
        verdict = test.judge(evidence)
        usages.append(Usage(
            hits.query, len(hits.positions), verdict.senses, verdict.probability,
            verdict.low, verdict.high, evidence.separation.scores[0], evidence.similarity,
            evidence.low, evidence.high, evidence.neighbors, evidence.explained,
        ))  # fmt: skip
    return usages


def _summary(representations: Representations, usages: Sequence[Usage]) -> list[tuple[str, Cell]]:
    """Return how many words and how much of the text need context."""

    model = representations.model

    def count(item: Usage) -> int:
        """Return its occurrences; where figures were saved, those in the text of the model."""
        row = model.vocabulary.find(item.word)
        return item.count or 0 if row is None else int(model.counts[row])

    def total(items: Sequence[Usage]) -> int:
        return sum(map(count, items))

    def ambiguous(items: Sequence[Usage]) -> float:
        return total([item for item in items if item.senses > 1]) / max(1, total(items))

    verdicts = [item.verdict for item in usages]
    judged = [item for item in usages if item.senses]
    content = [item for item in judged if carries_content(representations, item.word)]
    return [
        ("words", len(usages)), *((f"words_{name}", verdicts.count(name)) for name in VERDICTS),
        ("text_judged", total(judged) / max(1, model.tokens)),
        ("text_needs_context", ambiguous(judged)),
        ("content_text_needs_context", ambiguous(content)),
    ]  # fmt: skip
