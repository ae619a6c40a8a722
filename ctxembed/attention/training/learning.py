"""Learn a layer from a corpus without labels: Adam on pseudowords, validated on held-out text."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import AttentionResult, attend
from ctxembed.attention.layer import Gradients, Layer, Parameters
from ctxembed.attention.recurrent import AnyLayer, Recurrent, read_sentences
from ctxembed.attention.terms import Walls
from ctxembed.attention.training import pseudowords
from ctxembed.attention.training.objective import Score, Weights, normalise, unaverage
from ctxembed.attention.training.pseudowords import Batch, Ints, Occurrences, Sampler
from ctxembed.errors import CorpusError
from ctxembed.stats.vectors import Floats
from ctxembed.storage.checkpoint import Checkpoint, restore_rng, rng_state

MIN_WORDS = 20  # that must occur often enough
CHUNKS = 4  # of a batch; one stays in a processor's cache
MIN_PARALLEL = 128  # sentences of a batch whose chunks are run by several cores
GAIN_CHECKS = 3  # in which too little was gained to go on
FADE = 0.25  # of the steps, at their end, in which the rate falls to nothing
MIN_HELD_OUT = 4  # occurrences of each in the held-out part
RATES = {"distance": 3.0, "word": 3.0, "wall": 10.0, "own": 0.0}  # factors; 1 for the matrices


class NothingToLearn(CorpusError):
    """The corpus is too small, or its words do not repeat."""


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
    quick: bool = False  # end where the held-out part gains little more
    gain: float = 0.01  # share of all that was gained; less in GAIN_CHECKS checks is little
    mix: float = 1.5  # how close to one half the share of each word in its pseudoword stays
    average: float = 0.995  # decay of the running mean of the parameters, which is what is kept
    keep: float = 0.5  # how much of the word's own share while learning stays in what is kept
    classes: int = 32  # groups of words with the same neighbors
    relatives: int = 8  # nearest words that stand for the same sense
    fewest: int = 20  # occurrences that a word must have to be in a pseudoword
    far: float = 0.0  # share of the whole occurrences whose context is moved behind filler
    spliced: int = 2  # occurrences of each word with a clause about the other word
    min_wall: float = 0.0  # of each head; a wall never brings words nearer
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Report:
    """The state of learning; `best` is the best layer so far, so one may stop at any time."""

    done: float  # of the whole run
    step: int
    loss: float
    first: Score  # before learning, on the held-out part
    best_score: Score
    best: AnyLayer
    curve: list[tuple[int, float, float]]  # step, loss, least held-out loss so far, at each check
    why: str = ""  # why it ended, on the last report
    earlier: float = 0.0  # seconds of interrupted runs that this one goes on from

    @property
    def improved(self) -> bool:
        """Whether `best` is better than the layer that learning began with."""
        return self.best_score is not self.first


def learn(
    x: Floats, begin: Callable[[np.random.Generator], AnyLayer], seen: Occurrences,
    held_out: Occurrences, settings: Settings, seed: int, checkpoint: Checkpoint | None = None,
) -> Iterator[Report]:  # fmt: skip
    """Yield a report after every check; the last one holds the layer to keep.

    x: (V, d) centred static vectors of length 1. begin: returns the layer to start from.
    checkpoint: where a run that is interrupted leaves its state; an earlier one is continued.
    """
    s, rng = settings, np.random.default_rng(seed)
    check_occurrences(seen, held_out, s.fewest)
    classes = pseudowords.word_classes(seen, rng, s.classes)
    relatives = pseudowords.nearest_words(x, seen, s.relatives)
    drawn: dict[str, Any] = {"window": s.reach, "far": s.far, "spliced": s.spliced}
    train = Sampler(seen, classes, relatives, min_count=s.fewest, **drawn)
    alone = np.arange(len(classes))[:, None]  # validation is on single words
    check = Sampler(held_out, classes, alone, min_count=MIN_HELD_OUT, **drawn)
    cumulative, check_cumulative = train.cumulative_weights(), check.cumulative_weights()
    fixed = np.random.default_rng(seed + 1)
    tests = [check.draw(check_cumulative, s.pairs, fixed) for _ in range(12)]

    half = np.full((s.pairs, 2), 0.5, x.dtype)  # of both words, in validation

    def validate(layer: AnyLayer) -> Score:
        runs = (run_batch(layer, x, t, check.plain, half[: len(t.pairs)], s.weights) for t in tests)
        parts = zip(*(astuple(score) for score, _ in runs), strict=True)
        return Score(*(float(np.mean(part)) for part in parts))

    def layer_to_keep(layer: AnyLayer) -> AnyLayer:
        return replace(layer, own=s.keep * layer.own)

    origin = begin(rng)
    now = mean = chosen = origin.parameters()
    first = best_score = validate(layer_to_keep(origin))
    step, since, end, earlier, losses = 0, 0, s.steps, 0.0, [first.loss]
    curve = [(0, first.loss, first.loss)]
    adam = Adam(s.rate, s.clip, RATES if s.positions else {**RATES, "distance": 0.0})
    checkpoint = checkpoint or Checkpoint()
    if state := checkpoint.load():
        now, mean, chosen = (state[key] for key in ("now", "mean", "chosen"))
        adam.first, adam.second = state["adam_first"], state["adam_second"]
        step, since, end, earlier = (state[key] for key in ("step", "since", "end", "seconds"))
        adam.step, losses = state["adam_step"], state["losses"].tolist()
        curve = [(int(at), loss, least) for at, loss, least in state["curve"].tolist()]
        best_score = Score(*state["best_score"].tolist()) if state["improved"] else first
        restore_rng(rng, state["rng"])
    clock = time.monotonic() - earlier

    def report(done: float, loss: float, why: str = "") -> Report:
        best = layer_to_keep(origin.updated(chosen) if best_score is not first else origin)
        return Report(done, step, loss, first, best_score, best, curve, why, earlier)

    yield report(step / end, curve[-1][1])
    while step < end:
        step += 1
        done = step / end
        if s.minutes is not None:
            done = max(done, (time.monotonic() - clock) / 60 / s.minutes)
        batch = train.draw(cumulative, s.pairs, rng)
        if len(batch.pairs) > 1:
            mix = rng.dirichlet([s.mix, s.mix], len(batch.pairs)).astype(x.dtype)
            score, gradients = run_batch(origin.updated(now), x, batch, train.plain, mix, s.weights)
            if not all(np.isfinite(g).all() for g in gradients.values()):
                yield report(1.0, score.loss, "not a number")
                return
            rate = min(1.0, (1 - done) / FADE) if s.quick else 1 - done
            now = adam.update(now, gradients, min(1.0, step / 50) * max(0.02, rate))
            if Walls.name in now:
                now[Walls.name] = np.maximum(now[Walls.name], s.min_wall)
            mean = blend(mean, now, 1 - min(s.average, step / (step + 10)))
            losses.append(score.loss)
        if step % s.check_every == 0 or done >= 1:
            validation = validate(layer_to_keep(origin.updated(mean)))
            since += 1
            if validation.loss < best_score.loss - 1e-4:
                chosen, best_score, since = mean, validation, 0
            finished = "finished" if end == s.steps else "little more to gain"
            why = finished if done >= 1 else "no improvement" if since >= s.patience else ""
            losses = losses[-s.check_every :]
            curve.append((step, float(np.mean(losses)), best_score.loss))
            if s.quick and end == s.steps and gains_little(curve, s.gain):
                end = min(end, round(step / (1 - FADE)))  # the rate falls from here on
            yield report(min(1.0, done), curve[-1][1], why)
            if why:
                return
            checkpoint.save({
                "now": now, "mean": mean, "chosen": chosen, "step": step, "since": since,
                "end": end,
                "adam_first": adam.first, "adam_second": adam.second, "adam_step": adam.step,
                "losses": losses, "curve": curve, "best_score": astuple(best_score),
                "improved": best_score is not first, "rng": rng_state(rng),
                "seconds": time.monotonic() - clock,
            })  # fmt: skip


def gains_little(curve: Sequence[tuple[int, float, float]], share: float) -> bool:
    """Return whether the last GAIN_CHECKS checks gained less than a share of all that was gained.

    curve: step, loss and least held-out loss at each check, the first before learning.

    >>> gains_little([(0, 9, 9.0), (1, 8, 5.0), (2, 7, 4.9), (3, 7, 4.85), (4, 6, 4.8)], 0.1)
    True
    """
    if len(curve) <= GAIN_CHECKS + 1:
        return False
    start, before, now = curve[0][2], curve[-1 - GAIN_CHECKS][2], curve[-1][2]
    return before - now <= share * (start - now)


def check_occurrences(seen: Occurrences, held_out: Occurrences, fewest: int) -> None:
    """Raise NothingToLearn if too few words occur often enough."""
    parts = ((seen, "part to learn from", fewest), (held_out, "held-out part", MIN_HELD_OUT))
    for part, name, times in parts:
        number = int((part.counts() >= times).sum())
        if number < MIN_WORDS:
            raise NothingToLearn(
                f"there is nothing to learn attention from: only {number} words occur {times} times"
                f" in the {name}; {MIN_WORDS} are needed. General attention is used instead"
            )


@dataclass(frozen=True)
class Examples:
    """Occurrences to learn from; a target of several words is one word of its sentence."""

    ids: Ints  # (n, T) rows of the vocabulary, 0 after the end
    length: Ints  # (n,) words of each sentence
    target: Ints  # (n,) position of the target
    own: Floats  # (n, d) mean of the target's vectors
    label: NDArray[np.intp]  # (n,)

    def __len__(self) -> int:
        return len(self.target)

    def take(self, rows: NDArray[np.intp]) -> "Examples":
        """Return some rows, no wider than the longest needs."""
        length = self.length[rows]
        ids = self.ids[rows][:, : int(length.max(initial=1))]
        return Examples(ids, length, self.target[rows], self.own[rows], self.label[rows])

    def mask(self) -> NDArray[np.bool_]:
        """(n, T) False after the end of a sentence."""
        return np.arange(self.ids.shape[1]) < self.length[:, None]


def attend_examples(
    layer: Layer, x: Floats, examples: Examples, mask: NDArray[np.bool_] | None = None
) -> AttentionResult:
    """Return the layer's result for the targets; `mask` (n, T) may hide words. x: (V, d)."""
    vectors = x[examples.ids]  # (n, T, d)
    vectors[np.arange(len(examples)), examples.target] = examples.own
    mask = examples.mask() if mask is None else mask
    queries = examples.target.astype(np.intp)
    return attend(layer, vectors, examples.ids, queries=queries, mask=mask)


