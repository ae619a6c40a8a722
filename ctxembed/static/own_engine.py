"""CBOW and skip-gram of our own: word ids from the index, threads without locks."""

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress
from ctxembed.static import kernel
from ctxembed.static.settings import LEAST_RATE, EngineSettings
from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Index

SENTENCES = 1 << 12  # read at once: memory does not grow with the corpus
TICK = 0.1  # seconds between two looks at how far the workers are
FULL = 2**32 - 1
POWER = 0.75  # of the counts, by which negatives are drawn


def prepare(progress: Progress) -> None:
    """Compile the loop, or read it from disk where an earlier run left it."""
    with progress.stage("compiling", None, "") as stage:
        stage.say("once, then it is read from disk")
        ids, numbers = np.zeros(1, np.int32), np.zeros(1, np.int64)
        tables = *(np.zeros(1, np.uint32),) * 2, ids
        vectors = np.zeros((1, kernel.LANES), np.float32)
        mine = np.ones(1, np.uint64), np.zeros(2, np.int64)
        kernel.train(ids, numbers, *tables, vectors, vectors, *mine, True, 1, 1, 0.0, 0.0)


def train(
    index: Index, counts: NDArray[np.int64], settings: EngineSettings, progress: Progress
) -> tuple[Floats, Floats]:
    """Return the vectors and the output vectors, row by word."""
    rng = np.random.default_rng(settings.seed)
    lanes = -settings.dim % kernel.LANES + settings.dim
    vectors = np.zeros((len(counts), lanes), np.float32)  # what is added stays 0 throughout
    vectors[:, : settings.dim] = rng.random((len(counts), settings.dim), np.float32) * 2 - 1
    vectors /= settings.dim
    outputs = np.zeros_like(vectors)
    tables = (keep(counts, settings.sample), *alias(counts))
    states = rng.integers(1, 2**63, (settings.workers, 1), dtype=np.uint64)
    told = np.zeros((settings.workers, 2), np.int64)  # whether to stop, words done
    folder = index.folder
    assert isinstance(folder, Path)  # of a model under way: nothing is to take its place
    words, sentences = int(index.offsets[-1]), len(index.offsets) - 1
    parts = -(-sentences // SENTENCES)
    tickets = iter(range(parts * settings.epochs))  # whoever is free draws the next
    slope = (settings.rate - min(settings.rate, LEAST_RATE)) / (sentences * settings.epochs)

    def work(worker: int) -> None:
        for ticket in tickets:
            epoch, part = divmod(ticket, parts)
            rate = settings.rate - slope * (epoch * sentences + part * SENTENCES)
            ids, bounds = read(folder, part * SENTENCES)
            kernel.train(
                *(ids, bounds, *tables, vectors, outputs, states[worker], told[worker]),
                skipgram=settings.algorithm == "skipgram",
                window=settings.window,
                negative=settings.negative,
                rate=rate,
                slope=slope,
            )
            if told[worker, 0]:
                return

    with (
        progress.stage("word2vec", words * settings.epochs, "word") as stage,
        ThreadPoolExecutor(settings.workers) as pool,
    ):
        try:
            jobs = [pool.submit(work, worker) for worker in range(settings.workers)]
            running, before = True, 0
            while running:
                running = bool(wait(jobs, TICK, FIRST_EXCEPTION).not_done)
                done = int(told[:, 1].sum())
                stage.advance(done - before)
                before = done
                for job in jobs:
                    if job.done():
                        job.result()  # raises what the worker raised
        except BaseException:  # Ctrl-C comes here, not to the workers
            told[:, 0] = 1
            raise
    made = [np.ascontiguousarray(x[:, : settings.dim]) for x in (vectors, outputs)]
    if not all(np.isfinite(x).all() for x in made):
        raise CtxembedError(
            f"the vectors grew without bound with --rate {settings.rate:g} and --negative"
            f" {settings.negative}; give less of either"
        )
    return made[0], made[1]


def read(folder: Path, first: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the words of some sentences, and where each begins among them.

    The files are mapped anew for each reading, so that what was read is given back.
    """
    bounds = np.array(np.load(folder / "offsets.npy", mmap_mode="r")[first:][: SENTENCES + 1])
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    return np.array(ids[bounds[0] : bounds[-1]]), bounds - bounds[0]


def keep(counts: NDArray[np.int64], sample: float) -> NDArray[np.uint32]:
    """Return how often each word stays when frequent ones are thinned out, as 32 bits.

    >>> (keep(np.array([900, 100]), 0.01) / 2**32).round(3).tolist()
    [0.117, 0.416]
    """
    if not sample:
        return np.full(len(counts), FULL, np.uint32)
    share = counts / (sample * counts.sum())
    return _bits((np.sqrt(share) + 1) / share)


def alias(counts: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Make a table that draws words by counts to the power 3/4 with one look (Walker's method).

    Place i is drawn, then word i with chance[i] (as 32 bits), or else other[i].
    """
    weights = counts**POWER
    rest = (weights / weights.mean()).tolist()  # 1 is a full place
    other = np.arange(len(counts), dtype=np.int32)
    chance = np.ones(len(counts))
    low = [word for word, weight in enumerate(rest) if weight < 1]
    high = [word for word, weight in enumerate(rest) if weight >= 1]
    while low and high:
        word, giver = low.pop(), high[-1]
        chance[word], other[word] = rest[word], giver
        rest[giver] -= 1 - rest[word]
        if rest[giver] < 1:
            low.append(high.pop())
    return _bits(chance), other


def _bits(chance: Floats) -> NDArray[np.uint32]:
    return np.minimum(chance * 2.0**32, FULL).astype(np.uint32)
