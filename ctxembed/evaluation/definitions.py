"""Choosing definitions: all-words disambiguation, as Raganato et al. 2017 score it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.representation import ModelRepresentation
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.calibration import Calibration
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import Reader
from ctxembed.evaluation.labelled_text import Item, read_items
from ctxembed.progress import Progress
from ctxembed.queries.define import open_definitions
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.definitions import (
    WITHOUT_EXAMPLES,
    Choice,
    Definitions,
    count_senses,
    log_frequencies,
    mean_direction,
)
from ctxembed.word_senses.dictionary import PARTS, Sense
from ctxembed.word_senses.labelled import centre

COMMAND = "define"  # the choice of the command of this name
BATCH_SIZE = 2000  # senses
WORD = "f1_word"  # of the command, without lemma and part of speech


@dataclass(frozen=True)
class Answers:
    """Which items one representation answers right."""

    right: NDArray[np.bool_]  # (n,)
    answered: NDArray[np.bool_]  # (n,)
    missing: int = 0  # targets without a vector


@dataclass(frozen=True)
class Task:
    """Labelled targets, and the senses that each may have."""

    chosen: Definitions
    items: Sequence[Item]
    candidates: Sequence[Sequence[Sense]]

    def judge(self, senses: Iterable[Sense | None], missing: int = 0) -> Answers:
        """Return whether the sense chosen for each item is right; None is no answer."""
        pairs = [(item.gold, sense) for item, sense in zip(self.items, senses, strict=True)]
        right = [sense is not None and sense.key in gold for gold, sense in pairs]
        return Answers(np.array(right), np.array([s is not None for _, s in pairs]), missing)

    def choose(self, scores: Iterable[Floats], missing: int = 0) -> Answers:
        """Return the answers with the highest of each item's scores (k,)."""
        pairs = zip(self.candidates, scores, strict=True)
        return self.judge((own[int(s.argmax())] if own else None for own, s in pairs), missing)

    def baselines(self, rng: np.random.Generator) -> dict[str, Answers]:
        """Return the answers of chance, of the order of senses and of their counts."""
        counts = [count_senses(own) for own in self.candidates]
        return {
            "random": self.choose(rng.random(len(own)) for own in self.candidates),
            "first sense": self.choose(-np.arange(len(own)) for own in self.candidates),
            "most frequent": self.choose(counts),
        }

    def by_text(
        self, representation: ModelRepresentation, senses: Sequence[Sense]
    ) -> tuple[Answers, Answers]:
        """Return the answers of one representation with the prior, and by the texts alone.

        The formula of the command without labelled examples: one representation takes the place
        of both attention and bag.
        """
        vectors = self.chosen._sense_vectors(senses)[:, 0].copy()  # (K, 3, d)
        occurrences, of = self.chosen._occurrences(senses)
        own = np.zeros_like(vectors[:, 0])  # the word in the texts of each sense
        np.add.at(own, of, unit(np.nan_to_num(representation.vectors(occurrences))))
        targets = representation.vectors([item.occurrence for item in self.items])
        mean = mean_direction(np.concatenate([own, targets]))
        vectors[:, 0], targets = centre(own, mean), centre(targets, mean)
        rows = {sense.key: row for row, sense in enumerate(senses)}
        text, total = [], []
        for candidates, target in zip(self.candidates, targets, strict=True):
            weights = np.array([WITHOUT_EXAMPLES[sense.part] for sense in candidates])
            weights = weights.reshape(-1, len(WITHOUT_EXAMPLES["n"]))
            cosines = vectors[[rows[sense.key] for sense in candidates]].reshape(-1, 3, len(mean))
            scores = (cosines @ target * (weights[:, :3] + weights[:, 3:6])).sum(axis=1)
            text.append(scores)
            frequencies = log_frequencies(candidates, count_senses(candidates))
            total.append(scores + (frequencies * weights[:, 7:9]).sum(axis=1))
        missing = int((np.abs(targets).sum(axis=1) == 0).sum())
        return self.choose(total, missing), self.choose(text, missing)


def definitions(
    reader: Reader, files: Sequence[str], dictionaries: Sequence[str], seed: int, progress: Progress
) -> tuple[list[Scores], list[Calibration], list[str]]:
    """Return the F1 of each set and part of speech, how far `sure` is right, and notes."""
    chosen = open_definitions(reader.model, dictionaries)
    items = list(read_items(reader, files, chosen))
    if not items:
        raise CorpusError(f"{files[0]}: no labelled target")
    # The labels are WordNet's: senses of today would only be wrong.
    candidates = [_candidates(chosen, item, wordnet=not dictionaries) for item in items]
    answers, sure = _answer(Task(chosen, items, candidates), seed, progress)
    own, sets, calibrations = answers[COMMAND, "f1"], [], []
    for label, part, some in _subsets(items):
        rng = np.random.default_rng(seed)
        number = int(some.sum())
        scores, weights = Scores(label, number), metrics.resample(number, rng)
        for (name, metric), answer in answers.items():
            if metric == "f1" or not part:
                figure = f1(answer.right[some], answer.answered[some], weights)
                scores.add(name, {metric: figure}, answer.missing if some.all() else 0)
        sets.append(scores)
        if not part:
            known = some & own.answered
            calibrations.append(Calibration.measure(label, sure[known], own.right[known], rng))
    notes = [f"{one.name}: expected calibration error {one.error:.3f}" for one in calibrations]
    if absent := sum(not senses for senses in candidates):
        notes.append(f"{absent} targets have no entry in the dictionary; they are not answered")
    return sets, calibrations, notes


