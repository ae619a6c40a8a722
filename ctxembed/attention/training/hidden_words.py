"""Learn an encoder from a corpus without labels: it says which word the target was.

A target is hidden, or averaged with another word: a pseudoword. The encoder's output is compared
with the static vectors of the right word and of many others by a softmax (sampled softmax, Jean et
al. 2015), so that the output becomes a vector among the static ones. Some sentences are spliced:
half of the words speak about something else.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ctxembed.attention.encoder import Encoder, Ints, Targets, encode
from ctxembed.attention.layer import Gradients
from ctxembed.attention.training.learning import Adam, blend
from ctxembed.attention.training.objective import normalise, normalise_backward
from ctxembed.attention.training.pseudowords import Occurrences, Sampler
from ctxembed.stats.vectors import Floats

CHUNKS = 6  # of a batch, by length of the sentences


@dataclass(frozen=True)
class Settings:
    """How to learn; the values were chosen on development sentences."""

    words: int = 40_000_000  # of sentences that are run through the encoder
    sentences: int = 160  # of a batch
    hidden: float = 0.35  # share of the targets that are hidden; the others are averaged
    spliced: float = 0.5  # share of the sentences with a clause of another sentence
    targets: float = 0.45  # share of the words that are asked for; fewer of the frequent ones
    frequent: float = 1e-4  # relative frequency above which a word is asked for less often
    negatives: int = 1500  # words that the right one is compared with
    rate: float = 1e-3
    window: int = 20  # words each side of the middle
    average: float = 0.999  # decay of the running mean of the parameters, which is what is kept
    check_every: int = 200


@dataclass(frozen=True)
class Report:
    """The state of learning; `encoder` is the mean of the last ones."""

    done: float  # of the whole run
    step: int
    words: int
    loss: float
    accuracy: float  # how often the right word was first among the candidates
    encoder: Encoder


@dataclass(frozen=True)
class HiddenWords:
    """Draws sentences and targets from one part of a corpus."""

    x: Floats  # (V, d) static vectors, centred and of length 1
    sampler: Sampler
    cumulative: Floats  # (V,) of the words' chances to be a negative
    limit: int  # the end of the part of the corpus that is drawn from
    settings: Settings

    @classmethod
    def of(cls, x: Floats, seen: Occurrences, settings: Settings) -> "HiddenWords":
        """Return what draws from these occurrences."""
        words = np.arange(len(x))
        sampler = Sampler(seen, np.zeros(len(x), np.intp), words[:, None], window=settings.window)
        limit = int(seen.positions[seen.last[seen.last > seen.first] - 1].max()) + 1
        return cls(x, sampler, np.cumsum(seen.counts() ** 0.75), limit, settings)

    def draw(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Return sentences (N, T) of ids, 0 after the end, and their lengths (N,)."""
        s = self.settings
        at = (rng.random((2, s.sentences)) * self.limit).astype(np.int64)
        cut = rng.random(s.sentences) < s.spliced
        sentences, _, length = self.sampler.assemble(at[0], at[1], cut, rng)
        return sentences, length

    def run(
        self, encoder: Encoder, sentences: Ints, length: Ints, rng: np.random.Generator
    ) -> tuple[float, float, Gradients]:
        """Return loss, accuracy and gradients of one batch of sentences."""
        s, counts = self.settings, self.sampler.occurrences.counts()
        keep = np.minimum(1, np.sqrt(s.frequent / (counts / counts.sum() + 1e-12)))
        inside = np.arange(sentences.shape[1]) < length[:, None]
        chosen = rng.random(sentences.shape) < s.targets * keep[sentences]
        rows, columns = np.nonzero(inside & chosen)
        words = sentences[rows, columns]  # (n,)
        drawn = np.searchsorted(self.cumulative, rng.random(s.negatives) * self.cumulative[-1])
        candidates, label = np.unique(np.concatenate([words, drawn]), return_inverse=True)
        mix = rng.beta(3, 3, (len(words), 1)).astype(self.x.dtype)
        other = words[rng.permutation(len(words))]
        shared, _ = normalise(mix * self.x[words] + (1 - mix) * self.x[other])
        hidden = rng.random(len(words)) < s.hidden
        total, right, gradients = 0.0, 0, Gradients()
        for part in np.array_split(np.argsort(length, kind="stable"), CHUNKS):
            number = np.full(len(sentences), -1)
            number[part] = np.arange(len(part))
            own = np.flatnonzero(number[rows] >= 0)
            size = int(length[part].max())
            targets = Targets(number[rows[own]], columns[own], hidden[own])
            x = self.x[sentences[part, :size]]
            x[targets.rows, targets.columns] = shared[own]
            result = encode(encoder, x, inside[part, :size], targets)
            loss, hits, d_output, d_scale = compare_words(
                result.output, encoder.scale, self.x[candidates], label[own], len(words)
            )
            total, right = total + loss, right + hits
            for name, gradient in {**result.backward(d_output), "scale": d_scale}.items():
                gradients[name] = gradients[name] + gradient if name in gradients else gradient
        return total, right / max(1, len(words)), gradients


def compare_words(
    output: Floats, scale: Floats, candidates: Floats, label: Ints, total: int
) -> tuple[float, int, Floats, Floats]:
    """Return loss, right answers, and the gradients of output (n, d) and scale (1,).

    loss: Σ -log softmax(e^scale · cosine(output, candidates))[label] / total. candidates: (C, d).
    """
    vectors, lengths = normalise(output)
    factor = np.exp(scale[0])
    cosines = vectors @ candidates.T  # (n, C)
    logits = factor * cosines
    logits -= logits.max(axis=1, keepdims=True)
    hits = int(np.count_nonzero(logits.argmax(axis=1) == label))
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
    return loss, hits, d_output, d_scale


def learn(
    x: Floats, encoder: Encoder, seen: Occurrences, settings: Settings, seed: int
) -> Iterator[Report]:
    """Yield a report now and then; the last one holds the encoder to keep. x: (V, d)."""
    s, rng = settings, np.random.default_rng(seed)
    source = HiddenWords.of(x, seen, s)
    adam = Adam(s.rate, 1.0, {})
    now = mean = encoder.parameters()
    step = words = 0
    losses: list[tuple[float, float]] = []
    while words < s.words:
        sentences, length = source.draw(rng)
        loss, accuracy, gradients = source.run(encoder.updated(now), sentences, length, rng)
        words += int(length.sum())
        step += 1
        now = adam.update(now, gradients, min(1.0, step / 200) * max(0.02, 1 - words / s.words))
        mean = blend(mean, now, 1 - min(s.average, step / (step + 10)))
        losses.append((loss, accuracy))
        if step % s.check_every == 0 or words >= s.words:
            loss, accuracy = np.mean(losses[-s.check_every :], axis=0).tolist()
            done = min(1.0, words / s.words)
            yield Report(done, step, words, loss, accuracy, encoder.updated(mean))
