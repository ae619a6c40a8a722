"""Labelled occurrences: does a representation tell a word's senses apart?"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import Reader
from ctxembed.evaluation.metrics import Figure
from ctxembed.progress import Progress
from ctxembed.stats.k_means import Labels
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.lines import labelled_lines
from ctxembed.text.tokenizer import Tokenizer

SPLICED = {"spliced": 3, "spliced_wide": 6}  # words to either side of the target, and of another's
MAX_OCCURRENCES = 20_000  # of one word: each is compared with all others
MAX_LABELS = 100  # of one word
MAX_AUC = 1000  # occurrences whose pairs are compared
FOLDS = 5  # where a file has no test split


@dataclass(frozen=True)
class Labelled:
    """Occurrences of one word with their senses, divided into folds for training and test."""

    name: str
    items: Sequence[Occurrence]
    labels: Labels  # (n,)
    folds: Labels  # (n,) trained on the other folds; -1 is for training only


def score_senses(
    data: Labelled, representations: Sequence[Representation], seed: Sequence[int],
    progress: Progress,
) -> Scores:  # fmt: skip
    """Return the scores of each representation, and of always answering the most frequent sense."""
    if len(np.unique(data.folds)) < 2:
        raise CorpusError(f"{data.name}: no sense occurs twice, so none can be learned")
    if (number := int(data.labels.max()) + 1) > MAX_LABELS:
        raise CorpusError(f"{data.name}: {number:,} different labels; {MAX_LABELS} are the most")
    rng = np.random.default_rng(seed)
    is_test = data.folds >= 0
    gold, folds = data.labels[is_test], data.folds[is_test]
    test = [data.items[row] for row in np.flatnonzero(is_test).tolist()]
    weights = metrics.resample(len(test), rng)
    several = len(np.unique(gold)) > 1
    spliced = {name: splice(test, gold, side, rng) for name, side in SPLICED.items() if several}
    # For each test item, the most frequent sense among those it may be trained on.
    best = {fold: np.bincount(data.labels[data.folds != fold]).argmax() for fold in set(folds)}
    frequent = np.array([best[fold] for fold in folds], np.intp)
    scores = Scores(data.name, len(test))
    with progress.stage(data.name, len(representations), "representation") as stage:
        for representation in representations:
            vectors = unit(representation.vectors(data.items))
            confused = {key: unit(representation.vectors(some)) for key, some in spliced.items()}
            fold_rng = np.random.default_rng(seed)
            figures = _figures(data, vectors, confused, frequent, weights, fold_rng)
            scores.add(representation.name, figures, int(np.isnan(vectors[is_test, 0]).sum()))
            if representation.name == "random":
                recall, f1 = metrics.macro_scores(gold, frequent, weights)
                right = metrics.proportion(frequent == gold, weights)
                baseline = {"accuracy": right, "recall": recall, "f1": f1}
                scores.add("most frequent", baseline | dict.fromkeys(spliced, right), 0)
            stage.advance()
    return scores


def _figures(
    data: Labelled, vectors: Floats, confused: Mapping[str, Floats], frequent: Labels,
    weights: metrics.Weights, rng: np.random.Generator,
) -> dict[str, Figure]:  # fmt: skip
    """Return the figures of one representation, from unit vectors (n, d) of all items."""
    test, gold = vectors[data.folds >= 0], data.labels[data.folds >= 0]
    centroid = predict_folds(metrics.nearest_centroid, data, vectors, test, frequent)
    neighbor = predict_folds(metrics.nearest_neighbor, data, vectors, test, frequent)
    recall, f1 = metrics.macro_scores(gold, centroid, weights)
    accuracy = metrics.proportion(centroid == gold, weights)
    figures = {"auc": metrics.UNDEFINED, "accuracy": accuracy, "recall": recall, "f1": f1}
    figures["neighbor"] = metrics.proportion(neighbor == gold, weights)
    known = np.flatnonzero(~np.isnan(test[:, 0]))
    if len(known):
        some = np.sort(rng.choice(known, min(MAX_AUC, len(known)), replace=False))
        figures["auc"] = metrics.pair_auc(test[some], gold[some], weights[:, some])
        clusters = metrics.cluster_on_sphere(test[known], len(np.unique(gold)), rng)
        figures["v_measure"] = metrics.v_measure(gold[known], clusters, weights[:, known])
    for name, changed in confused.items():
        answers = predict_folds(metrics.nearest_centroid, data, vectors, changed, frequent)
        figures[name] = metrics.proportion(answers == gold, weights)
    return figures


def predict_folds(
    classify: Callable[[Floats, Labels, Floats], Labels], data: Labelled, vectors: Floats,
    test: Floats, frequent: Labels,
) -> Labels:  # fmt: skip
    """Return the sense of each test vector, trained on other folds; `frequent` without a vector."""
    answers: Labels = frequent.copy()
    folds, known = data.folds[data.folds >= 0], ~np.isnan(test[:, 0])
    for fold in np.unique(folds):
        train = (data.folds != fold) & ~np.isnan(vectors[:, 0])
        predicted = (folds == fold) & known
        if train.any() and predicted.any():
            answers[predicted] = classify(vectors[train], data.labels[train], test[predicted])
    return answers


def splice(
    items: Sequence[Occurrence], labels: Labels, side: int, rng: np.random.Generator
) -> list[Occurrence]:
    """Return sentences cut to `side` words, before or after as many around another sense."""
    others = {label: np.flatnonzero(labels != label) for label in np.unique(labels)}
    spliced = []
    for item, label in zip(items, labels, strict=True):
        other = items[int(rng.choice(others[label]))]
        before = rng.random() < 0.5
        if not item.target:
            spliced.append(item)
            continue
        left, right = words_around(item, side)
        if other.target and before:
            left = np.concatenate([*words_around(other, side), left])
        elif other.target:
            right = np.concatenate([right, *words_around(other, side)])
        spliced.append(Occurrence.join(left, item.own, right))
    return spliced


def words_around(item: Occurrence, side: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the words to the left of a target, and to its right."""
    first, last = item.target.start, item.target.stop
    return item.ids[max(0, first - side) : first], item.ids[last : last + side]


