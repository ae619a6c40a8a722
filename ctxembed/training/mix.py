"""The bias experiment: train on mixtures of two corpora and follow the vector of one word."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from ctxembed.context.nearest import Axes, axis_cosines, axis_vectors
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import corpora_directory
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import cores, fit_settings
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Chart, Column, Table, answers
from ctxembed.text.corpus import Corpus, as_corpus
from ctxembed.text.index import Index
from ctxembed.text.processes import in_processes
from ctxembed.text.sampling import read_index, write_mixture
from ctxembed.text.tokenizer import Tokenizer, parse_marked
from ctxembed.training.train import train_model

MAX_AXES_COSINE = 0.9  # above it, models have learned too little to tell the axes apart
CONTEXTUAL = ("bag", "general")  # representations of each probe, beside static

# Word, axes and probes for the bundled twins, corpora/fruit.txt and corpora/technology.txt.
TWINS = ("fruit.txt", "technology.txt")
WORD = "apple"
AXES = {"taste": ["fruit", "sweet", "juice"], "technology": ["phone", "company", "software"]}
PROBES = (
    "I was eating a sweet [apple] for breakfast", "[Apple] launched a new phone",
    "[Apple] launched a new phone while I was eating an orange",
)  # fmt: skip

RATE = 0.025  # with which the epochs were chosen
SMALL, EPOCHS, SAMPLE = 10_000, 20, 1e-3  # many models are trained, so each gets few epochs
MIXTURE = (
    Column("representation", "static, or bag or general for a probe sentence", "label"),
    Column("probe", "number of the probe sentence, from 1; a note names it", "label"),
    Column("share", "share of the second corpus in the mixture, 0 to 1"),
)
AXIS = Column("AXIS...", "cosine with each of the two axes, mean over seeds")
DIFFERENCE = (
    Column("difference", "first axis minus second: above 0 the word is nearer to the first"),
    Column("low", "lower end of its 95 % interval over seeds; empty for one seed"),
    Column("high", "upper end"),
)


@dataclass(frozen=True)
class Setup:
    """What all models of the experiment have in common."""

    folder: Path
    texts: Sequence[Index]
    tokenizer: Tokenizer
    word: str
    axes: Axes
    probes: Sequence[str]
    words: int  # in each mixture
    dim: int
    epochs: int


@dataclass(frozen=True)
class Measured:
    """The cosines of one model."""

    cosines: Floats  # (1 + 2P, axes) static, then bag and general for each probe
    unknown: list[list[str]]  # words of each probe that this model does not know
    axes: float = 0.0  # cosine of the two axes


@answers(*MIXTURE, AXIS, *DIFFERENCE)
def mix(
    a: Corpus | str | None = None, b: Corpus | str | None = None, word: str | None = None,
    axes: Axes | None = None, probes: Sequence[str] = (), *, steps: int = 11, seeds: int = 3,
    seed: int = 1, words: int | None = None, dim: int | None = None, epochs: int | None = None,
    tokenizer: Tokenizer | None = None, workers: int | None = None, progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Follow a word from one axis to the other in mixtures of two corpora, or of bundled ones."""
    tokenizer = tokenizer or Tokenizer()
    if a is None and b is None:
        a, b = (str(corpora_directory() / name) for name in TWINS)
        word = word or WORD
        if word == WORD:  # its axes and probes are known
            axes, probes = axes or AXES, probes or PROBES
    if a is None or b is None:
        raise UsageError("mix takes two corpora, or none for the bundled twins")
    if not word:
        raise UsageError("which word? give --word WORD")
    one, other, axes = as_corpus(a), as_corpus(b), axes or {}
    if len(axes) != 2:
        raise UsageError("give two axes: the one the word leaves, and the one it goes to")
    word = tokenizer.normalise(word)
    for probe in probes:
        marked = parse_marked(probe, tokenizer)
        targets = [marked.words[span.start : span.stop] for span in marked.targets]
        if targets and targets != [(word,)]:
            raise UsageError(f"--probe {probe!r}: mark [{word}] once and nothing else")
        if word not in marked.words:
            raise UsageError(f"--probe {probe!r}: {word!r} is not in it")
    with tempfile.TemporaryDirectory(prefix="ctxembed-") as name:
        folder = Path(name)
        first = read_index(one, tokenizer, folder / "a", progress)
        texts = [first, read_index(other, tokenizer, folder / "b", progress)]
        for text, corpus in zip(texts, (one, other), strict=True):
            known = set(text.vocab)
            for needed in (word, *chain(*axes.values())):
                if tokenizer.normalise(needed) not in known:
                    where = f"{needed!r} does not occur in {', '.join(corpus.names)}"
                    raise UnknownWordError(f"{where}; both corpora must have it")
        sizes = [len(text.ids) for text in texts]
        size = min(*sizes, words or sizes[0])
        usual = fit_settings(size, dim=dim, epochs=epochs)
        epochs = usual.epochs if epochs or size <= SMALL else EPOCHS
        setup = Setup(folder, texts, tokenizer, word, axes, probes, size, usual.dim, epochs)
        fractions = np.linspace(0, 1, steps)
        jobs = [(x, seed + n) for x in fractions.tolist() for n in range(seeds)]
        processes = min(workers or cores(), len(jobs))  # their number does not change the result
        models = []
        with progress.stage("mixtures", len(jobs), "model") as stage:
            for measured in in_processes(partial(_measure, setup), jobs, processes):
                stage.advance()
                models.append(measured)
    return _tabulate(setup, other.names[0], fractions, models)


