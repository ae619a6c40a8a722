"""Learn an encoder from a corpus without labels: it says which word the target was.

A target is hidden, or averaged with another word: a pseudoword. The encoder's output is compared
with the static vectors of the right word and of many others by a softmax (sampled softmax, Jean et
al. 2015), so that the output becomes a vector among the static ones. Some sentences are spliced:
half of the words speak about something else.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ctxembed.attention.encoder import Bools, Encoder, Ints, Targets, encode
from ctxembed.attention.layer import Gradients, Parameters
from ctxembed.attention.training.learning import Adam, blend, check_occurrences
from ctxembed.attention.training.objective import normalise, normalise_backward
from ctxembed.attention.training.pseudowords import Occurrences, Sampler
from ctxembed.stats.vectors import Floats

CHUNKS = 6  # of a batch, by length of the sentences
CHECKS = 4  # batches of held-out sentences
NUMBERS = ("step", "words", "seconds", "since")  # of a State


@dataclass(frozen=True)
class Settings:
    """How to learn; the values were chosen on development sentences."""

    words: int = 40_000_000  # of sentences that are run through the encoder
    minutes: float | None = None
    sentences: int = 160  # of a batch
    hidden: float = 0.35  # share of the targets that are hidden; the others are averaged
    spliced: float = 0.6  # share of the sentences with a clause of another sentence
    targets: float = 0.45  # share of the words that are targets; less of the frequent ones
    frequent: float = 1e-4  # relative frequency above which a word is a target less often
    negatives: int = 1500  # words that the right one is compared with
    rate: float = 1e-3
    window: int = 20  # words each side of the middle
    average: float = 0.999  # decay of the running mean of the parameters, which is what is kept
    report_every: int = 20  # steps
    check_every: int = 100
    patience: int = 8  # checks without improvement before stopping
    fewest: int = 20  # occurrences that some words must have


class Score(NamedTuple):
    """How well the words of sentences are told from others."""

    loss: float
    hidden: float  # how often the right word is first among the candidates, of hidden targets
    averaged: float  # the same of targets that were averaged with another word


@dataclass(frozen=True)
class Report:
    """The progress of learning; `best` is the best encoder so far, so one may stop at any time."""

    done: float  # of the whole run
    step: int
    words: int
    loss: float  # mean since the last report
    first: Score  # before learning, on the held-out part
    best_score: Score
    best: Encoder
    why: str = ""  # why it ended, on the last report

    @property
    def improved(self) -> bool:
        """Whether `best` is better than the encoder that learning began with."""
        return self.best_score != self.first


@dataclass
class State:
    """All that learning needs to go on after a stop; `arrays` and `numbers` are what to save."""

    now: Encoder
    mean: Encoder  # running mean
    best: Encoder
    rng: np.random.Generator
    adam: Adam = field(default_factory=lambda: Adam(0.0, 1.0, {}))
    scores: tuple[Score, Score] | None = None  # the first and the best; None before learning
    step: int = 0
    words: int = 0
    seconds: float = 0.0
    since: int = 0  # checks without improvement

    @classmethod
    def start(cls, encoder: Encoder, rng: np.random.Generator) -> "State":
        """Return the state before the first step."""
        return cls(encoder, encoder, encoder, rng)

    def arrays(self) -> Gradients:
        """Return every array by name."""
        parts = {part: getattr(self, part).parameters() for part in ("now", "mean", "best")}
        parts |= {"first": self.adam.first, "second": self.adam.second}
        return {f"{part} {key}": parts[part][key] for part in parts for key in parts[part]}

    def numbers(self) -> dict[str, Any]:
        """Return everything else, as JSON can hold it."""
        kept = {name: getattr(self, name) for name in NUMBERS}
        rng = self.rng.bit_generator.state
        return {**kept, "scores": self.scores, "adam": self.adam.step, "rng": rng}

    def restore(self, arrays: Parameters, numbers: Mapping[str, Any]) -> None:
        """Set every array and number to those that were saved."""
        groups: dict[str, Gradients] = {"first": {}, "second": {}}
        for key, array in arrays.items():
            part, name = key.split(" ")
            groups.setdefault(part, {})[name] = array
        self.now, self.mean, self.best = (
            self.now.updated(groups[part]) for part in ("now", "mean", "best")
        )
        self.adam = Adam(0.0, 1.0, {}, groups["first"], groups["second"], numbers["adam"])
        self.rng.bit_generator.state = numbers["rng"]
        first, best = numbers["scores"]
        self.scores = Score(*first), Score(*best)
        for name in NUMBERS:
            setattr(self, name, numbers[name])


@dataclass(frozen=True)
class HiddenWords:
    """Draws sentences and targets from one part of a corpus."""

    x: Floats  # (V, d) static vectors, centred and of length 1
    sampler: Sampler
    cumulative: Floats  # (V,) of the words' chances to be a negative
    keep: Floats  # (V,) how often a word is a target, relative to the rare ones
    begin: int  # of the part of the corpus that is drawn from
    end: int
    settings: Settings

    @classmethod
    def of(cls, x: Floats, part: Occurrences, settings: Settings) -> "HiddenWords":
        """Return what draws from these occurrences."""
        counts, words = part.counts(), np.arange(len(x))
        sampler = Sampler(part, np.zeros(len(x), np.intp), words[:, None], window=settings.window)
        there = counts > 0
        begin = int(part.positions[part.first[there]].min())
        end = int(part.positions[part.last[there] - 1].max()) + 1
        keep = np.minimum(1, np.sqrt(settings.frequent / (counts / counts.sum() + 1e-12)))
        return cls(x, sampler, np.cumsum(counts**0.75), keep, begin, end, settings)

    def draw(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Return sentences (N, T) of ids, 0 after the end, and their lengths (N,)."""
        s = self.settings
        at = self.begin + (rng.random((2, s.sentences)) * (self.end - self.begin)).astype(np.int64)
        cut = rng.random(s.sentences) < s.spliced
        sentences, _, length = self.sampler.assemble(at[0], at[1], cut, rng)
        return sentences, length

    def run(
        self, encoder: Encoder, sentences: Ints, length: Ints, rng: np.random.Generator,
        backward: bool = True,
    ) -> tuple[Score, Gradients]:  # fmt: skip
        """Return the score of one batch of sentences, and gradients if wanted."""
        s = self.settings
        inside = np.arange(sentences.shape[1]) < length[:, None]
        chosen = rng.random(sentences.shape) < s.targets * self.keep[sentences]
        rows, columns = np.nonzero(inside & chosen)
        words = sentences[rows, columns]  # (n,)
        drawn = np.searchsorted(self.cumulative, rng.random(s.negatives) * self.cumulative[-1])
        candidates, label = np.unique(np.concatenate([words, drawn]), return_inverse=True)
        mix = rng.beta(3, 3, (len(words), 1)).astype(self.x.dtype)
        other = words[rng.permutation(len(words))]
        shared, _ = normalise(mix * self.x[words] + (1 - mix) * self.x[other])
        hidden = rng.random(len(words)) < s.hidden
        total, right, gradients = 0.0, np.zeros(len(words), bool), Gradients()
        for part in np.array_split(np.argsort(length, kind="stable"), CHUNKS):
            number = np.full(len(sentences), -1)
            number[part] = np.arange(len(part))
            own = np.flatnonzero(number[rows] >= 0)
            size = int(length[part].max(initial=1))
            targets = Targets(number[rows[own]], columns[own], hidden[own])
            x = self.x[sentences[part, :size]]
            x[targets.rows, targets.columns] = shared[own]
            result = encode(encoder, x, inside[part, :size], targets)
            loss, right[own], d_output, d_scale = compare_words(
                result.output, encoder.scale, self.x[candidates], label[own], max(1, len(words))
            )
            total += loss
            if backward:
                for name, gradient in {**result.backward(d_output), "scale": d_scale}.items():
                    gradients[name] = gradients[name] + gradient if name in gradients else gradient
        accuracy = (float(right[kind].mean()) if kind.any() else 0.0 for kind in (hidden, ~hidden))
        return Score(total, *accuracy), gradients