def read_labelled(reader: Reader, path: Path) -> list[Labelled]:
    """Return the words of a TSV file or of CoarseWSD-20's layout, a folder for each word."""
    if not path.is_dir():
        return [_read_tsv(reader, path)]
    folders = sorted(item.parent for item in path.glob("**/train.data.txt"))
    if not folders:
        raise CorpusError(f"{path}: no train.data.txt in it or in a folder of it")
    words = []
    for folder in folders:
        train, train_labels = _read_split(reader, folder, "train")
        test, test_labels = _read_split(reader, folder, "test")
        _, numbers = np.unique(train_labels + test_labels, return_inverse=True)
        folds = np.repeat([-1, 0], [len(train), len(test)])
        words.append(Labelled(folder.name, train + test, numbers, folds))
    return words


def _read_split(reader: Reader, folder: Path, split: str) -> tuple[list[Occurrence], list[str]]:
    """Return the occurrences and labels of one of CoarseWSD-20's splits."""
    data, gold = folder / f"{split}.data.txt", folder / f"{split}.gold.txt"
    items = []
    for number, line in reader.lines(data, MAX_OCCURRENCES):
        position, _, text = line.partition("\t")
        words = text.split()
        if not re.fullmatch("[0-9]{1,9}", position) or int(position) >= len(words):
            raise CorpusError(f"{data}: line {number}: no target; position TAB words is expected")
        items.append(reader.item(words, range(int(position), int(position) + 1)))
    labels = [line.strip() for _, line in reader.lines(gold, MAX_OCCURRENCES)]
    if len(items) != len(labels):
        raise CorpusError(f"{gold}: {len(labels)} labels, but {data} has {len(items)} sentences")
    if not items:
        raise CorpusError(f"{data}: empty")
    return items, labels


def _read_tsv(reader: Reader, path: Path) -> Labelled:
    """Return the occurrences of a file of label and sentence; each sense is in every fold."""
    items, labels = [], []
    tokenizer = Tokenizer("whitespace", cased=True)
    for _, row, marked in labelled_lines(path, tokenizer, MAX_OCCURRENCES, reader.decoding):
        items.append(reader.item(marked.words, marked.targets[0]))
        labels.append(row["label"])
    if not items:
        raise CorpusError(f"{path}: empty")
    _, numbers = np.unique(labels, return_inverse=True)
    folds = np.zeros(len(labels), np.intp)
    for sense in np.unique(numbers):
        rows = np.flatnonzero(numbers == sense)
        folds[rows] = np.arange(len(rows)) % FOLDS
    return Labelled(path.stem, items, numbers, folds)
