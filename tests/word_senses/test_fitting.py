"""What is learned for the dictionary: gradients against finite differences, scores by hand."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from corpora import fit_parts, fit_senses
from corpora.labelled_sentences import BETWEEN, WRITTEN, label, splice
from ctxembed.word_senses.parts_of_speech import FEATURES, NEIGHBORS, Network

PLACES = len(NEIGHBORS)


def check_gradients(
    loss: Callable[[Mapping[str, Any]], tuple[float, dict[str, Any]]], weights: dict[str, Any]
) -> None:
    """Compare each gradient with the slope of the loss at a few numbers, all of which matter."""
    rng, gradients = np.random.default_rng(5), loss(weights)[1]
    for name, gradient in gradients.items():
        assert gradient.shape == weights[name].shape
        for place in rng.choice(np.flatnonzero(gradient), 4):
            moved = []
            for step in (1e-5, -1e-5):
                own = weights[name].copy()
                own.flat[place] += step
                moved.append(loss(weights | {name: own})[0])
            slope = (moved[0] - moved[1]) / 2e-5
            assert gradient.flat[place] == pytest.approx(slope, abs=1e-5), name


def test_gradients_of_parts_of_speech() -> None:
    rng = np.random.default_rng(0)
    shapes = Network.shapes(5)
    numbers = rng.normal(0, 0.3, sum(a * b for a, b in shapes))
    network = Network.split(numbers, 5)
    weights = {
        "embedding": network.embedding.astype(float), "hidden": network.hidden.astype(float),
        "output": network.output.astype(float), "count": np.array([0.7]),
    }  # fmt: skip
    may = np.array([[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 0]], float)
    batch = {
        "rows": rng.integers(0, 6, (3, PLACES)), "features": rng.random((3, PLACES, FEATURES)),
        "may": may, "logs": rng.normal(size=(3, 4)) * may, "gold": np.array([0, 3, 1]),
        "weight": np.array([1.0, 2.0, 0.3]),
    }  # fmt: skip
    check_gradients(lambda own: fit_parts.measure_loss(own, batch), weights)


def make_group(rng: np.random.Generator) -> fit_senses.Group:
    """Return six occurrences of three senses: two of one document, one written for its sense."""
    gold = np.eye(3)[[0, 0, 1, 1, 2, 0]]
    gold[5, 1] = 1  # with two labels
    return fit_senses.Group(
        1, np.arange(6), gold, np.array([0, 0, 1, 2, 3, 9]), np.array([False] * 5 + [True]),
        np.array([False] * 6),
        rng.normal(size=(6, 3, 6)), rng.normal(size=(6, 3, 2)), np.arange(3),
    )  # fmt: skip


def make_parameters(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "projection": rng.normal(size=(7, 4)), "text": rng.normal(size=(4, 6)),
        "examples": rng.normal(size=(4, 1)), "prior": rng.normal(size=(4, 2)),
    }  # fmt: skip


def test_gradients_of_senses() -> None:
    rng = np.random.default_rng(1)
    group, x, parameters = make_group(rng), rng.normal(size=(6, 7)), make_parameters(rng)
    asked, weights = np.array([0, 2, 5]), np.array([1.0, 1.4, 2.0])
    check_gradients(lambda own: fit_senses.measure_loss(own, x, group, asked, weights), parameters)


def test_loss_of_senses_by_hand() -> None:
    """The other documents' occurrences alone speak for a sense; a written sentence counts 3."""
    rng = np.random.default_rng(2)
    group, x, parameters = make_group(rng), rng.normal(size=(6, 7)), make_parameters(rng)
    z = [row @ parameters["projection"] for row in x]
    z = [row / np.sqrt(row @ row) for row in z]
    sums = [3 * z[5], z[2] + z[3] + 3 * z[5], z[4]]  # without the document of the first: 0 and 1
    numbers, every = [3, 5, 1], sum(sums)

    def cos(a: Any, b: Any) -> float:
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    scores = [
        group.cosines[0, k] @ parameters["text"][1]
        + parameters["examples"][1, 0] * n / (n + 1) * (cos(z[0], own) - cos(z[0], every))
        + group.logs[0, k] @ parameters["prior"][1]
        for k, (own, n) in enumerate(zip(sums, numbers, strict=True))
    ]
    expected = np.log(np.exp(scores).sum()) - scores[0]
    loss, _ = fit_senses.measure_loss(parameters, x, group, np.array([0]), np.ones(1))
    assert loss == pytest.approx(expected, abs=1e-6)


def test_two_senses_are_spliced() -> None:
    """Each sentence of a pair gets the other's words, without its target, before or after it."""
    items = [
        label(WRITTEN, "bank", "n", "bank%money", "money in the [bank]"),
        label(WRITTEN, "bank", "n", "bank%river", "the [bank] is wet"),
        label(WRITTEN, "seal", "n", "seal%animal", "a grey [seal]"),
    ]
    joined = splice(items, np.random.default_rng(0))
    (money, river, seal), spliced = joined[:3], joined[3:]
    assert money.pair == river.pair >= 0 > seal.pair  # it has nothing to be spliced with
    assert not any(item.is_spliced for item in joined[:3])
    assert all(item.is_spliced and item.pair == money.pair for item in spliced)
    assert sorted(item.keys[0] for item in spliced) == ["bank%money", "bank%river"]
    for item in spliced:
        assert item.sides()[1] == "bank"
        others = Counter(item.written.words) - Counter(BETWEEN)
        expected = ["money", "in", "the", "the", "is", "wet", "bank"]
        assert others == Counter(expected) - Counter(BETWEEN)