def compare_words(
    output: Floats, scale: Floats, candidates: Floats, label: Ints, total: int
) -> tuple[float, Bools, Floats, Floats]:
    """Return loss, which answers are right (n,), and the gradients of output (n, d) and scale (1,).

    loss: Σ -log softmax(e^scale · cosine(output, candidates))[label] / total. candidates: (C, d).
    """
    vectors, lengths = normalise(output)
    factor = np.exp(scale[0])
    cosines = vectors @ candidates.T  # (n, C)
    logits = factor * cosines
    logits -= logits.max(axis=1, keepdims=True)
    right = logits.argmax(axis=1) == label
    rows = np.arange(len(label))
    at = logits[rows, label]
    np.exp(logits, out=logits)
    sums = logits.sum(axis=1, keepdims=True)
    loss = float((np.log(sums[:, 0]) - at).sum()) / total
    logits /= sums
    logits[rows, label] -= 1
    logits /= total  # the gradient of the logits
    d_scale = np.array([factor * float((logits * cosines).sum())], scale.dtype)
    d_output = normalise_backward(vectors, lengths, factor * (logits @ candidates))
    return loss, right, d_output, d_scale


def learn(
    x: Floats, state: State, seen: Occurrences, held_out: Occurrences, settings: Settings,
    seed: int,
) -> Iterator[Report]:  # fmt: skip
    """Yield a report now and then; the last one holds the encoder to keep. x: (V, d).

    state: changes with every step; with the state of an earlier run, learning goes on from there.
    """
    s, rng, losses = settings, state.rng, list[float]()
    check_occurrences(seen, held_out, s.fewest)
    source, check = (HiddenWords.of(x, part, s) for part in (seen, held_out))
    fixed = np.random.default_rng(seed + 1)
    tests = [(check.draw(fixed), int(fixed.integers(1 << 32))) for _ in range(CHECKS)]

    def validate(encoder: Encoder) -> Score:
        seeded = ((*batch, np.random.default_rng(own)) for batch, own in tests)
        runs = [check.run(encoder, *test, backward=False)[0] for test in seeded]
        return Score(*np.mean(runs, axis=0).tolist())

    def report(why: str = "") -> Report:
        loss = float(np.mean(losses)) if losses else first.loss
        return Report(done, state.step, state.words, loss, first, best_score, state.best, why)

    if state.scores is None:
        state.scores = (validate(state.best),) * 2
    first, best_score = state.scores
    done, begun = 0.0, time.monotonic() - state.seconds
    state.adam.rate = s.rate
    yield report()
    while True:
        sentences, length = source.draw(rng)
        score, gradients = source.run(state.now, sentences, length, rng)
        if not all(np.isfinite(g).all() for g in gradients.values()):
            yield report("not a number")
            return
        losses.append(score.loss)
        state.step, state.words = state.step + 1, state.words + int(length.sum())
        state.seconds = time.monotonic() - begun
        done = state.words / s.words
        if s.minutes is not None:
            done = max(done, state.seconds / 60 / s.minutes)
        done = min(1.0, done)
        rate = min(1.0, state.step / 200) * max(0.02, 1 - done)
        state.now = state.now.updated(state.adam.update(state.now.parameters(), gradients, rate))
        share = 1 - min(s.average, state.step / (state.step + 10))
        mean = blend(state.mean.parameters(), state.now.parameters(), share)
        state.mean, why = state.mean.updated(mean), "finished" if done >= 1 else ""
        if state.step % s.check_every == 0 or why:
            score = validate(state.mean)
            state.since += 1
            if score.loss < best_score.loss - 1e-4:
                state.best, best_score, state.since = state.mean, score, 0
                state.scores = first, best_score
            why = why or ("no improvement" if state.since >= s.patience else "")
        if state.step % s.report_every == 0 or why:
            yield report(why)
            losses.clear()
        if why:
            return
