"""Default settings by the size of the corpus."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from ctxembed.progress import Progress
from ctxembed.static import own_engine
from ctxembed.static.engine import FITTING, WORDS, fit_settings
from ctxembed.static.settings import EngineSettings
from ctxembed.stats.vectors import unit
from ctxembed.text.index import Index

SIZES = np.geomspace(1e3, 1e9, 400).astype(int).tolist()


def zipf(tokens: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Counts of the words of a text by Zipf's law."""
    counts = tokens / np.arange(1, 200_001) / 12.8
    return np.asarray(counts[counts >= 1])


def seen(settings: EngineSettings, tokens: int) -> float:
    """Words that are trained on, once frequent ones are thinned out."""
    counts = zipf(tokens)
    counts = counts[counts >= settings.min_count]
    share = counts / (settings.sample * counts.sum())
    return float((counts * np.minimum(1, np.sqrt(1 / share) + 1 / share)).sum()) * settings.epochs


@pytest.mark.parametrize("name", ["dim", "window", "min_count", "epochs", "sample"])
def test_nothing_jumps(name: str) -> None:
    """A text that is a twenty-eighth longer is trained nearly the same."""
    values = [getattr(fit_settings(size), name) for size in SIZES]
    for one, other in itertools.pairwise(values):
        assert abs(other - one) <= max(1, 0.08 * one) if name != "sample" else other >= 0.9 * one
        assert (other <= one) if name in ("epochs", "sample") else (other >= one)


def test_the_rate_falls_with_the_size() -> None:
    """From a hundred thousand words on; the ends are those that were measured."""
    rates = [fit_settings(size).rate for size in SIZES if size > 400_000]
    assert rates == sorted(rates, reverse=True)
    assert fit_settings(300_000).rate == pytest.approx(0.05, abs=0.005)
    assert fit_settings(103_000_000).rate == 0.025
    assert fit_settings(300_000, rate=0.1).rate == 0.1


def test_more_text_is_more_training() -> None:
    """An epoch is whole, so that a little more text may be a little less; half as much more not."""
    for size in SIZES[::8]:
        if size > 20_000:
            more = size * 3 // 2
            assert seen(fit_settings(more), more) > 1.04 * seen(fit_settings(size), size), size


def test_the_ends_of_the_mixture() -> None:
    for size, row in ((1, 0), (10_000, 0), (10**10, -1)):
        fit = fit_settings(size)
        assert fit.dim == FITTING["dim"][row]
        assert fit.epochs == FITTING["epochs"][row]
    assert all(len(values) == len(WORDS) for values in FITTING.values())


def test_one_worker_for_a_small_corpus() -> None:
    assert fit_settings(1_000_000).workers == 1


def train_topics(folder: Path, tokens: int) -> tuple[float, float]:
    """Train on a hundred topics of forty words among common ones: the mean cosines of words of
    one topic, and of two.
    """
    folder.mkdir()
    rng = np.random.default_rng(7)
    shape = tokens // 20, 20
    own = np.minimum((rng.pareto(1, shape) * 4).astype(int), 39)
    common = 4000 + np.minimum((rng.pareto(0.9, shape) * 3).astype(int), 199)
    kind, topic = rng.random(shape), rng.integers(0, 100, (len(own), 1))
    words = np.where(kind < 0.85, common, rng.integers(0, 4000, shape))
    words = np.where(kind > 0.9, topic * 40 + own, words)
    counts = np.bincount(words.ravel(), minlength=4200)
    order = np.argsort(-counts, kind="stable")
    np.save(folder / "ids.npy", np.argsort(order)[words].ravel().astype(np.int32))
    np.save(folder / "offsets.npy", np.arange(0, words.size + 1, 20))
    fit = fit_settings(tokens, workers=1)
    counts = counts[order][counts[order] >= fit.min_count]
    vectors, _ = own_engine.train(Index(folder, [], []), counts, fit, Progress())
    rows = [row for row, word in enumerate(order[: len(counts)]) if word < 4000 and word % 40 < 8]
    cosines = unit(vectors[rows]) @ unit(vectors[rows]).T
    same = order[rows][:, None] // 40 == order[rows] // 40
    return float(cosines[same].mean()), float(cosines[~same].mean())


def test_the_threshold_at_a_million_words_is_smooth(tmp_path: Path) -> None:
    (near, far), (near_more, far_more) = (
        train_topics(tmp_path / str(tokens), tokens) for tokens in (900_000, 1_200_000)
    )
    assert near_more - far_more >= near - far - 0.01
    assert far_more < 0.3  # where all words are alike, training came to nothing
