"""Gradient descent on a few sentences, every number of every step kept.

loss = mean over the training sentences of |output - wanted|²
W    = W - rate · dloss/dW          for W_Q, W_K and W_V
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxembed.attention.attend import AttentionResult, attend
from ctxembed.attention.layer import Gradients, Layer
from ctxembed.errors import CtxembedError
from ctxembed.stats.vectors import Floats

LEARNED = ("w_q", "w_k", "w_v")


@dataclass(frozen=True)
class Example:
    """The words of a sentence, the target among them, and the vector that it should get."""

    x: Floats  # (T, d)
    target: int
    wanted: Floats | None = None  # (d,); None for a sentence that is not trained on


@dataclass(frozen=True)
class Epoch:
    """The layer before an update, what it gives for every sentence, and the update."""

    number: int  # updates before this one
    layer: Layer
    results: Sequence[AttentionResult]  # one for each sentence, its target the only query
    loss: float
    gradients: Gradients  # w_q, w_k, w_v: (1, d, d)
    updated: Layer

    def output(self, sentence: int) -> Floats:
        """Return (d,) the contextual vector of a sentence's target."""
        return np.asarray(self.results[sentence].output[0, 0])


def random_head(dim: int, rng: np.random.Generator) -> Layer:
    """Return one head with W_Q, W_K, W_V ~ N(0, 1/d) and scores q·k / √d."""
    w_q, w_k, w_v = rng.normal(0, dim**-0.5, (3, 1, dim, dim))
    return Layer(1, w_q, w_k, w_v, scale=dim**-0.5)


def descend(layer: Layer, examples: Sequence[Example], rate: float, epochs: int) -> Iterator[Epoch]:
    """Yield every epoch from 0 to `epochs`; all sentences are one batch."""
    number = sum(example.wanted is not None for example in examples)
    for epoch in range(epochs + 1):
        results, loss = [], 0.0
        gradients = {name: np.zeros_like(layer.parameters()[name]) for name in LEARNED}
        with np.errstate(all="ignore"):  # a rate that is too large is reported below
            for example in examples:
                result = attend(layer, example.x[None], queries=np.array([example.target]))
                results.append(result)
                if example.wanted is not None:
                    error = result.output - example.wanted  # (1, 1, d)
                    loss += float((error**2).sum()) / number
                    part = result.backward(2 * error / number)
                    for name in LEARNED:
                        gradients[name] += part[name]
            old = layer.parameters()
            updated = layer.updated({name: old[name] - rate * gradients[name] for name in LEARNED})
        if not all(np.isfinite(updated.parameters()[name]).all() for name in LEARNED):
            raise CtxembedError(f"the loss grew without limit in epoch {epoch}; lower the rate")
        yield Epoch(epoch, layer, results, loss, gradients, updated)
        layer = updated
