"""Labelled occurrences: does a representation tell a word's senses apart?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import Reader, units
from ctxembed.evaluation.metrics import Figure
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.stats.k_means import Labels
from ctxembed.stats.vectors import Floats
from ctxembed.text.lines import labelled_lines, numbered_lines
from ctxembed.text.tokenizer import Tokenizer

SPLICED = {"spliced": 3, "spliced_wide": 6}  # words to either side of the target, and of another's
OCCURRENCES = 20_000  # of one word: each is compared with all others
LABELS = 100  # of one word
MOST = 1000  # occurrences whose pairs are compared
FOLDS = 5  # where a file has no test split
FREQUENT = "most frequent"


@dataclass(frozen=True)
class Labelled:
    """Occurrences of one word, the number of each one's sense, and what is scored with what."""

    name: str
    items: Sequence[Occurrence]
    labels: Labels  # (n,)
    folds: Labels  # (n,) scored by what the items of other folds teach; -1 teaches only


def score(
    data: Labelled, ways: Sequence[Representation], seed: Sequence[int], progress: Progress
) -> Scores:
    """Score every representation, and the answer that is always the most frequent sense."""
    if len(np.unique(data.folds)) < 2:
        raise CorpusError(f"{data.name}: no sense occurs twice, so nothing can be learned of any")
    if (number := int(data.labels.max()) + 1) > LABELS:
        raise CorpusError(
            f"{data.name}: {number:,} different labels; {LABELS} are the most. Is the label what"
            " stands in front of each sentence?"
        )
    rng = np.random.default_rng(seed)
    scored = data.folds >= 0
    asked = [item for item, is_scored in zip(data.items, scored, strict=True) if is_scored]
    weights = metrics.draw(len(asked), rng)
    spliced = {
        name: splice(asked, data.labels[scored], side, rng)
        for name, side in SPLICED.items()
        if len(np.unique(data.labels[scored])) > 1
    }
    scores = Scores(data.name, len(asked))
    often = _most_frequent(data)
    with progress.stage(data.name, len(ways), "way") as stage:
        for way in ways:
            vectors = units(way, data.items)
            confused = {name: units(way, items) for name, items in spliced.items()}
            figures = _figures(data, vectors, confused, often, weights, np.random.default_rng(seed))
            scores.add(way.name, figures, int(np.isnan(vectors[scored, 0]).sum()))
            if way.name == "random":
                scores.add(FREQUENT, _frequent(data, often, weights, spliced), 0)
            stage.advance()
    return scores


def _figures(
    data: Labelled,
    vectors: Floats,
    confused: Mapping[str, Floats],
    often: Labels,
    weights: NDArray[np.float32],
    rng: np.random.Generator,
) -> dict[str, Figure]:
    scored = data.folds >= 0
    test, gold = vectors[scored], data.labels[scored]
    centroid = _answer(metrics.nearest_centroid, data, vectors, test, often)
    neighbor = _answer(metrics.nearest_neighbor, data, vectors, test, often)
    recall, f1 = metrics.macro(gold, centroid, weights)
    figures = {
        "auc": metrics.no_figure(weights),
        "accuracy": metrics.proportion(centroid == gold, weights),
        "recall": recall,
        "f1": f1,
        "neighbor": metrics.proportion(neighbor == gold, weights),
    }
    there = np.flatnonzero(~np.isnan(test[:, 0]))
    if len(there):
        few = np.sort(rng.choice(there, min(MOST, len(there)), replace=False))
        figures["auc"] = metrics.pair_auc(test[few], gold[few], weights[:, few])
        clusters = metrics.cluster_on_sphere(test[there], len(np.unique(gold)), rng)
        figures["v_measure"] = metrics.v_measure(gold[there], clusters, weights[:, there])
    for name, vectors_there in confused.items():
        answers = _answer(metrics.nearest_centroid, data, vectors, vectors_there, often)
        figures[name] = metrics.proportion(answers == gold, weights)
    return figures


def _answer(
    method: Callable[[Floats, Labels, Floats], Labels],
    data: Labelled,
    vectors: Floats,
    test: Floats,
    often: Labels,
) -> Labels:
    """Answer for each scored item by the items of other folds; `often` where it has no vector."""
    answers: Labels = often.copy()
    folds, there = data.folds[data.folds >= 0], ~np.isnan(test[:, 0])
    for fold in np.unique(folds):
        taught = (data.folds != fold) & ~np.isnan(vectors[:, 0])
        asked = (folds == fold) & there
        if taught.any() and asked.any():
            answers[asked] = method(vectors[taught], data.labels[taught], test[asked])
    return answers


