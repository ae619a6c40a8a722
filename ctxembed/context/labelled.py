"""A labelled task: a file of labels and sentences, read into what attention fits to."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms.distance import REACH
from ctxembed.attention.training.learning import Examples
from ctxembed.context.parse import Occurrence, parse
from ctxembed.context.representations import collapse
from ctxembed.errors import CorpusError, UnknownWordError
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.text.lines import HOW, labelled_lines

MOST = 50_000  # sentences that are kept; more are sampled
LABELS = 100
TOLD = 3  # lines that are named when they are left out
FEWEST = 5  # sentences of each label


@dataclass(frozen=True)
class Item:
    """One labelled target."""

    label: str
    occurrence: Occurrence
    expression: str  # as the file names it, or the words of the target
    test: bool = False  # set aside by the file itself
    gloss: str = ""


@dataclass(frozen=True)
class Task:
    """What a task file says."""

    items: list[Item]
    labels: list[str]
    lines: int  # that hold a sentence
    left_out: list[str]  # which other lines were left out, the first few, and why


def read_task(model: Model, name: str, seed: int = 1, most: int = MOST) -> Task:
    """Read a task file; of more than `most` sentences a random sample is kept."""
    rng = np.random.default_rng(seed)
    kept: list[Item] = []
    labels: set[str] = set()
    unknown: list[tuple[int, str]] = []
    lines = left_out = 0
    for number, row, marked in labelled_lines(name, model.vocabulary.tokenizer):
        label, sentence = row["label"], row["sentence"]
        lines += 1
        labels.add(label)
        if len(labels) > LABELS:
            raise CorpusError(
                f"{name}: line {number}: more than {LABELS} labels; is the first column the label?"
            )
        at = lines - 1 if lines <= most else int(rng.integers(lines))
        if at >= most:
            continue
        span = [marked.words[place] for place in marked.targets[0]]
        if all(model.vocabulary.find(word) is None for word in span):
            left_out, lines = left_out + 1, lines - 1
            unknown += [(number, model.vocabulary.unknown(span[0]))] if len(unknown) < TOLD else []
            continue
        (occurrence,) = parse(model, sentence).occurrences
        item = Item(
            label,
            clip(occurrence),
            row.get("expression") or " ".join(span),
            row.get("half", "").strip() == "test",
            row.get("gloss", ""),
        )
        if at < len(kept):
            kept[at] = item
        else:
            kept.append(item)
    if not kept and left_out:
        raise UnknownWordError(f"{name}: no target is known; line {unknown[0][0]}: {unknown[0][1]}")
    _check(name, Counter(item.label for item in kept if not item.test))
    told = [f"line {number}: left out: {reason}" for number, reason in unknown]
    if left_out > len(unknown):
        told.append(f"{left_out} lines are left out in all")
    return Task(kept, sorted({item.label for item in kept}), lines, told)


def _check(name: str, labels: Counter[str]) -> None:
    if not labels:
        raise CorpusError(f"{name}: no labelled sentence; {HOW}")
    if len(labels) == 1:
        raise CorpusError(
            f"{name}: only one label, {next(iter(labels))!r}; at least two are needed"
        )
    label, number = min(labels.items(), key=lambda pair: pair[1])
    if number < FEWEST:
        raise CorpusError(
            f"{name}: too few sentences labelled {label!r}: {number}; {FEWEST} of each are needed"
        )


def clip(item: Occurrence, reach: int = REACH) -> Occurrence:
    """Keep `reach` words to either side of a target."""
    first = max(0, item.target.start - reach)
    target = range(item.target.start - first, item.target.stop - first)
    return Occurrence(item.ids[first : item.target.stop + reach].copy(), target)


def as_examples(
    items: Sequence[Item], labels: Sequence[str], used: NDArray[np.int32], own: Floats
) -> Examples:
    """Lay sentences out as one array of rows of `used`, the sorted words of the task."""
    place = {label: row for row, label in enumerate(labels)}
    short = [collapse([item.occurrence])[0][0] for item in items]
    length = np.array([len(words) for words in short], np.intp)
    ids = np.zeros((len(items), int(length.max())), np.int32)
    for row, words in enumerate(short):
        ids[row, : len(words)] = np.searchsorted(used, words)
    target = np.array([item.occurrence.target.start for item in items], np.intp)
    label = np.array([place[item.label] for item in items], np.intp)
    return Examples(ids, length, target, own, label)
