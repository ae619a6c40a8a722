"""Fit the network that says a word's part of speech from the words beside it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from corpora.labelled_sentences import WRITTEN, Labelled
from ctxembed.attention.training.learning import Adam
from ctxembed.word_senses.definitions import COUNTED
from ctxembed.word_senses.dictionary import FILE, PARTS, Dictionary, write_manifest
from ctxembed.word_senses.parts_of_speech import (
    DIM,
    EDGE,
    FEATURES,
    NEIGHBORS,
    Network,
    describe_word,
    log_counts,
    neighbor_words,
)

WORDS = 1500  # neighbouring words with an embedding of their own
EPOCHS, BATCH, RATE = 6, 256, 0.004
DROPPED = 0.2  # of the inputs and of the hidden layer, while it is fitted
WRITTEN_WEIGHT, GLOSS_WEIGHT = 2.0, 0.3  # of a sentence, beside one of SemCor


def fit_parts(
    dictionary: Dictionary, items: Sequence[Labelled], glosses: Sequence[Labelled], folder: Path
) -> None:
    """Fit the network on words that may have several parts of speech; add it to the dictionary."""
    rng, data = np.random.default_rng(1), _Data.of(dictionary, items, glosses)
    start = Network.split(np.zeros(sum(a * b for a, b in Network.shapes(WORDS))), WORDS)
    weights: dict[str, Any] = {
        "embedding": rng.normal(0, 0.1, start.embedding.shape).astype(np.float32),
        "hidden": _uniform(rng, start.hidden.shape),
        "output": _uniform(rng, start.output.shape),
        "count": np.ones(1, np.float32),
    }
    adam, steps = Adam(RATE, np.inf, {}), EPOCHS * (len(data.gold) // BATCH)
    for step in range(steps):
        if step % (steps // EPOCHS) == 0:
            order = rng.permutation(len(data.gold))
        first = step % (steps // EPOCHS) * BATCH
        rows = order[first : first + BATCH]
        _, gradients = measure_loss(weights, data.batch(rows), rng)
        weights = adam.update(weights, gradients, 1 - step / steps)
    scores = measure_scores(weights, data.batch(np.arange(len(data.gold))))[0]
    print(f"part of speech: {(scores.argmax(axis=1) == data.gold).mean():.3f} of {len(data.gold)}")
    network = Network(weights["embedding"], weights["hidden"], weights["output"])
    np.save(folder / "parts.npy", network.join().astype("<f2"))
    meta = {key: dictionary.meta[key] for key in ("format", "about", "synsets", "sizes")}
    count = round(float(weights["count"][0]), 4)
    write_manifest(folder, FILE, meta | {"parts": {"words": data.words, "count": count}})


class _Data:
    """The inputs of the network for each target, and its part of speech."""

    def __init__(self, words: list[str], columns: Mapping[str, Any]) -> None:
        self.words, self.columns, self.gold = words, columns, columns["gold"]

    @classmethod
    def of(
        cls, dictionary: Dictionary, items: Sequence[Labelled], glosses: Sequence[Labelled]
    ) -> "_Data":
        describe = lru_cache(None)(lambda word: describe_word(word, dictionary))
        count = lru_cache(None)(lambda word: _count_parts(dictionary, word))
        weights = [WRITTEN_WEIGHT if item.source == WRITTEN else 1.0 for item in items]
        kept = []
        for item, weight in zip(
            (*items, *glosses), (*weights, *[GLOSS_WEIGHT] * len(glosses)), strict=True
        ):
            counts = dict(count(item.sides()[1]))
            if len(counts) > 1 and item.part in counts:
                if item.source != WRITTEN:
                    counts[item.part] -= 1  # without this one
                kept.append((neighbor_words(item.written), counts, item.part, weight))
        seen = Counter(word for beside, *_ in kept for word in beside if word != EDGE)
        words = sorted(word for word, _ in seen.most_common(WORDS))
        rows = {word: row for row, word in enumerate(words, 1)}
        columns = {
            "rows": np.array([[rows.get(word, 0) for word in beside] for beside, *_ in kept]),
            "features": np.array([list(map(describe, beside)) for beside, *_ in kept], np.float32),
            "may": np.array([[part in own for part in PARTS] for _, own, *_ in kept], np.float32),
            "logs": np.array(
                [log_counts([own.get(part, 0) for part in PARTS]) for _, own, *_ in kept],
                np.float32,
            ),
            "gold": np.array([list(PARTS).index(part) for *_, part, _ in kept]),
            "weight": np.array([weight for *_, weight in kept], np.float32),
        }
        return cls(words, columns)

    def batch(self, rows: Any) -> dict[str, Any]:
        """Return the columns of some targets."""
        return {name: column[rows] for name, column in self.columns.items()}


def _count_parts(dictionary: Dictionary, word: str) -> dict[str, float]:
    """Return how often a word has each part of speech: as labelled, and by its shares of today."""
    totals: dict[str, float] = {}
    for sense in dictionary.look_up(word):
        totals[sense.part] = totals.get(sense.part, 0) + sense.count + COUNTED * sense.share
    return totals


def _uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    bound = (shape[0] - 1) ** -0.5
    return rng.uniform(-bound, bound, shape).astype(np.float32)


def measure_scores(
    weights: Mapping[str, Any], batch: Mapping[str, Any], kept: Sequence[Any] = (1.0, 1.0)
) -> tuple[Any, Any, Any]:
    """Return the scores (n, 4), the inputs and the hidden layer.

    kept: factors of the inputs and of the hidden layer, zero where they are dropped.
    """
    network = Network(weights["embedding"], weights["hidden"], weights["output"])
    x = network.inputs(batch["rows"], batch["features"], batch["may"]) * kept[0]
    hidden = np.maximum(x @ network.hidden[:-1] + network.hidden[-1], 0) * kept[1]
    scores = hidden @ network.output[:-1] + network.output[-1]
    scores = scores + weights["count"] * np.where(batch["may"] > 0, batch["logs"], 0)
    return np.where(batch["may"] > 0, scores, -np.inf), x, hidden


def measure_loss(
    weights: Mapping[str, Any], batch: Mapping[str, Any], rng: np.random.Generator | None = None
) -> tuple[float, dict[str, Any]]:
    """Return the mean cross-entropy and its gradients; rng: drops inputs and hidden numbers."""
    n, size = len(batch["gold"]), len(weights["hidden"]) - 1
    shapes = (n, size), (n, weights["hidden"].shape[1])
    kept: Sequence[Any] = (1.0, 1.0)
    if rng is not None:
        kept = [(rng.random(s, np.float32) >= DROPPED) / np.float32(1 - DROPPED) for s in shapes]
    scores, x, hidden = measure_scores(weights, batch, kept)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    rows = np.arange(n)
    loss = -float((batch["weight"] * np.log(p[rows, batch["gold"]])).mean())
    p[rows, batch["gold"]] -= 1
    p *= batch["weight"][:, None] / n
    d_hidden = p @ weights["output"][:-1].T * kept[1] * (hidden > 0)
    d_x = d_hidden @ weights["hidden"][:-1].T * kept[0]
    d_words = d_x[:, : len(NEIGHBORS) * (DIM + FEATURES)]
    d_words = d_words.reshape(n, len(NEIGHBORS), -1)[:, :, :DIM]
    embedding = np.zeros_like(weights["embedding"])
    np.add.at(embedding, batch["rows"], d_words)
    return loss, {
        "embedding": embedding,
        "hidden": np.concatenate([x.T @ d_hidden, d_hidden.sum(axis=0, keepdims=True)]),
        "output": np.concatenate([hidden.T @ p, p.sum(axis=0, keepdims=True)]),
        "count": (p * np.where(batch["may"] > 0, batch["logs"], 0)).sum(keepdims=True)[0],
    }