def _tabulate(setup: Setup, name: str, fractions: Floats, models: Sequence[Measured]) -> Table:
    """Return the means over seeds; models: seed by seed for each fraction of the second corpus."""
    cosines = np.array([m.cosines for m in models])  # (steps, seeds, 1 + 2P, 2)
    cosines = cosines.reshape(len(fractions), -1, *cosines.shape[1:])
    differences = cosines[..., 0] - cosines[..., 1]  # (steps, seeds, 1 + 2P)
    means, half = differences.mean(axis=1), interval_half_width(differences)
    lines: list[tuple[str, int | None]] = [("static", None)]
    lines += [(kind, n) for n in range(1, len(setup.probes) + 1) for kind in CONTEXTUAL]
    rows: list[tuple[Cell, ...]] = []
    for line, label in enumerate(lines):
        for step, fraction in enumerate(fractions.tolist()):
            axes = cosines[step, :, line].mean(axis=0).tolist()
            mean, reach = float(means[step, line]), float(half[step, line])
            rows.append((*label, fraction, *axes, mean, mean - reach, mean + reach))
    columns = (*MIXTURE, *AXIS.each(setup.axes), *DIFFERENCE)
    notes = [
        f"{len(models)} models: {len(fractions)} mixtures, seeds for each: {cosines.shape[1]};"
        f" {setup.words} words each, {setup.dim} dimensions, {setup.epochs} epochs",
        *(f"probe {n}: {probe}" for n, probe in enumerate(setup.probes, 1)),
        *(() if setup.probes else ["no contextual vectors without a --probe sentence"]),
    ]
    for number, unknown in enumerate(zip(*(m.unknown for m in models), strict=True), 1):
        for word, times in Counter(chain(*unknown)).items():
            some = f"{times} of {len(models)} models"
            notes.append(f"probe {number}: {word!r} was skipped, unknown to {some}")
    notes += _verdict(setup, name, fractions, models, means, half)
    first, second = setup.axes
    title = f"{setup.word}: above 0 nearer to {first}, below nearer to {second}"
    series = ["representation", "probe"]
    chart = Chart("lines", ["difference"], "share", (), series, low="low", high="high", title=title)
    return Table(columns, rows, notes, chart=chart)


