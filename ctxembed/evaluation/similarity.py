"""Pairs of words that people rated: does the cosine rank them alike?"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import MOST, Reader, cosines
from ctxembed.model.model import Model
from ctxembed.text.lines import numbered_lines

ALONE = ("bag", "general")  # a word without a sentence keeps its static vector under these


def similarity(model: Model, path: str, ways: Sequence[Representation], seed: int) -> Scores:
    """Score word1 word2 score, between tabs, commas or spaces."""
    reader = Reader(model)
    one, other, ratings = [], [], []
    for number, line in numbered_lines(path, MOST):
        parts = re.split(r"\t|,|\s+", line.strip())
        try:
            rating = float(parts[2])
        except (IndexError, ValueError):
            if number == 1 or line.startswith("#"):
                continue  # a header
            raise CorpusError(
                f"{path}: line {number}: word1 word2 score is expected, not {line[:40]!r}"
            ) from None
        if not math.isfinite(rating):
            raise CorpusError(f"{path}: line {number}: the score {parts[2]} is no number")
        one.append(reader.item([parts[0]], range(1)))
        other.append(reader.item([parts[1]], range(1)))
        ratings.append(rating)
    if not ratings:
        raise CorpusError(f"{path}: no pairs of words in it")
    return rank(Path(path).stem, one, other, ratings, ways, seed)


def rank(
    name: str,
    one: Sequence[Occurrence],
    other: Sequence[Occurrence],
    ratings: Sequence[float],
    ways: Sequence[Representation],
    seed: int,
) -> Scores:
    """Correlate cosines with ratings; a pair without a vector takes no part, and is counted."""
    weights = metrics.draw(len(ratings), np.random.default_rng(seed))
    scores = Scores(name, len(ratings))
    for way in ways:
        alike = cosines(way, one, other)
        there = ~np.isnan(alike)
        figure = metrics.spearman(
            alike[there].round(6).astype(float), np.array(ratings)[there], weights[:, there]
        )
        scores.add(way.name, {"spearman": figure}, int((~there).sum()))
    return scores


def without_context(model: Model, ways: Sequence[Representation]) -> list[Representation]:
    """Keep the representations that say something else of a lone word than static does."""
    same = {*ALONE, *model.attentions()}
    return [way for way in ways if way.name not in same]
