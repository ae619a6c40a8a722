"""word2vec on one sentence: the pairs that CBOW and skip-gram train on, and one update by hand.

    x = the vector of the input word (skip-gram), or the mean of the context words (CBOW)
    c = the output vector of the word to be predicted (label 1), or of a random word (label 0)
    loss = the sum over outputs of -log p if label is 1, else -log(1 - p), with p = sigmoid(x·c)

    gradient by c = (p - label) x        gradient by x = the sum over outputs of (p - label) c
    a vector after the update = the vector - rate · gradient

As in word2vec, each context word of CBOW gets the whole gradient by the mean, not its part of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.stats.vectors import Floats

ALGORITHMS = ("cbow", "skipgram")
POWER = 0.75  # of the counts, by which negatives are drawn


@dataclass(frozen=True)
class Pair:
    """What one step of training sees: the ids of input words, of the output, and of negatives."""

    algorithm: str
    inputs: Sequence[int]  # one word, or the context words of CBOW
    output: int
    negatives: Sequence[int]


@dataclass(frozen=True)
class Update:
    """One step of gradient descent on a pair; J outputs, the first of them with label 1."""

    x: Floats  # (d,) the input vector, or the mean of the input vectors
    scores: Floats  # (J,) x·c
    errors: Floats  # (J,) sigmoid(x·c) - label
    by_input: Floats  # (d,) gradient of the loss by x
    by_outputs: Floats  # (J, d) gradient of the loss by each output vector
    loss: float


def list_pairs(
    ids: Sequence[int], algorithm: str, window: int, negative: int, rng: np.random.Generator
) -> Iterator[Pair]:
    """Yield the pairs of a sentence of word ids, with every word at most `window` words away.

    >>> rng = np.random.default_rng(1)
    >>> [(p.inputs, p.output) for p in list_pairs([0, 1, 2], "cbow", 1, 0, rng)]
    [([1], 0), ([0, 2], 1), ([1], 2)]
    >>> [(p.inputs, p.output) for p in list_pairs([0, 1, 2], "skipgram", 1, 0, rng)]
    [([0], 1), ([1], 0), ([1], 2), ([2], 1)]
    """
    counts = np.bincount(ids)
    for i, center in enumerate(ids):
        context = [*ids[max(0, i - window) : i], *ids[i + 1 : i + 1 + window]]
        if algorithm == "cbow":
            examples = [(context, center)] if context else []
        else:
            examples = [([center], word) for word in context]
        for inputs, output in examples:
            yield Pair(algorithm, inputs, output, draw_negatives(counts, output, negative, rng))


def draw_negatives(
    counts: NDArray[np.int64], output: int, number: int, rng: np.random.Generator
) -> list[int]:
    """Return different words other than the output, drawn by their counts to the power 3/4."""
    weights = counts**POWER
    weights[output] = 0
    number = min(number, int(np.count_nonzero(weights)))
    if not number:
        return []
    drawn: list[int] = rng.choice(
        len(counts), number, replace=False, p=weights / weights.sum()
    ).tolist()
    return drawn


def compute_update(pair: Pair, vectors: Floats, outputs: Floats) -> Update:
    """Return the gradients of a pair's loss by its vectors; both are (V, d) before the update.

    >>> pair = Pair("skipgram", [0], 1, [])
    >>> update = compute_update(pair, np.array([[0.5, 1.0], [0, 0]]), np.array([[0, 0], [2.0, -1]]))
    >>> update.scores, update.errors, update.by_input  # sigmoid(0) - 1 = -0.5
    (array([0.]), array([-0.5]), array([-1. ,  0.5]))
    """
    x = vectors[pair.inputs].mean(axis=0)
    c = outputs[[pair.output, *pair.negatives]]  # (J, d)
    scores = c @ x
    labels = np.arange(len(c)) == 0
    errors = np.exp(-np.logaddexp(0, -scores)) - labels  # the sigmoid, which cannot overflow
    loss = float(np.logaddexp(0, np.where(labels, -scores, scores)).sum())
    return Update(x, scores, errors, errors @ c, np.outer(errors, x), loss)


def apply_update(
    pair: Pair, update: Update, vectors: Floats, outputs: Floats, rate: float
) -> tuple[Floats, Floats]:
    """Return copies of the vectors and output vectors after one step of gradient descent."""
    vectors, outputs = vectors.copy(), outputs.copy()
    # A word that is twice in the context moves twice.
    np.subtract.at(vectors, list(pair.inputs), rate * update.by_input)
    outputs[[pair.output, *pair.negatives]] -= rate * update.by_outputs
    return vectors, outputs
