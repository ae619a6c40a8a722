"""Fit attention to a labelled task: the layer of `trained` under the head of `head`.

loss = cross-entropy + decay |head|² + pull |parameters - start|²
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.learning import Adam, blend
from ctxembed.attention.scores import softmax
from ctxembed.attention.task_head import classify, gates, read
from ctxembed.attention.trained import Gradients, Parameters, Words, forward
from ctxembed.static.space import Floats

WHOLE, ASIDE = 2.0, 0.1  # how much of the sentence and of the next words comes in before fitting
RATES = {"position": 3.0, "b_f": 3.0, "own": 3.0, "wall": 100.0, "head": 20.0}


@dataclass(frozen=True)
class Settings:
    """How to fit; chosen on parts of the training data."""

    epochs: int = 30
    steps: int = 20  # batches an epoch, of 16 sentences at least and 128 at most
    rate: float = 1e-3
    clip: float = 1.0
    decay: float = 0.6  # of the head towards nothing, divided by the number of sentences
    pull: float = 0.2  # of the attention towards its start, likewise
    drop: float = 0.1  # share of the context words hidden at each step
    patience: int = 8  # epochs without improvement before stopping
    average: float = 0.98  # decay of the running mean of the parameters, which is what is kept


@dataclass(frozen=True)
class Examples:
    """Labelled occurrences; a span stands in its sentence as one word."""

    ids: NDArray[np.int32]  # (n, T) rows of the vocabulary, padded with its size
    target: NDArray[np.intp]  # (n,) place of the target
    own: Floats  # (n, d) mean of the target's vectors
    label: NDArray[np.intp]  # (n,)
    blank: int  # the row that stands for "no word"

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: NDArray[np.intp]) -> "Examples":
        """Keep some rows, no wider than they need be."""
        ids = self.ids[rows]
        width = int((ids != self.blank).sum(axis=1).max(initial=1))
        return Examples(
            ids[:, :width], self.target[rows], self.own[rows], self.label[rows], self.blank
        )


@dataclass(frozen=True)
class Epoch:
    """What one pass over the examples came to."""

    number: int
    loss: float
    held_out_loss: float
    held_out_accuracy: float
    best: bool
    parameters: Parameters


def add_heads(parameters: Parameters, rng: np.random.Generator) -> dict[str, Floats]:
    """Add three plain heads: the whole sentence, the word to the left, the word to the right.

    Heads that look for a topic pass over small words and over all that is off the topic, which a
    task may need; fitting says how much of it.
    """
    old = parameters
    _, asking, size = old["w_q"].shape
    dim, inner, reach = old["w_k"].shape[1], old["w_v"].shape[2], old["position"].shape[1] // 2
    far = np.arange(-reach, reach + 1)
    slope = -2.0 * (np.abs(far) - 1)
    places = [0.0 * far, np.where(far < 0, slope, slope - 10), np.where(far > 0, slope, slope - 10)]

    def noise(*shape: int) -> Floats:
        return 0.01 * rng.standard_normal(shape)

    share = np.array([WHOLE, ASIDE, ASIDE])[:, None, None]
    new = {
        "w_q": noise(3, asking, size),
        "w_k": noise(3, dim, size),
        "w_v": np.eye(dim, inner) + noise(3, dim, inner),
        "w_o": share * np.eye(inner, dim) + noise(3, inner, dim),
        "b_q": np.zeros((3, size)),
        "b_f": np.zeros((3, old["b_f"].shape[1])),
        "position": np.stack(places),
        "wall": np.zeros(3),
    }
    joined = {name: np.concatenate([old[name], array]) for name, array in new.items()}
    return {name: a.astype(old["w_q"].dtype) for name, a in (joined | {"own": old["own"]}).items()}


def run_task(
    parameters: Parameters,
    begin: Parameters,
    table: Words,
    anchors: Floats,
    some: Examples,
    settings: Settings,
    known: NDArray[np.bool_] | None = None,
) -> tuple[float, NDArray[np.intp], Gradients]:
    """Return loss, labels given and gradients of a batch; `known` (B, T) may hide words."""
    known = some.ids != some.blank if known is None else known
    output, backward = forward(parameters, table.take(some.ids), some.own, some.target, known)
    gate = gates(some.own, anchors)
    head = parameters["head"]
    loss, given, d_head, d_output = classify(head, output, some.own, gate, some.label)
    gradients = backward(d_output)
    loss += settings.decay * float((head * head).sum())
    gradients["head"] = d_head + 2 * settings.decay * head
    for name, array in begin.items():
        if name != "head":
            away = parameters[name] - array
            loss += settings.pull * float((away * away).sum())
            gradients[name] = gradients[name] + 2 * settings.pull * away
    return loss, given, gradients


def logits(parameters: Parameters, table: Words, anchors: Floats, some: Examples) -> Floats:
    """Return (n, C), in batches of about one length."""
    made = np.zeros((len(some), parameters["head"].shape[1]), table.x.dtype)
    order = np.argsort((some.ids != some.blank).sum(axis=1), kind="stable")
    for rows in np.array_split(order, max(1, len(order) // 256)):
        part = some.take(rows)
        output, _ = forward(
            parameters, table.take(part.ids), part.own, part.target, part.ids != part.blank
        )
        made[rows] = read(parameters["head"], output, part.own, gates(part.own, anchors))
    return made


def fit(
    begin: Parameters,
    table: Words,
    anchors: Floats,
    seen: Examples,
    held_out: Examples | None,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[Epoch]:
    """Yield each epoch; without a held-out part the last one is the one to keep."""
    s = replace(settings, decay=settings.decay / len(seen), pull=settings.pull / len(seen))
    adam = Adam(s.rate, s.clip, RATES)
    now: Parameters = begin
    mean, best, since, step = now, np.inf, 0, 0
    size = int(np.clip(len(seen) // s.steps, 16, 128))
    steps = s.epochs * -(-len(seen) // size)
    for number in range(1, s.epochs + 1):
        losses = []
        for rows in _shuffled(seen, size, rng):
            some = seen.take(rows)
            known = some.ids != some.blank
            hidden = known & (rng.random(known.shape) >= s.drop)
            known = np.where(hidden.sum(axis=1, keepdims=True) > 1, hidden, known)
            loss, _, gradients = run_task(now, begin, table, anchors, some, s, known)
            losses.append(loss)
            step += 1
            now = adam.update(now, gradients, min(1.0, step / 20) * max(0.05, 1 - step / steps))
            mean = blend(mean, now, 1 - min(s.average, step / (step + 10)))
        if held_out is None:
            yield Epoch(number, float(np.mean(losses)), np.nan, np.nan, True, mean)
            continue
        p = softmax(logits(mean, table, anchors, held_out).astype(np.float64))
        hit = p[np.arange(len(p)), held_out.label]
        loss = -float(np.log(np.maximum(hit, 1e-30)).mean())
        right = float((p.argmax(axis=1) == held_out.label).mean())
        better = loss < best - 1e-4
        best, since = (loss, 0) if better else (best, since + 1)
        yield Epoch(number, float(np.mean(losses)), loss, right, better, mean)
        if since >= s.patience:
            return


def _shuffled(seen: Examples, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Yield batches in a new order, each of sentences of about one length."""
    length = (seen.ids != seen.blank).sum(axis=1) + 4 * rng.random(len(seen))
    order = np.argsort(length)
    batches = np.array_split(order, -(-len(order) // size))
    for number in rng.permutation(len(batches)):
        yield batches[number]
