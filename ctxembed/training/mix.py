"""The bias experiment: how far does a word's vector follow the balance of its corpus?"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from ctxembed.context.axes import Axes, axis_cosines, axis_vectors
from ctxembed.context.parse import parse
from ctxembed.context.representations import representations_of
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import corpora
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import cores, fit_settings
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Chart, Column, Table, answers
from ctxembed.text.corpus import Corpus, as_corpus
from ctxembed.text.mixture import Ingredient, read_ingredient, write_mixture
from ctxembed.text.processes import in_processes
from ctxembed.text.tokenizer import Tokenizer, parse_marked
from ctxembed.training.train import train

ALIKE = 0.9  # cosine of the axes above which models have learned too little
WAYS = ("bag", "general")  # beside static, for each probe

# What is asked of the bundled twins, corpora/fruit.txt and corpora/technology.txt.
TWINS = ("fruit.txt", "technology.txt")
WORD = "apple"
AXES = {"taste": ["fruit", "sweet", "juice"], "technology": ["phone", "company", "software"]}
PROBES = (
    "I was eating a sweet [apple] for breakfast",
    "[Apple] launched a new phone",
    "[Apple] launched a new phone while I was eating an orange",
)

SMALL, EPOCHS, SAMPLE = 10_000, 20, 1e-3  # many trainings: enough to see where a word lies
REPRESENTATION = Column("representation", "static, or bag or general for a probe sentence", "label")
PROBE = Column("probe", "number of the probe sentence, from 1; a note names it", "label")
SHARE = Column("share", "share of the second corpus in the mixture, 0 to 1")
AXIS = Column("AXIS...", "cosine with each of the two axes, mean over seeds")
DIFFERENCE = (
    Column("difference", "first axis minus second: above 0 the word is nearer to the first"),
    Column("low", "lower end of its 95 % interval over seeds; empty for one seed"),
    Column("high", "upper end"),
)


@dataclass(frozen=True)
class Setup:
    """What every model of the experiment has in common."""

    folder: Path
    texts: Sequence[Ingredient]
    tokenizer: Tokenizer
    word: str
    axes: Axes
    probes: Sequence[str]
    words: int  # in each mixture
    dim: int
    epochs: int


@dataclass(frozen=True)
class Measured:
    """What one model says."""

    cosines: Floats  # (1 + 2P, axes) static, then bag and general for each probe
    unknown: list[list[str]]  # words of each probe that this model does not know
    axes: float = 0.0  # cosine of the two axes


@answers(REPRESENTATION, PROBE, SHARE, AXIS, *DIFFERENCE)
def mix(
    a: Corpus | str | None = None,
    b: Corpus | str | None = None,
    word: str | None = None,
    axes: Axes | None = None,
    probes: Sequence[str] = (),
    *,
    steps: int = 11,
    seeds: int = 3,
    seed: int = 1,
    words: int | None = None,
    dim: int | None = None,
    epochs: int | None = None,
    tokenizer: Tokenizer | None = None,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> Table:
    """Train on mixtures of two corpora and follow a word from one axis to the other.

    Without corpora, the bundled twins are mixed.
    """
    tokenizer = tokenizer or Tokenizer()
    if a is None and b is None:
        a, b = (str(corpora() / name) for name in TWINS)
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
        _check_probe(probe, word, tokenizer)
    with tempfile.TemporaryDirectory(prefix="ctxembed-") as name:
        folder = Path(name)
        texts = [
            read_ingredient(corpus, tokenizer, folder / place, progress)
            for place, corpus in (("a", one), ("b", other))
        ]
        _check_words([word, *(w for listed in axes.values() for w in listed)], texts, tokenizer)
        size = min(texts[0].tokens, texts[1].tokens, words or texts[0].tokens)
        fit = fit_settings(size, dim=dim, epochs=epochs)
        fit = fit if epochs or size <= SMALL else replace(fit, epochs=EPOCHS)
        setup = Setup(folder, texts, tokenizer, word, axes, probes, size, fit.dim, fit.epochs)
        shares = np.linspace(0, 1, steps)
        jobs = [(float(x), seed + n) for x in shares for n in range(seeds)]
        made = []
        with progress.stage("mixtures", len(jobs), "model") as stage:
            # As many at once as there are processors; the answer is the same.
            measure = partial(_measure, setup)
            for one_made in in_processes(measure, jobs, min(workers or cores(), len(jobs))):
                stage.advance()
                made.append(one_made)
    cosines = np.array([m.cosines for m in made]).reshape(steps, seeds, -1, 2)
    return _tabulate(setup, other.names[0], shares, cosines, made)


def _check_probe(probe: str, word: str, tokenizer: Tokenizer) -> None:
    marked = parse_marked(probe, tokenizer)
    targets = [marked.words[span.start : span.stop] for span in marked.targets]
    if targets and targets != [(word,)]:
        raise UsageError(f"--probe {probe!r}: mark [{word}] once and nothing else")
    if word not in marked.words:
        raise UsageError(f"--probe {probe!r}: {word!r} is not in it")


def _check_words(words: Sequence[str], texts: Sequence[Ingredient], tokenizer: Tokenizer) -> None:
    for text in texts:
        known = set(text.index.vocab)
        missing = [word for word in words if tokenizer.normalise(word) not in known]
        if missing:
            raise UnknownWordError(
                f"{missing[0]!r} does not occur in {text.name}; the word and the words of both axes"
                " must be in both corpora"
            )


def _measure(setup: Setup, job: tuple[float, int]) -> Measured:
    """Train a model on a mixture, by the share of the second corpus and a seed, and ask it."""
    share, seed = job
    with tempfile.TemporaryDirectory(dir=setup.folder) as name:
        text = Path(name) / "mixture.txt"
        write_mixture(setup.texts, share, setup.words, seed, text)
        train(
            Corpus([str(text)], lines=True),
            Path(name) / "model",
            tokenizer=setup.tokenizer,
            attention=False,
            workers=1,
            dim=setup.dim,
            epochs=setup.epochs,
            min_count=None if setup.words <= SMALL else 2,
            sample=None if setup.words <= SMALL else SAMPLE,
            seed=seed,
        )
        try:
            return _ask(Model.open(Path(name) / "model"), setup)
        except UnknownWordError as error:
            raise UnknownWordError(
                f"with a share of {share:.2f} and seed {seed}: {error};"
                " take words that both corpora use often"
            ) from None


def _ask(model: Model, setup: Setup) -> Measured:
    representations = representations_of(model)
    vectors = [model.vectors[model.vocabulary.row(setup.word)]]
    unknown = []
    for probe in setup.probes:
        parsed = parse(model, probe, None if "[" in probe else setup.word)
        unknown.append(list(parsed.unknown.values()))
        vectors += [representations.get(way).vectors(parsed.occurrences)[0] for way in WAYS]
    cosines = axis_cosines(model, np.array(vectors), setup.axes)
    one, other = axis_vectors(model, setup.axes)
    return Measured(cosines.astype(np.float64), unknown, float(one @ other))


def _tabulate(
    setup: Setup, name: str, shares: Floats, cosines: Floats, made: Sequence[Measured]
) -> Table:
    """Average over seeds; cosines are (steps, seeds, 1 + 2P, 2)."""
    differences = cosines[..., 0] - cosines[..., 1]  # (steps, seeds, 1 + 2P)
    means, half = differences.mean(axis=1), interval(differences)
    lines: list[tuple[str, int | None]] = [("static", None)]
    lines += [(way, n) for n in range(1, len(setup.probes) + 1) for way in WAYS]
    rows: list[tuple[Cell, ...]] = []
    for line, (way, probe) in enumerate(lines):
        for step, share in enumerate(shares):
            axes = cosines[step, :, line].mean(axis=0)
            mean, reach = float(means[step, line]), float(half[step, line])
            cells = (way, probe, float(share), *map(float, axes), mean)
            rows.append((*cells, mean - reach, mean + reach))
    columns = (REPRESENTATION, PROBE, SHARE, *AXIS.each(setup.axes), *DIFFERENCE)
    notes = [
        f"{len(made)} models: {len(shares)} mixtures, seeds for each: {cosines.shape[1]};"
        f" {setup.words} words each, {setup.dim} dimensions, {setup.epochs} epochs",
        *(f"probe {n}: {probe}" for n, probe in enumerate(setup.probes, 1)),
        *(() if setup.probes else ["no contextual vectors without a --probe sentence"]),
        *_unknown_notes(made),
        *(_too_little(made) or _verdict(setup, name, shares, means, half)),
    ]
    first, second = setup.axes
    chart = Chart(
        "lines",
        ["difference"],
        "share",
        series=["representation", "probe"],
        low="low",
        high="high",
        title=f"{setup.word}: above 0 nearer to {first}, below nearer to {second}",
    )
    return Table(columns, rows, notes, chart=chart)


def interval(values: Floats) -> Floats:
    """Return half the width of Student's 95 % interval of the mean over axis 1; nan for one value.

    >>> interval(np.array([[1.0, 2.0, 3.0]])).round(3)  # 4.303 * 1 / sqrt(3)
    array([2.484])
    """
    from scipy.special import stdtrit

    number = values.shape[1]
    if number < 2:
        return np.full_like(values[:, 0], np.nan)
    spread = values.std(axis=1, ddof=1) / np.sqrt(number)
    return np.asarray(stdtrit(number - 1, 0.975) * spread)


def _unknown_notes(made: Sequence[Measured]) -> Iterator[str]:
    for number, unknown in enumerate(zip(*(m.unknown for m in made), strict=True), 1):
        for word, times in Counter(chain.from_iterable(unknown)).items():
            where = f"{times} of {len(made)} models"
            yield f"probe {number}: {word!r} was skipped, unknown to {where}"


def _too_little(made: Sequence[Measured]) -> list[str]:
    """Say so where no verdict would mean anything."""
    cosine = float(np.mean([m.axes for m in made]))
    if cosine <= ALIKE:
        return []
    return [
        f"no verdict: the two axes hardly differ (cosine {cosine:.2f}), as in models that have seen"
        " too little; take more --words or --epochs, or other axes"
    ]


def _verdict(setup: Setup, name: str, shares: Floats, means: Floats, half: Floats) -> list[str]:
    """Say who crossed over and who stayed; means and half intervals are (steps, 1 + 2P)."""
    first, second = setup.axes
    travel = means[-1] - means[0]
    place = crossing(shares, means[:, 0])
    if place is None:
        side = first if means[:, 0].mean() > 0 else second
        notes = [f"static {setup.word} stays nearer to {side} in every mixture"]
    else:
        ends = (first, second) if means[0, 0] > 0 else (second, first)
        notes = [
            f"static {setup.word} crosses from {ends[0]} to {ends[1]} at a share of {place:.2f}"
            f" of {Path(name).name}; it travels {travel[0]:+.2f}"
        ]
        if (np.abs(means[[0, -1], 0]) <= half[[0, -1], 0]).any():  # one seed has no interval
            notes.append("its difference at the ends is within the spread of the seeds")
    for offset, way in enumerate(WAYS, 1):
        lines = range(offset, means.shape[1], len(WAYS))
        stay = sum(crossing(shares, means[:, line]) is None for line in lines)
        if setup.probes:
            moves = ", ".join(f"{travel[line]:+.2f}" for line in lines)
            notes.append(f"{way}: {stay} of {len(lines)} probes stay on their side ({moves})")
    return notes


def crossing(shares: Floats, values: Floats) -> float | None:
    """Return where values first change their sign, by a straight line; None if they never do.

    >>> crossing(np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.1, -0.3]))
    0.625
    """
    turns = np.flatnonzero(np.sign(values[1:]) != np.sign(values[0]))
    if not len(turns):
        return None
    i = int(turns[0])
    step = (shares[i + 1] - shares[i]) * values[i] / (values[i] - values[i + 1])
    return float(shares[i] + step)
