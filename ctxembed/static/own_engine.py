"""CBOW and skip-gram compiled by numba: word ids from the index, threads without locks."""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress
from ctxembed.static import kernel
from ctxembed.static.settings import FINAL_RATE, EngineSettings
from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Index
from ctxembed.text.weights import Reading, find_ranges, plan_readings

SENTENCES = 1 << 12  # read at once: memory does not grow with the corpus
TICK = 0.1  # seconds between two updates of the progress bar
MAX_UINT32 = 2**32 - 1
POWER = 0.75  # of the counts, by which negatives are drawn


def compile_kernel(progress: Progress) -> None:
    """Compile the training loop, or load what an earlier run compiled."""
    if not _is_cached():
        progress.note("compiling the engine, once on this machine: about half a minute")
    with progress.stage("compiling", None, "") as stage:
        stage.say("once, then it is read from disk")
        ids, numbers = np.zeros(1, np.int32), np.zeros(1, np.int64)
        tables = *(np.zeros(1, np.uint32),) * 2, ids
        vectors = np.zeros((1, kernel.LANES), np.float32)
        state = np.ones(1, np.uint64), np.zeros(2, np.int64)
        kernel.train(ids, numbers, *tables, vectors, vectors, *state, True, 1, 1, 0.0, 0.0)


def _is_cached() -> bool:
    folder = getattr(getattr(kernel.train, "stats", None), "cache_path", None)
    return folder is None or any(Path(folder).glob("kernel.train-*.nbi"))


def train(
    index: Index, counts: NDArray[np.int64], settings: EngineSettings, progress: Progress,
    start: Callable[[Floats, Floats], None] | None = None,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the vectors (V, d) and the output vectors (V, d).

    start: writes what they begin with into both, where that is not at random and 0.
    """
    rng = np.random.default_rng(settings.seed)
    lanes = -settings.dim % kernel.LANES + settings.dim
    vectors = np.zeros((len(counts), lanes), np.float32)  # the padding stays 0 throughout
    vectors[:, : settings.dim] = rng.random((len(counts), settings.dim), np.float32) * 2 - 1
    vectors /= settings.dim
    outputs = np.zeros_like(vectors)
    if start is not None:
        start(vectors[:, : settings.dim], outputs[:, : settings.dim])
    tables = (keep_probabilities(counts, settings.sample), *alias_table(counts))
    words = round(sum(source.weight * source.tokens for source in find_ranges(index)))
    states = rng.integers(1, 2**63, (settings.workers, 1), dtype=np.uint64)
    status = np.zeros((settings.workers, 2), np.int64)  # whether to stop, words done
    folder = index.folder
    assert isinstance(folder, Path)  # a model that is being written
    readings = plan_readings(index, SENTENCES)
    sentences = sum(reading.size for reading in readings)
    tickets = product(range(settings.epochs), readings)  # a free worker takes the next
    slope = (settings.rate - min(settings.rate, FINAL_RATE)) / (sentences * settings.epochs)

    def train_parts(worker: int) -> None:
        for epoch, reading in tickets:
            ids, bounds = read_sentences(folder, reading, epoch, settings.seed)
            rate = settings.rate - slope * (epoch * sentences + reading.before)
            kernel.train(
                *(ids, bounds, *tables, vectors, outputs, states[worker], status[worker]),
                skipgram=settings.algorithm == "skipgram", window=settings.window,
                negative=settings.negative, rate=rate,
                slope=slope * reading.size / max(1, len(bounds) - 1),
            )  # fmt: skip
            if status[worker, 0]:
                return

    with (
        progress.stage("word2vec", words * settings.epochs, "word") as stage,
        ThreadPoolExecutor(settings.workers) as pool,
    ):
        try:
            jobs = [pool.submit(train_parts, worker) for worker in range(settings.workers)]
            running, before = True, 0
            while running:
                finished, unfinished = wait(jobs, TICK, FIRST_EXCEPTION)
                running, done = bool(unfinished), int(status[:, 1].sum())
                stage.advance(done - before)
                before = done
                for job in finished:
                    job.result()  # raises what the worker raised
        except BaseException:  # Ctrl-C comes here, not to the workers
            status[:, 0] = 1
            raise
    vectors, outputs = (np.ascontiguousarray(x[:, : settings.dim]) for x in (vectors, outputs))
    if not (np.isfinite(vectors).all() and np.isfinite(outputs).all()):
        raise CtxembedError(
            f"the vectors grew without bound with --rate {settings.rate:g} and --negative"
            f" {settings.negative}; lower either"
        )
    return vectors, outputs


def read_sentences(
    folder: Path, reading: Reading, epoch: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the ids of the sentences of a reading, and where each begins among them."""
    # The files are mapped again each time, so that pages that were read are released.
    offsets = np.load(folder / "offsets.npy", mmap_mode="r")
    bounds = np.array(offsets[reading.first : reading.end + 1])
    ids = np.array(np.load(folder / "ids.npy", mmap_mode="r")[bounds[0] : bounds[-1]])
    if reading.share == 1:
        return ids, bounds - bounds[0]
    drawn, lengths = reading.draw(epoch, seed), np.diff(bounds)
    return ids[np.repeat(drawn, lengths)], np.append(0, np.cumsum(lengths[drawn]))


def keep_probabilities(counts: NDArray[np.int64], sample: float) -> NDArray[np.uint32]:
    """Return (V,) the probability that a word is kept in subsampling, as 32 bits.

    >>> (keep_probabilities(np.array([900, 100]), 0.01) / 2**32).round(3).tolist()
    [0.117, 0.416]
    """
    if not sample:
        return np.full(len(counts), MAX_UINT32, np.uint32)
    share = counts / (sample * counts.sum())
    return _as_bits((np.sqrt(share) + 1) / share)


def alias_table(counts: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Return a table that draws words by counts to the power 3/4 in one step (Walker's method).

    Row i is drawn, then word i with chance[i] (as 32 bits), or else other[i].
    """
    weights = counts**POWER
    rest = (weights / weights.mean()).tolist()  # 1 is a full row
    other = np.arange(len(counts), dtype=np.int32)
    chance = np.ones(len(counts))
    low = [word for word, weight in enumerate(rest) if weight < 1]
    high = [word for word, weight in enumerate(rest) if weight >= 1]
    while low and high:
        word, donor = low.pop(), high[-1]
        chance[word], other[word] = rest[word], donor
        rest[donor] -= 1 - rest[word]
        if rest[donor] < 1:
            low.append(high.pop())
    return _as_bits(chance), other


def _as_bits(chance: Floats) -> NDArray[np.uint32]:
    return np.minimum(chance * 2.0**32, MAX_UINT32).astype(np.uint32)