def run_examples(
    layer: AnyLayer, x: Floats, examples: Examples
) -> tuple[Floats, Callable[[Floats], Gradients]]:
    """Return the vectors (n, d) of the targets, and what computes gradients from theirs."""
    if isinstance(layer, Recurrent):
        vectors = x[examples.ids]  # (n, T, d)
        vectors[np.arange(len(examples)), examples.target] = examples.own
        read = read_sentences(layer, vectors, examples.target, examples.mask())
        return read.output, read.backward
    attended = attend_examples(layer, x, examples)
    return attended.output[:, 0], lambda d_output: attended.backward(d_output[:, None])


def run_batch(
    layer: AnyLayer, x: Floats, batch: Batch, plain: int, mix: Floats, weights: Weights
) -> tuple[Score, Gradients]:
    """Return loss and gradients of a batch; `mix` (G, 2) is the part of each word in its pair."""
    pairs, number, dim = len(batch.pairs), len(batch.sentences), x.shape[1]
    words = x[batch.pairs]  # (G, 2, d)
    shared, _ = normalise((mix[:, :, None] * words).sum(axis=1))  # (G, d) two words, one vector
    repeats = number // (2 * pairs)  # of each word
    own = np.repeat(shared, 2 * repeats, axis=0)  # (N, d)
    output = np.empty_like(own)
    flat = batch.pairs.ravel()
    label = np.repeat(np.arange(2 * pairs), repeats)  # (N,)
    examples = Examples(batch.sentences, batch.length, batch.target, own, label)
    chunks = np.array_split(np.argsort(batch.length, kind="stable"), CHUNKS)
    on_cores = start_threads().map if number >= MIN_PARALLEL else map
    runs = list(on_cores(lambda rows: run_examples(layer, x, examples.take(rows)), chunks))
    for rows, (vectors, _) in zip(chunks, runs, strict=True):
        output[rows] = vectors
    same = flat[:, None] == flat
    score, d_output = unaverage(output.reshape(pairs, 2, -1, dim), words, same, plain, weights)
    d_output = d_output.reshape(number, dim)
    gradients: Gradients = {}
    by_chunk = on_cores(lambda run, rows: run[1](d_output[rows]), runs, chunks)
    for parts in by_chunk:  # in this order, so that the sum is the same with any number of cores
        for name, gradient in parts.items():
            gradients[name] = gradients[name] + gradient if name in gradients else gradient
    return score, gradients


@cache
def start_threads() -> ThreadPoolExecutor:
    """Return a thread for each core, at most one for each chunk: numpy lets them run together."""
    return ThreadPoolExecutor(max(1, min(CHUNKS, os.cpu_count() or 1)))


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
        """Return the parameters after one step at rate · scale."""
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
    """Return (1 - share) · one + share · other, parameter by parameter."""
    return {k: ((1 - share) * a + share * other[k]).astype(a.dtype) for k, a in one.items()}
