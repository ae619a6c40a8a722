"""Fit attention to a labelled task: a learned layer under the head of `task_head`.

loss = cross-entropy + decay |head|² + pull |parameters - start|²
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Gradients, Layer, Parameters
from ctxembed.attention.scores import softmax
from ctxembed.attention.terms import Distance
from ctxembed.attention.training.learning import Adam, Examples, attend_examples, blend
from ctxembed.attention.training.task_head import classify, gates, logits
from ctxembed.stats.vectors import Floats

OUTPUT = np.array([2.0, 0.1, 0.1])  # scale of W_O of the three new heads before fitting
RATES = {"distance": 3.0, "word": 3.0, "own": 3.0, "wall": 100.0, "head": 20.0}


@dataclass(frozen=True)
class FitSettings:
    """How to fit; chosen on parts of the training data."""

    epochs: int = 30
    steps: int = 20  # batches an epoch, of 16 sentences at least and 128 at most
    rate: float = 1e-3
    clip: float = 1.0
    decay: float = 0.6  # of the head towards 0, divided by the number of sentences
    pull: float = 0.2  # of the attention towards its start, likewise
    drop: float = 0.1  # share of the context words hidden at each step
    patience: int = 8  # epochs without improvement before stopping
    average: float = 0.98  # decay of the running mean of the parameters, which is what is kept


@dataclass(frozen=True)
class Epoch:
    """The result of one pass over the examples."""

    number: int
    loss: float
    held_out_loss: float
    held_out_accuracy: float
    best: bool
    layer: Layer
    task_head: Floats


def add_heads(layer: Layer, rng: np.random.Generator) -> Layer:
    """Return the layer with three more heads: the whole sentence, the word left, the word right.

    Learned heads look for a topic and skip function words, which a task may need; fitting decides
    how much of them comes in. Of the terms only distance acts on the new heads.
    """
    old = layer.parameters()
    (_, query_dim, size), (dim, inner) = old["w_q"].shape, old["w_v"].shape[1:]
    far = np.arange(-(old[Distance.name].shape[1] // 2), old[Distance.name].shape[1] // 2 + 1)
    slope = -2.0 * (np.abs(far) - 1)  # the nearest word on one side, with the other side 10 lower

    def noise(*shape: int) -> Floats:
        return 0.01 * rng.standard_normal(shape)

    new = {name: np.zeros((3, *array.shape[1:])) for name, array in old.items() if name != "own"}
    new |= {
        "w_q": noise(3, query_dim, size),
        "w_k": noise(3, dim, size),
        "w_v": np.eye(dim, inner) + noise(3, dim, inner),
        "w_o": OUTPUT[:, None, None] * np.eye(inner, dim) + noise(3, inner, dim),
        Distance.name: np.stack([0.0 * far, slope - 10 * (far >= 0), slope - 10 * (far <= 0)]),
    }
    joined = {}
    for name, array in new.items():
        before = np.broadcast_to(old[name], (layer.heads, *array.shape[1:]))  # may be 1 for all
        joined[name] = np.concatenate([before, array]).astype(old["w_q"].dtype)
    return replace(layer.updated(joined), heads=layer.heads + 3)


def run_task(
    layer: Layer, task_head: Floats, origin: Parameters, x: Floats, anchors: Floats,
    batch: Examples, settings: FitSettings, mask: NDArray[np.bool_] | None = None,
) -> tuple[float, NDArray[np.intp], Gradients]:  # fmt: skip
    """Return loss, predicted labels and gradients of a batch; `mask` (n, T) may hide words.

    x: (V, d) the vectors of the task's words. origin: the layer's parameters before fitting.
    """
    attended = attend_examples(layer, x, batch, mask)
    z, gate = attended.output[:, 0], gates(batch.own, anchors)
    loss, predicted, d_task_head, d_output = classify(task_head, z, batch.own, gate, batch.label)
    gradients = attended.backward(d_output[:, None])
    loss += settings.decay * float((task_head * task_head).sum())
    now = layer.parameters()
    for name, array in origin.items():
        away = now[name] - array
        loss += settings.pull * float((away * away).sum())
        gradients[name] = gradients[name] + 2 * settings.pull * away
    gradients["head"] = d_task_head + 2 * settings.decay * task_head
    return loss, predicted, gradients


def task_logits(
    layer: Layer, task_head: Floats, x: Floats, anchors: Floats, examples: Examples
) -> Floats:
    """Return logits (n, C), computed in batches of similar length."""
    result = np.zeros((len(examples), task_head.shape[1]), x.dtype)
    order = np.argsort(examples.length, kind="stable")
    for rows in np.array_split(order, max(1, len(order) // 256)):
        part = examples.take(rows)
        output = attend_examples(layer, x, part).output[:, 0]
        result[rows] = logits(task_head, output, part.own, gates(part.own, anchors))
    return result


def fit(
    begin: Layer, labels: int, x: Floats, anchors: Floats, seen: Examples,
    held_out: Examples | None, settings: FitSettings, rng: np.random.Generator,
) -> Iterator[Epoch]:  # fmt: skip
    """Fit layer and head to a task; yield each epoch's loss and weights. Keep the best or last."""
    s = replace(settings, decay=settings.decay / len(seen), pull=settings.pull / len(seen))
    adam = Adam(s.rate, s.clip, RATES)
    origin = begin.parameters()
    blank = np.zeros((1 + len(anchors), labels, 2 * x.shape[1] + 1), np.float32)
    now: Gradients = {**origin, "head": blank}

    def with_parameters(parameters: Gradients) -> tuple[Layer, Floats]:
        layer = begin.updated({name: parameters[name] for name in origin})
        return layer, parameters["head"]

    mean, best, since, step = now, np.inf, 0, 0
    size = int(np.clip(len(seen) // s.steps, 16, 128))
    steps = s.epochs * -(-len(seen) // size)
    for number in range(1, s.epochs + 1):
        losses = []
        order = np.argsort(seen.length + 4 * rng.random(len(seen)))  # batches of similar length
        batches = np.array_split(order, -(-len(order) // size))
        for chosen in rng.permutation(len(batches)):
            batch = seen.take(batches[chosen])
            mask = batch.mask()
            hidden = mask & (rng.random(mask.shape) >= s.drop)
            mask = np.where(hidden.sum(axis=1, keepdims=True) > 1, hidden, mask)
            layer, task_head = with_parameters(now)
            loss, _, gradients = run_task(layer, task_head, origin, x, anchors, batch, s, mask)
            losses.append(loss)
            step += 1
            now = adam.update(now, gradients, min(1.0, step / 20) * max(0.05, 1 - step / steps))
            mean = blend(mean, now, 1 - min(s.average, step / (step + 10)))
        layer, task_head = with_parameters(mean)
        if held_out is None:
            yield Epoch(number, float(np.mean(losses)), np.nan, np.nan, True, layer, task_head)
            continue
        p = softmax(task_logits(layer, task_head, x, anchors, held_out).astype(np.float64))
        hit = p[np.arange(len(p)), held_out.label]
        loss = -float(np.log(np.maximum(hit, 1e-30)).mean())
        right = float((p.argmax(axis=1) == held_out.label).mean())
        better = loss < best - 1e-4
        best, since = (loss, 0) if better else (best, since + 1)
        yield Epoch(number, float(np.mean(losses)), loss, right, better, layer, task_head)
        if since >= s.patience:
            return