def f1(
    right: NDArray[np.bool_], answered: NDArray[np.bool_], weights: metrics.Weights
) -> metrics.Figure:
    """Return the F1 of precision, among the answers, and recall, among all items.

    >>> right, answered = np.array([True, False, False]), np.array([True, True, False])
    >>> f1(right, answered, np.ones((1, 3), np.float32)).value  # 2 · 1 / (2 + 3)
    0.4
    """
    drawn = np.concatenate([np.ones((1, len(right)), np.float32), weights])
    hits, given = drawn @ right.astype(np.float32), drawn @ answered.astype(np.float32)
    values = 2 * hits.astype(float) / (given + len(right))
    return metrics.Figure(float(values[0]), values[1:], biased=False)


def _subsets(items: Sequence[Item]) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield name, part of speech and items of each set, of all, and of the parts of speech."""
    names = [item.name for item in items]
    last, distinct = names[0], list(dict.fromkeys(names))
    if len(distinct) > 1:
        for name in distinct:
            yield name, "", np.array([own == name for own in names])
        last = "ALL"
    yield last, "", np.ones(len(items), np.bool_)
    for part, label in PARTS.items():
        some = np.array([item.part == part for item in items])
        if some.any() and not some.all():
            yield f"{last}, {label}s", part, some


def _candidates(chosen: Definitions, item: Item, wordnet: bool) -> list[Sense]:
    """Return the senses to rank: of lemma and part of speech alone, where they are given."""
    senses = chosen.senses(item.lemma, item.part or None)
    if item.part:  # and no lemma of which this one may be a form
        senses = [sense for sense in senses if sense.lemma == item.lemma]
    return [sense for sense in senses if sense.synset >= 0 or not wordnet]


def _answer(
    task: Task, seed: int, progress: Progress
) -> tuple[dict[tuple[str, str], Answers], Floats]:
    """Return the answers by representation and metric, and how sure (n,) the command is."""
    chosen, occurrences = task.chosen, [item.occurrence for item in task.items]
    senses = list({sense.key: sense for own in task.candidates for sense in own}.values())
    with progress.stage("definitions", len(senses), "senses") as stage:
        for first in range(0, len(senses), BATCH_SIZE):
            stage.advance(len(chosen._sense_vectors(senses[first : first + BATCH_SIZE])))
    baselines = task.baselines(np.random.default_rng([seed, 1]))
    answers = {(name, "f1"): answer for name, answer in baselines.items()}
    for name in chosen.representations.names():
        both = task.by_text(chosen.representations.get(name), senses) if senses else ()
        answers |= {(name, key): own for key, own in zip(("f1", "f1_text"), both, strict=False)}
    missing = sum(not item.target for item in occurrences)
    ranked = _rank_candidates(task)
    by_text = [sorted(choices, key=lambda choice: -(choice.text or 0.0)) for choices in ranked]
    answers[COMMAND, "f1"] = task.judge(map(_best, ranked), missing)
    answers[COMMAND, "f1_text"] = task.judge(map(_best, by_text), missing)
    if any(item.part for item in task.items):
        answers[COMMAND, WORD] = task.judge(map(_best, chosen.rank(occurrences)), missing)
    return answers, np.array([choices[0].sure if choices else 0.0 for choices in ranked])


def _rank_candidates(task: Task) -> list[list[Choice]]:
    """Return the candidates of each item as the command ranks them, given lemma and part."""
    ranked: list[list[Choice]] = [[] for _ in task.items]
    for part in dict.fromkeys(item.part for item in task.items):
        rows = [row for row, item in enumerate(task.items) if item.part == part]
        occurrences = [task.items[row].by_lemma() for row in rows]
        for row, choices in zip(rows, task.chosen.rank(occurrences, part or None), strict=True):
            keys = {sense.key for sense in task.candidates[row]}
            kept = [choice for choice in choices if choice.sense.key in keys]
            total = sum(choice.sure for choice in kept) or 1.0
            ranked[row] = [choice._replace(sure=choice.sure / total) for choice in kept]
    return ranked


def _best(choices: Sequence[Choice]) -> Sense | None:
    return choices[0].sense if choices else None
