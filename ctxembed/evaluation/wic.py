"""Word in Context: does the word mean the same in both sentences?"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import Reader, cosines, expect
from ctxembed.stats.vectors import Floats

Files = Sequence[str]  # data, gold
Pairs = tuple[list[Occurrence], list[Occurrence]]


def wic(
    reader: Reader, test: Files, train: Files | None, representations: Sequence[Representation],
    seed: int,
) -> Scores:  # fmt: skip
    """Return the accuracy of 'the same above a cosine': fitted on `train`, else the median."""
    pairs, same = _read(reader, *test)
    training_pairs, gold = _read(reader, *train) if train else (None, same)
    most_frequent = bool(gold.mean() >= 0.5)  # the answer where there is no vector
    weights = metrics.resample(len(same), np.random.default_rng(seed))
    scores = Scores(Path(test[0]).name.split(".")[0], len(same))
    for representation in representations:
        alike = cosines(representation, *pairs)
        unknown = np.isnan(alike)
        if training_pairs:
            threshold = best_threshold(cosines(representation, *training_pairs), gold)
        else:
            threshold = 0.0 if unknown.all() else float(np.nanmedian(alike))
        right = np.where(unknown, most_frequent, alike > threshold) == same
        figure = metrics.proportion(right, weights)
        scores.add(representation.name, {"accuracy": figure}, int(unknown.sum()))
        if representation.name == "random":
            frequent = metrics.proportion(same == most_frequent, weights)
            scores.add("most frequent", {"accuracy": frequent}, 0)
    return scores


def best_threshold(alike: Floats, same: NDArray[np.bool_]) -> float:
    """Return the cosine that best separates pairs of one meaning from pairs of two.

    >>> best_threshold(np.array([0.1, 0.2, 0.6, 0.8]), np.array([False, False, True, True]))
    0.4
    """
    known = ~np.isnan(alike)
    if not known.any():
        return 0.0
    order = np.argsort(alike[known], kind="stable")
    cosine, truth = alike[known][order].astype(float), same[known][order]
    # With a cut after the first i: the 'different' before it and the 'same' after it are right.
    right = np.r_[0, np.cumsum(~truth)] + np.r_[np.cumsum(truth[::-1])[::-1], 0]
    cuts = np.r_[cosine[:1] - 1, (cosine[1:] + cosine[:-1]) / 2, cosine[-1:] + 1]
    real = np.r_[True, cosine[1:] > cosine[:-1], True]  # no cut between two equal cosines
    return round(float(cuts[np.where(real, right, -1).argmax()]), 12)


def _read(reader: Reader, data: str, gold: str) -> tuple[Pairs, NDArray[np.bool_]]:
    """Return the two occurrences of each item, and whether the word means the same in both."""
    pairs: Pairs = ([], [])
    for number, line in reader.lines(data):
        with expect("word, tag, place-place and two sentences, between tabs", data, number):
            lemma, _, positions, *texts = line.split("\t")
            for items, at, text in zip(pairs, positions.split("-"), texts[:2], strict=True):
                words = text.split()
                words[int(at)]  # an IndexError if the sentence is too short
                items.append(reader.item(words, range(int(at), int(at) + 1), lemma))
    labels = []
    for number, line in reader.lines(gold):
        with expect("T or F", gold, number):
            labels.append({"T": True, "F": False}[line.strip()])
    if len(labels) != len(pairs[0]):
        raise CorpusError(f"{gold}: {len(labels)} labels, but {data} has {len(pairs[0])} pairs")
    if not labels:
        raise CorpusError(f"{data}: empty")
    return pairs, np.array(labels)