def _most_frequent(data: Labelled) -> Labels:
    """Return for each scored item the most frequent sense among those that teach."""
    folds = data.folds[data.folds >= 0]
    best = {fold: np.bincount(data.labels[data.folds != fold]).argmax() for fold in set(folds)}
    return np.array([best[fold] for fold in folds], np.intp)


def _frequent(
    data: Labelled, often: Labels, weights: NDArray[np.float32], spliced: Iterable[str]
) -> dict[str, Figure]:
    gold = data.labels[data.folds >= 0]
    recall, f1 = metrics.macro(gold, often, weights)
    share = metrics.proportion(often == gold, weights)
    return {"accuracy": share, "recall": recall, "f1": f1, **dict.fromkeys(spliced, share)}


def splice(
    items: Sequence[Occurrence], labels: Labels, side: int, rng: np.random.Generator
) -> list[Occurrence]:
    """Clip each sentence to the words around its target, and add those around another sense's.

    The other target itself is removed; a coin decides whether its words come before or behind.
    """
    others = {label: np.flatnonzero(labels != label) for label in np.unique(labels)}
    made = []
    for item, label in zip(items, labels, strict=True):
        other = items[int(rng.choice(others[label]))]
        before = rng.random() < 0.5
        if not len(item.target):
            made.append(item)
            continue
        left, right = _around(item, side)
        if len(other.target):
            if before:
                left = np.concatenate([*_around(other, side), left])
            else:
                right = np.concatenate([right, *_around(other, side)])
        place = range(len(left), len(left) + len(item.target))
        made.append(Occurrence(np.concatenate([left, item.own, right]), place))
    return made


def _around(item: Occurrence, side: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the words to the left of a target, and to its right."""
    first, last = item.target.start, item.target.stop
    return item.ids[max(0, first - side) : first], item.ids[last : last + side]


def read_labelled(model: Model, path: Path) -> list[Labelled]:
    """Read CoarseWSD-20's layout (a folder a word, or one word's folder) or a TSV file."""
    reader = Reader(model)
    if not path.is_dir():
        return [_read_tsv(reader, path)]
    found = sorted(item.parent for item in path.glob("**/train.data.txt"))
    if not found:
        raise CorpusError(f"{path}: no train.data.txt in it or in a folder of it")
    return [_read_coarse(reader, folder) for folder in found]


def _read_coarse(reader: Reader, folder: Path) -> Labelled:
    train, train_labels = _read_split(reader, folder, "train")
    test, test_labels = _read_split(reader, folder, "test")
    folds = np.repeat([-1, 0], [len(train), len(test)])
    _, numbers = np.unique(train_labels + test_labels, return_inverse=True)
    return Labelled(folder.name, train + test, numbers, folds)


def _read_split(reader: Reader, folder: Path, split: str) -> tuple[list[Occurrence], list[str]]:
    data, gold = folder / f"{split}.data.txt", folder / f"{split}.gold.txt"
    items = []
    for number, line in numbered_lines(data, OCCURRENCES):
        place, tab, text = line.partition("\t")
        words = text.split()
        if not tab or not place.isdigit() or int(place) >= len(words):
            raise CorpusError(f"{data}: line {number}: no target; position TAB words is expected")
        items.append(reader.item(words, range(int(place), int(place) + 1)))
    labels = [line.strip() for _, line in numbered_lines(gold, OCCURRENCES)]
    if len(items) != len(labels):
        raise CorpusError(f"{gold}: {len(labels)} labels, but {data} has {len(items)} sentences")
    if not items:
        raise CorpusError(f"{data}: empty")
    return items, labels


def _read_tsv(reader: Reader, path: Path) -> Labelled:
    items, labels = [], []
    tokenizer = Tokenizer("whitespace", cased=True)
    for _, row, marked in labelled_lines(path, tokenizer, OCCURRENCES):
        items.append(reader.item(marked.words, marked.targets[0]))
        labels.append(row["label"])
    if not items:
        raise CorpusError(f"{path}: empty")
    _, numbers = np.unique(labels, return_inverse=True)
    folds = np.zeros(len(labels), np.intp)
    for sense in np.unique(numbers):  # each sense is dealt out evenly
        rows = np.flatnonzero(numbers == sense)
        folds[rows] = np.arange(len(rows)) % FOLDS
    return Labelled(path.stem, items, numbers, folds)
