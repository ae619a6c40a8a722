"""Labelled tasks: read a file of labels and sentences, and lay it out for training."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms import REACH
from ctxembed.attention.training.learning import Examples
from ctxembed.context.parse import Occurrence, collapse, parse
from ctxembed.errors import CorpusError, UnknownWordError
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.text.lines import LABELLED_FORMAT, UTF8, Decoding, labelled_lines

MAX_SENTENCES = 50_000  # kept; of more, a sample
MAX_LABELS = 100
MAX_NAMED = 3  # lines left out that are listed with their reasons
MIN_PER_LABEL = 5  # sentences


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
    """The content of a task file."""

    items: list[Item]
    labels: list[str]
    lines: int  # that hold a sentence
    left_out: list[str]  # messages on the lines left out, the first few with the reason


def read_task(
    model: Model, name: str, seed: int = 1, most: int = MAX_SENTENCES, decoding: Decoding = UTF8
) -> Task:
    """Return the task in a file; of more than `most` sentences a random sample is kept."""
    rng = np.random.default_rng(seed)
    kept: list[Item] = []
    labels: set[str] = set()
    unknown: list[tuple[int, str]] = []
    lines = left_out = 0
    for number, row, marked in labelled_lines(name, model.vocabulary.tokenizer, None, decoding):
        label, sentence = row["label"], row["sentence"]
        lines += 1
        labels.add(label)
        if len(labels) > MAX_LABELS:
            many = f"{name}: line {number}: more than {MAX_LABELS} labels"
            raise CorpusError(f"{many}; is the first column the label?")
        at = lines - 1 if lines <= most else int(rng.integers(lines))
        if at >= most:
            continue
        span = [marked.words[position] for position in marked.targets[0]]
        if all(model.vocabulary.find(word) is None for word in span):
            left_out, lines = left_out + 1, lines - 1
            if len(unknown) < MAX_NAMED:
                unknown.append((number, model.vocabulary.unknown(span[0])))
            continue
        (occurrence,) = parse(model, sentence).occurrences
        expression, test = row.get("expression") or " ".join(span), row.get("half", "").strip()
        gloss = row.get("gloss", "")
        kept[at : at + 1] = [Item(label, occurrence.clip(REACH), expression, test == "test", gloss)]
    if not kept and left_out:
        raise UnknownWordError(f"{name}: no target is known; line {unknown[0][0]}: {unknown[0][1]}")
    counts = Counter(item.label for item in kept if not item.test)
    if not counts:
        raise CorpusError(f"{name}: no labelled sentence; {LABELLED_FORMAT}")
    label, number = min(counts.items(), key=lambda pair: pair[1])
    if len(counts) == 1:
        raise CorpusError(f"{name}: only one label, {label!r}; at least two are needed")
    if number < MIN_PER_LABEL:
        few = f"{name}: too few sentences labelled {label!r}: {number}"
        raise CorpusError(f"{few}; {MIN_PER_LABEL} of each are needed")
    messages = [f"line {number}: left out: {reason}" for number, reason in unknown]
    if left_out > len(unknown):
        messages.append(f"{left_out} lines are left out in all")
    return Task(kept, sorted({item.label for item in kept}), lines, messages)


def as_examples(
    items: Sequence[Item], labels: Sequence[str], used: NDArray[np.int32], own: Floats
) -> Examples:
    """Return sentences as one padded array of rows of `used`, the sorted words of the task."""
    numbers = {label: number for number, label in enumerate(labels)}
    sentences = [collapse([item.occurrence])[0][0] for item in items]
    length = np.array([len(words) for words in sentences], np.intp)
    ids = np.zeros((len(items), int(length.max())), np.int32)
    for row, words in enumerate(sentences):
        ids[row, : len(words)] = np.searchsorted(used, words)
    target = np.array([item.occurrence.target.start for item in items], np.intp)
    label = np.array([numbers[item.label] for item in items], np.intp)
    return Examples(ids, length, target, own, label)
