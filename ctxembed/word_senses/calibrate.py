"""Where the bar between one sense and several lies in a corpus, by pseudowords of this corpus."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import sample_positions
from ctxembed.context.representation import vectors_at
from ctxembed.model.saved_ambiguity import LIMIT, SMALL_CORPUS, Calibration
from ctxembed.progress import Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.tokenizer import MANY, is_content
from ctxembed.word_senses.evidence import (
    OCCURRENCES,
    Evidence,
    EvidenceReader,
    measure_evidence,
)

WORDS = 80  # words of one sense, as far as most are, and as many pseudowords
MIN_TOKENS = 500_000  # of a corpus; in a smaller one vectors of words and pseudowords are too alike
MIN_WORDS = 40  # fewer say too little
MIN_COUNT = 60  # occurrences of each word
MAX_SHARE = 0.92  # of a pseudoword's occurrences that one of its words has; it has half at least
BANDS = 8  # of frequency; words are drawn evenly from each
RIDGE, STEPS = 1e-3, 50  # of the logistic regression


class MergedWords:
    """The vectors of a model with one vector for several words, as if they were one."""

    def __init__(self, inputs: Any, rows: Sequence[int], weights: Sequence[float]) -> None:
        self.inputs, self.rows, self.shape = inputs, rows, inputs.shape
        own = np.asarray(inputs[list(rows)])
        merged = np.average(own, axis=0, weights=weights)
        same = np.allclose(np.linalg.norm(own, axis=1), 1, atol=1e-4)
        self.vector = np.asarray(unit(merged) if same else merged, own.dtype)

    def __getitem__(self, ids: Any) -> Floats:
        """Return (..., d) the vectors of these rows."""
        vectors = np.array(self.inputs[ids])
        vectors[np.isin(ids, self.rows)] = self.vector
        return vectors


def calibrate(reader: EvidenceReader, progress: Progress) -> Calibration:
    """Return the bar that tells pseudowords from words; the usual one if there is too little text.

    A pseudoword is two random words whose occurrences are put together: it has two senses at
    least, while most words have one. The mean of three signs, each on the scale of plain words
    with as many occurrences, is compared by logistic regression.
    """
    rng, rows = np.random.default_rng(1), _candidates(reader)
    if len(rows) < MIN_WORDS or reader.representations.model.tokens < MIN_TOKENS:
        return SMALL_CORPUS
    counts = np.log(reader.representations.model.counts[rows])
    band = np.digitize(counts, np.linspace(counts.min(), counts.max() + 1e-9, BANDS + 1))
    chance = 1 / np.bincount(band)[band]
    chance /= chance.sum()
    number = min(WORDS, len(rows))
    drawn = rng.choice(rows, number, replace=False, p=chance).tolist()
    words = reader.representations.model.vocabulary.words
    plain: list[Evidence] = []
    merged: list[Evidence] = []
    with progress.stage("calibrating", 2 * number, "words") as stage:
        for row in drawn:
            plain += [found for found in reader.read([words[row]]) if found is not None]
            stage.advance()
        for _ in range(number):
            one, other = rng.choice(rows, 2, replace=False, p=chance).tolist()
            merged.append(_measure_merged(reader, (one, other), rng))
            stage.advance()
    return fit_bar(plain, merged)


def _candidates(reader: EvidenceReader) -> NDArray[np.intp]:
    """Return the rows of words that carry content and occur often enough."""
    representations = reader.representations
    words, frequency = representations.model.vocabulary.words, representations.frequency
    often = np.flatnonzero(representations.model.counts >= MIN_COUNT)
    if len(words) <= MANY:
        return often[:0]
    kept = [
        row for row in often.tolist()
        if sum(map(str.isalpha, words[row])) > 1 and is_content(words[row], float(frequency[row]))
    ]  # fmt: skip
    return np.array(kept, np.intp)


def _measure_merged(
    reader: EvidenceReader, rows: tuple[int, int], rng: np.random.Generator
) -> Evidence:
    """Return the evidence of a pseudoword: two words merged in a random proportion."""
    model, space = reader.representations.model, reader.space
    assert model.index is not None
    counts = [int(model.counts[row]) for row in rows]
    share = float(rng.uniform(0.5, MAX_SHARE))
    # As many occurrences as both words have in this proportion.
    number = int(min(OCCURRENCES, counts[0] / share, counts[1] / (1 - share)))
    sizes = [min(counts[0], round(number * share)), min(counts[1], round(number * (1 - share)))]
    positions = [
        sample_positions(model.index.positions(row), size, rng)
        for row, size in zip(rows, sizes, strict=True)
    ]
    inputs: Any = MergedWords(space.representation.inputs, rows, sizes)
    representation = replace(space.representation, inputs=inputs)
    vectors = vectors_at(model, representation, np.concatenate(positions))
    return measure_evidence(vectors, inputs.vector, space, reader.near([(rows, sizes)])[0])


def fit_bar(plain: Sequence[Evidence], merged: Sequence[Evidence]) -> Calibration:
    """Return the scale of each sign in plain words, and the regression on their mean."""
    sizes = np.log([item.occurrences for item in plain])
    signs = np.array([item.signs for item in plain])  # (n, 3)
    lines = np.array([np.polyfit(sizes, sign, 1) for sign in signs.T])  # slope, intercept
    rest = signs - (sizes[:, None] * lines[:, 0] + lines[:, 1])
    middles, scales = np.median(rest, axis=0), rest.std(axis=0) + 1e-9
    lines[:, 1] += middles
    half = Calibration(lines.tolist(), scales.tolist(), (1.0, 0.0))
    means = [half.mean(item.signs, item.occurrences) for item in (*plain, *merged)]
    is_merged = np.repeat([0.0, 1.0], [len(plain), len(merged)])
    coefficients = logistic_regression(np.array(means), is_merged)
    return replace(half, coefficients=coefficients, words=len(plain))


def logistic_regression(x: Floats, y: Floats) -> tuple[float, float]:
    """Return slope and intercept of the log-odds of y (n,), of 0 and 1, on x (n,).

    >>> x, y = np.array([0, 0, 1, 1, 1.0]), np.array([0, 1, 1, 1, 0.0])
    >>> slope, intercept = logistic_regression(x, y)
    >>> round(slope, 1), round(abs(intercept), 1)  # odds of 2 at 1, of 1 at 0
    (0.7, 0.0)
    """
    columns, weights = np.stack([x, np.ones(len(x))], axis=1), np.zeros(2)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(columns @ weights, -LIMIT, LIMIT)))
        information = columns.T @ (columns * (p * (1 - p))[:, None]) + RIDGE * np.eye(2)
        step = np.linalg.solve(information, columns.T @ (y - p) - RIDGE * weights)
        weights = weights + step
    return float(weights[0]), float(weights[1])
