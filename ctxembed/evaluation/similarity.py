"""Pairs of words that people rated, alone or in context (SCWS): does the cosine rank them alike?"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation import metrics
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import Reader, cosines, expect
from ctxembed.model.attentions import TOGETHER
from ctxembed.model.model import Model


def similarity(reader: Reader, path: str, scored: Sequence[Representation], seed: int) -> Scores:
    """Return the scores of a file of word1 word2 score, between tabs, commas or spaces."""
    one, other, ratings = [], [], []
    for number, line in reader.lines(path):
        parts = re.split(r"\t|,|\s+", line.strip())
        try:
            rating = float(parts[2])
        except (IndexError, ValueError):
            if number == 1 or line.startswith("#"):
                continue  # a header
            raise CorpusError(f"{path}: line {number}: expected word1 word2 score") from None
        if not math.isfinite(rating):
            raise CorpusError(f"{path}: line {number}: the score {parts[2]} is no number")
        one.append(reader.item([parts[0]], range(1)))
        other.append(reader.item([parts[1]], range(1)))
        ratings.append(rating)
    if not ratings:
        raise CorpusError(f"{path}: no pairs of words in it")
    return correlate(Path(path).stem, one, other, ratings, scored, seed)


def scws(reader: Reader, path: str, scored: Sequence[Representation], seed: int) -> list[Scores]:
    """Return the scores of SCWS's ratings.txt in context, and of the same pairs as lone words."""
    ratings = list[float]()
    in_context: tuple[list[Occurrence], list[Occurrence]] = ([], [])
    alone: tuple[list[Occurrence], list[Occurrence]] = ([], [])
    for number, line in reader.lines(path):
        parts = line.split("\t")
        columns = "id, word, tag, word, tag, two texts with <b> word </b>, mean rating"
        with expect(f"{columns}, between tabs", path, number):
            ratings.append(float(parts[7]))
            if not math.isfinite(ratings[-1]):
                raise ValueError
            for which in (0, 1):
                lemma, words = parts[1 + 2 * which], parts[5 + which].split()
                first, last = words.index("<b>"), words.index("</b>")
                del words[last], words[first]
                in_context[which].append(reader.item(words, range(first, last - 1), lemma))
                alone[which].append(reader.item([lemma], range(1)))
    if not ratings:
        raise CorpusError(f"{path}: empty")
    scores = correlate("in context", *in_context, ratings, scored, seed)
    without = context_free(reader.model, scored)
    return [scores, correlate("out of context", *alone, ratings, without, seed)]


def correlate(
    name: str, one: Sequence[Occurrence], other: Sequence[Occurrence], ratings: Sequence[float],
    scored: Sequence[Representation], seed: int,
) -> Scores:  # fmt: skip
    """Return the rank correlation of cosines with ratings; pairs without a vector are left out."""
    weights = metrics.resample(len(ratings), np.random.default_rng(seed))
    scores = Scores(name, len(ratings))
    for representation in scored:
        alike = cosines(representation, one, other)
        known = ~np.isnan(alike)
        x, y = alike[known].round(6).astype(float), np.array(ratings)[known]
        figure = metrics.spearman(x, y, weights[:, known])
        scores.add(representation.name, {"spearman": figure}, int((~known).sum()))
    return scores


def context_free(model: Model, scored: Sequence[Representation]) -> list[Representation]:
    """Return the representations that differ from static vectors for a word without a sentence."""
    same = {"bag", "general", TOGETHER, *model.attentions()}
    return [item for item in scored if item.name not in same]
