"""Word in Context: does the word mean the same in both sentences?"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import MOST, Reader, cosines
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.text.lines import numbered_lines

Files = tuple[str, str]  # data, gold
Pairs = tuple[list[Occurrence], list[Occurrence]]


def wic(
    model: Model, test: Files, train: Files | None, ways: Sequence[Representation], seed: int
) -> Scores:
    """Answer 'the same' above a cosine: fitted on the training files, else the median."""
    reader = Reader(model)
    pairs, same = _read(reader, *test)
    taught, gold = _read(reader, *train) if train else (None, same)
    often = bool(gold.mean() >= 0.5)  # answers where there is no vector
    weights = metrics.draw(len(same), np.random.default_rng(seed))
    scores = Scores(Path(test[0]).name.split(".")[0], len(same))
    for way in ways:
        alike = cosines(way, *pairs)
        if taught:
            threshold = best_threshold(cosines(way, *taught), gold)
        else:
            threshold = float(np.nanmedian(alike)) if not np.isnan(alike).all() else 0.0
        right = np.where(np.isnan(alike), often, alike > threshold) == same
        figure = metrics.proportion(right, weights)
        scores.add(way.name, {"accuracy": figure}, int(np.isnan(alike).sum()))
        if way.name == "random":
            frequent = metrics.proportion(same == often, weights)
            scores.add("most frequent", {"accuracy": frequent}, 0)
    return scores


def best_threshold(alike: Floats, same: NDArray[np.bool_]) -> float:
    """Find the cosine that separates the training pairs best.

    >>> best_threshold(np.array([0.1, 0.2, 0.6, 0.8]), np.array([False, False, True, True]))
    0.4
    """
    there = ~np.isnan(alike)
    if not there.any():
        return 0.0
    order = np.argsort(alike[there], kind="stable")
    cosine, truth = alike[there][order].astype(float), same[there][order]
    # With a cut behind the first i: the 'different' before it and the 'same' behind it are right.
    right = np.r_[0, np.cumsum(~truth)] + np.r_[np.cumsum(truth[::-1])[::-1], 0]
    cuts = np.r_[cosine[:1] - 1, (cosine[1:] + cosine[:-1]) / 2, cosine[-1:] + 1]
    real = np.r_[True, cosine[1:] > cosine[:-1], True]  # no cut between two equal cosines
    return round(float(cuts[np.where(real, right, -1).argmax()]), 12)


def _read(reader: Reader, data: str, gold: str) -> tuple[Pairs, NDArray[np.bool_]]:
    """Return two sentences an item, and whether the word means the same in both."""
    one: list[Occurrence] = []
    other: list[Occurrence] = []
    for number, line in numbered_lines(data, MOST):
        try:
            lemma, _, places, *texts = line.split("\t")
            for items, place, text in zip((one, other), places.split("-"), texts[:2], strict=True):
                words = text.split()
                words[int(place)]
                items.append(reader.item(words, range(int(place), int(place) + 1), lemma))
        except (ValueError, IndexError):
            raise CorpusError(
                f"{data}: line {number}: expected word, tag, place-place and two sentences,"
                " between tabs"
            ) from None
    labels = []
    for number, line in numbered_lines(gold, MOST):
        if line.strip() not in ("T", "F"):
            raise CorpusError(f"{gold}: line {number}: expected T or F, not {line[:20]!r}")
        labels.append(line.strip() == "T")
    if len(labels) != len(one):
        raise CorpusError(f"{gold}: {len(labels)} labels, but {data} has {len(one)} pairs")
    if not labels:
        raise CorpusError(f"{data}: empty")
    return (one, other), np.array(labels)