def _measure(setup: Setup, job: tuple[float, int]) -> Measured:
    """Train a model on a mixture (share of the second corpus, seed) and return its cosines."""
    share, seed = job
    with tempfile.TemporaryDirectory(dir=setup.folder) as name:
        text = Path(name) / "mixture.txt"
        write_mixture(setup.texts, share, setup.words, seed, text)
        large = setup.words > SMALL
        train_model(
            Corpus([str(text)], lines=True), Path(name) / "model", tokenizer=setup.tokenizer,
            attention=False, workers=1, dim=setup.dim, epochs=setup.epochs, rate=RATE, seed=seed,
            min_count=2 if large else None, sample=SAMPLE if large else None,
        )  # fmt: skip
        try:
            return _cosines(Model.open(Path(name) / "model"), setup)
        except UnknownWordError as error:
            where = f"with a share of {share:.2f} and seed {seed}: {error}"
            raise UnknownWordError(f"{where}; take words that both corpora use often") from None


def _cosines(model: Model, setup: Setup) -> Measured:
    """Return the cosines of the word's static and contextual vectors with both axes."""
    representations, unknown = Representations.of(model), []
    vectors = [model.vectors[model.vocabulary.row(setup.word)]]
    for probe in setup.probes:
        parsed = parse(model, probe, None if "[" in probe else setup.word)
        unknown.append(list(parsed.unknown.values()))
        vectors += [representations.get(n).vectors(parsed.occurrences)[0] for n in CONTEXTUAL]
    cosines = axis_cosines(model, np.array(vectors), setup.axes)
    one, other = axis_vectors(model, setup.axes)
    return Measured(cosines.astype(np.float64), unknown, float(one @ other))


def interval_half_width(values: Floats) -> Floats:
    """Return half the width of Student's 95 % interval of the mean over axis 1; nan for one value.

    >>> interval_half_width(np.array([[1.0, 2.0, 3.0]])).round(3)  # 4.303 * 1 / sqrt(3)
    array([2.484])
    """
    from scipy.special import stdtrit

    number = values.shape[1]
    if number < 2:
        return np.full_like(values[:, 0], np.nan)
    return np.asarray(stdtrit(number - 1, 0.975) * (values.std(axis=1, ddof=1) / np.sqrt(number)))


def _verdict(
    setup: Setup, name: str, fractions: Floats, models: Sequence[Measured], means: Floats,
    half: Floats,
) -> list[str]:  # fmt: skip
    """Return notes on which representations cross over; means and half are (steps, 1 + 2P)."""
    cosine = float(np.mean([model.axes for model in models]))
    if cosine > MAX_AXES_COSINE:
        alike = f"no verdict: the two axes hardly differ (cosine {cosine:.2f})"
        return [f"{alike}; take more --words or --epochs, or other axes"]
    first, second = setup.axes
    travel = means[-1] - means[0]
    turn = find_crossing(fractions, means[:, 0])
    if turn is None:
        side = first if means[:, 0].mean() > 0 else second
        notes = [f"static {setup.word} stays nearer to {side} in every mixture"]
    else:
        ends = (first, second) if means[0, 0] > 0 else (second, first)
        where = f"from {ends[0]} to {ends[1]} at a share of {turn:.2f} of {Path(name).name}"
        notes = [f"static {setup.word} crosses {where}; it travels {travel[0]:+.2f}"]
        if (np.abs(means[[0, -1], 0]) <= half[[0, -1], 0]).any():  # one seed has no interval
            notes.append("its difference at the ends is within the spread of the seeds")
    for offset, kind in enumerate(CONTEXTUAL if setup.probes else (), 1):
        lines = range(offset, means.shape[1], len(CONTEXTUAL))
        stay = sum(find_crossing(fractions, means[:, line]) is None for line in lines)
        moves = ", ".join(f"{travel[line]:+.2f}" for line in lines)
        notes.append(f"{kind}: {stay} of {len(lines)} probes stay on their side ({moves})")
    return notes


def find_crossing(fractions: Floats, values: Floats) -> float | None:
    """Return the share where values first change sign, interpolated linearly; None if they do not.

    >>> find_crossing(np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.1, -0.3]))
    0.625
    """
    turns = np.flatnonzero(np.sign(values[1:]) != np.sign(values[0]))
    if not len(turns):
        return None
    i = int(turns[0])
    step = (fractions[i + 1] - fractions[i]) * values[i] / (values[i] - values[i + 1])
    return float(fractions[i] + step)
