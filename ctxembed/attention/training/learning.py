"""Learn the layer from a corpus without labels: Adam on pseudowords, validated on held-out text."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import Attended, attend
from ctxembed.attention.layer import Gradients, Layer, Parameters
from ctxembed.attention.terms import Walls
from ctxembed.attention.training.objective import Score, Weights, normalise, unaverage
from ctxembed.attention.training.pseudowords import (
    Batch,
    Ints,
    Occurrences,
    Sampler,
    families,
    place_classes,
)
from ctxembed.errors import CorpusError
from ctxembed.stats.vectors import Floats

FEWEST_WORDS = 20  # that must occur often enough
FEWEST_HELD_OUT = 4  # occurrences of each in the held-out part
RATES = {"distance": 3.0, "word": 3.0, "wall": 10.0, "own": 0.0}  # how fast, beside the matrices


class NothingToLearn(CorpusError):
    """The corpus is too small, or its words do not repeat; the model answers without it."""


@dataclass(frozen=True)
class Settings:
    """How to learn; the values were chosen on held-out pseudowords and labelled training data."""

    heads: int = 4
    reach: int = 24  # the furthest distance that has its own position bias
    positions: bool = True  # whether the position bias is learned, or stays a decay by head
    steps: int = 4000
    minutes: float | None = None
    pairs: int = 32  # pseudowords in a batch
    rate: float = 1e-3
    clip: float = 1.0
    check_every: int = 100
    patience: int = 8  # checks without improvement before stopping
    mix: float = 1.5  # how close to one half the share of each word in its pseudoword stays
    average: float = 0.995  # decay of the running mean of the parameters, which is what is kept
    keep: float = 0.5  # how much of the word's own share while learning stays in what is kept
    classes: int = 32  # groups of words that take the same place in a sentence
    relatives: int = 8  # near words that stand for the same sense
    fewest: int = 20  # occurrences that a word must have to be in a pseudoword
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Report:
    """How far it is; `best` holds the best validated so far, so a reader may stop at any time."""

    done: float  # of the whole run
    step: int
    loss: float
    first: Score  # before learning, on the held-out part
    best_score: Score
    best: Layer
    why: str = ""  # why it ended, on the last report


def learn(
    x: Floats,
    begin: Callable[[np.random.Generator], Layer],
    seen: Occurrences,
    held_out: Occurrences,
    settings: Settings,
    seed: int,
) -> Iterator[Report]:
    """Yield a report after every check; the last one holds the layer to keep.

    x: (V, d) centred static vectors of length 1. begin makes the layer to start from.
    """
    s = settings
    rng = np.random.default_rng(seed)
    for part, fewest in ((seen, s.fewest), (held_out, FEWEST_HELD_OUT)):
        number = int((part.counts() >= fewest).sum())
        if number < FEWEST_WORDS:
            raise NothingToLearn(
                f"there is nothing to learn attention from: only {number} words occur {fewest}"
                f" times in the {'part to learn from' if part is seen else 'held-out part'};"
                f" {FEWEST_WORDS} are needed. General attention answers in its place"
            )
    classes = place_classes(seen, rng, s.classes)
    family = families(x, seen, s.relatives)
    train = Sampler(seen, classes, family, window=s.reach, fewest=s.fewest)
    alone = np.arange(len(classes))[:, None]  # validation is on single words
    check = Sampler(held_out, classes, alone, window=s.reach, fewest=FEWEST_HELD_OUT)
    chances, check_chances = train.chances(), check.chances()
    fixed = np.random.default_rng(seed + 1)
    tests = [check.draw(check_chances, s.pairs, fixed) for _ in range(12)]

    def validate(layer: Layer) -> Score:
        scores = []
        for test in tests:
            half = np.full((len(test.pairs), 2), 0.5, x.dtype)
            scores.append(run_batch(layer, x, test, check.plain, half, s.weights)[0])
        return Score(*(float(np.mean([getattr(n, k) for n in scores])) for k in vars(scores[0])))

    def kept(layer: Layer) -> Layer:
        return replace(layer, own=s.keep * layer.own)

    origin = begin(rng)
    best = kept(origin)
    now = mean = origin.parameters()
    first = best_score = validate(best)
    since, losses, clock = 0, [first.loss], time.monotonic()
    adam = Adam(s.rate, s.clip, {**RATES, **({} if s.positions else {"distance": 0.0})})
    yield Report(0.0, 0, first.loss, first, best_score, best)
    for step in range(1, s.steps + 1):
        done = step / s.steps
        if s.minutes is not None:
            done = max(done, (time.monotonic() - clock) / 60 / s.minutes)
        batch = train.draw(chances, s.pairs, rng)
        if len(batch.pairs) > 1:
            mix = rng.dirichlet([s.mix, s.mix], len(batch.pairs)).astype(x.dtype)
            score, gradients = run_batch(origin.updated(now), x, batch, train.plain, mix, s.weights)
            if not all(np.isfinite(g).all() for g in gradients.values()):
                yield Report(1.0, step, score.loss, first, best_score, best, "not a number")
                return
            now = adam.update(now, gradients, min(1.0, step / 50) * max(0.02, 1 - done))
            now[Walls.name] = np.maximum(now[Walls.name], 0)  # what is behind one is never nearer
            mean = blend(mean, now, 1 - min(s.average, step / (step + 10)))
            losses.append(score.loss)
        if step % s.check_every == 0 or done >= 1:
            settled = kept(origin.updated(mean))
            validation = validate(settled)
            since += 1
            if validation.loss < best_score.loss - 1e-4:
                best, best_score, since = settled, validation, 0
            why = "finished" if done >= 1 else "no improvement" if since >= s.patience else ""
            recent = float(np.mean(losses[-s.check_every :]))
            yield Report(min(1.0, done), step, recent, first, best_score, best, why)
            if why:
                return


@dataclass(frozen=True)
class Examples:
    """Occurrences to learn from; a span stands in its sentence as one word."""

    ids: Ints  # (n, T) rows of the vocabulary, 0 behind the end
    length: Ints  # (n,) words of each sentence
    target: Ints  # (n,) place of the target
    own: Floats  # (n, d) mean of the target's vectors
    label: NDArray[np.intp]  # (n,) what is learned of each

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: NDArray[np.intp]) -> "Examples":
        """Keep some rows, no wider than they need be."""
        length = self.length[rows]
        ids = self.ids[rows][:, : int(length.max(initial=1))]
        return Examples(ids, length, self.target[rows], self.own[rows], self.label[rows])

    def known(self) -> NDArray[np.bool_]:
        """(n, T) False behind the end of a sentence."""
        return np.arange(self.ids.shape[1]) < self.length[:, None]


def attend_examples(
    layer: Layer, x: Floats, some: Examples, known: NDArray[np.bool_] | None = None
) -> Attended:
    """Run the layer for the targets; `known` (n, T) may hide words."""
    read = x[some.ids]  # (n, T, d)
    read[np.arange(len(some)), some.target] = some.own
    known = some.known() if known is None else known
    return attend(layer, read, some.ids, queries=some.target.astype(np.intp), mask=known)


def run_batch(
    layer: Layer,
    x: Floats,
    batch: Batch,
    plain: int,
    mix: Floats,
    weights: Weights,
    chunks: int = 4,
) -> tuple[Score, Gradients]:
    """Return loss and gradients of a batch; sentences are padded among others of their length."""
    pairs, number, dim = len(batch.pairs), len(batch.sentences), x.shape[1]
    words = x[batch.pairs]  # (G, 2, d)
    shared, _ = normalise((mix[:, :, None] * words).sum(axis=1))  # (G, d) two words, one vector
    repeats = number // (2 * pairs)  # of each word
    own = np.repeat(shared, 2 * repeats, axis=0)  # (N, d)
    output = np.empty_like(own)
    parts = []
    flat = batch.pairs.ravel()
    label = np.repeat(np.arange(2 * pairs), repeats)  # (N,)
    some = Examples(batch.sentences, batch.length, batch.target, own, label)
    for rows in np.array_split(np.argsort(batch.length, kind="stable"), chunks):
        part = attend_examples(layer, x, some.take(rows))
        output[rows] = part.output[:, 0]
        parts.append((rows, part))
    score, d_output = unaverage(
        output.reshape(pairs, 2, -1, dim), words, flat[:, None] == flat, plain, weights
    )
    d_output = d_output.reshape(number, 1, dim)
    gradients: Gradients = {}
    for rows, part in parts:
        for name, gradient in part.backward(d_output[rows]).items():
            gradients[name] = gradients[name] + gradient if name in gradients else gradient
    return score, gradients


@dataclass
class Adam:
    """Kingma and Ba's optimiser; the gradient as a whole is clipped to length `clip` first."""

    rate: float
    clip: float
    rates: dict[str, float]  # a factor for some parameters
    first: Gradients = field(default_factory=dict)
    second: Gradients = field(default_factory=dict)
    step: int = 0

    def update(self, parameters: Parameters, gradients: Gradients, scale: float) -> Gradients:
        """Take one step at rate · scale."""
        self.step += 1
        size = np.sqrt(sum(float(np.square(g, dtype=np.float64).sum()) for g in gradients.values()))
        shrink = min(1.0, self.clip / (float(size) + 1e-12))
        new = {}
        for name, gradient in gradients.items():
            g = gradient * gradient.dtype.type(shrink)
            m = self.first[name] = 0.9 * self.first.get(name, np.zeros_like(g)) + 0.1 * g
            s = self.second[name] = 0.99 * self.second.get(name, np.zeros_like(g)) + 0.01 * g * g
            rate = self.rate * scale * self.rates.get(name, 1.0)
            move = rate * (m / (1 - 0.9**self.step)) / (np.sqrt(s / (1 - 0.99**self.step)) + 1e-8)
            new[name] = (parameters[name] - move).astype(g.dtype)
        return new


def blend(one: Parameters, other: Parameters, share: float) -> Gradients:
    """Go the given share of the way from one set of parameters to another."""
    return {
        name: ((1 - share) * array + share * other[name]).astype(array.dtype)
        for name, array in one.items()
    }
