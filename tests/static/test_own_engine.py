"""The own word2vec engine against a plain loop with the same draws, and against gensim."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress
from ctxembed.static import gensim_engine, own_engine
from ctxembed.static.engine import fit_settings
from ctxembed.static.settings import EngineSettings
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.index import Index
from tests.conftest import ROOT

Sentences = list[list[int]]


def settings(**options: Any) -> EngineSettings:
    return fit_settings(1000, **{"workers": 1, "dim": 10, "epochs": 2, "sample": 0.0, **options})


def write_index(folder: Path, sentences: Sentences, vocabulary: int) -> Index:
    np.save(folder / "ids.npy", np.array([w for s in sentences for w in s], np.int32))
    np.save(folder / "offsets.npy", np.cumsum([0, *map(len, sentences)]).astype(np.int64))
    return Index(folder, [f"w{i}" for i in range(vocabulary)], [])


def count(sentences: Sentences, vocabulary: int) -> NDArray[np.int64]:
    ids = [w for s in sentences for w in s if w < vocabulary]
    return np.bincount(ids, minlength=vocabulary)


def random_sentences(rng: np.random.Generator, number: int, vocabulary: int) -> Sentences:
    return [(rng.pareto(1, rng.integers(1, 30)) * 3 % vocabulary).astype(int).tolist()
            for _ in range(number)]  # fmt: skip


# --- the plain loop ------------------------------------------------------------------------------


class Draws:
    """Marsaglia's xorshift with whole numbers of any size."""

    def __init__(self, state: int) -> None:
        self.state = state

    def next(self) -> int:
        x, most = self.state, 2**64 - 1
        x ^= x << 13 & most
        x ^= x >> 7
        x ^= x << 17 & most
        self.state = x
        return x

    def below(self, n: int) -> int:
        return self.scale(self.next(), n)

    @staticmethod
    def scale(x: int, n: int) -> int:
        return ((x * 2685821657736338717 & 2**64 - 1) >> 32) * n >> 32


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def plain(
    sentences: Sentences, counts: NDArray[np.int64], s: EngineSettings
) -> tuple[Floats, Floats]:
    """word2vec in float64, a pair at a time."""
    rng = np.random.default_rng(s.seed)
    vectors = (rng.random((len(counts), s.dim), np.float32) * 2 - 1).astype(float) / s.dim
    outputs = np.zeros_like(vectors)
    keep = [min(1, math.sqrt(s.sample * counts.sum() / c) + s.sample * counts.sum() / c)
            if s.sample else 1 for c in counts.tolist()]  # fmt: skip
    chance, other = own_engine.alias_table(counts)
    draws = Draws(int(rng.integers(1, 2**63, (1, 1), dtype=np.uint64)[0, 0]))
    for number in range(len(sentences) * s.epochs):
        rate = s.rate - (s.rate - 1e-4) * number / (len(sentences) * s.epochs)
        sentence = sentences[number % len(sentences)]
        kept = [w for w in sentence if w < len(counts) and (draws.next() >> 32) / 2**32 < keep[w]]
        for i, centre in enumerate(kept):
            reach = 1 + draws.below(s.window)
            around = [kept[j] for j in range(len(kept)) if j != i and abs(j - i) <= reach]
            if not around:
                continue
            outs = [centre]
            for _ in range(s.negative):
                x = draws.next()
                position = draws.scale(x, len(counts))
                outs.append(position if x & 2**32 - 1 <= chance[position] else int(other[position]))
            goals = [(out, float(j == 0)) for j, out in enumerate(outs) if not j or out != centre]
            if s.algorithm == "cbow":
                mean = vectors[around].mean(axis=0)
                steps = [(out, rate * (goal - sigmoid(mean @ outputs[out]))) for out, goal in goals]
                error = sum(g * outputs[out] for out, g in steps)
                for out, g in steps:
                    outputs[out] += g * mean
                for word in around:
                    vectors[word] += error
            else:
                at_once = max(1, min(16, int(0.41 / rate)))
                for first in range(0, len(around), at_once):
                    words = around[first : first + at_once]
                    moves = [
                        (word, out, rate * (goal - sigmoid(vectors[word] @ outputs[out])))
                        for word in words
                        for out, goal in goals
                    ]
                    old, old_outputs = vectors.copy(), outputs.copy()
                    for word, out, g in moves:
                        outputs[out] += g * old[word]
                        vectors[word] += g * old_outputs[out]
    return vectors, outputs


@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"negative": 1, "window": 1, "dim": 1},
        {"negative": 7, "window": 30, "dim": 16},  # more than 16 words at once
        {"negative": 3, "window": 5, "dim": 8, "rate": 0.2},  # two words at once
        {"sample": 0.05, "window": 3, "dim": 7, "seed": 9},
    ],
)
def test_like_a_plain_loop(algorithm: str, options: dict[str, Any], tmp_path: Path) -> None:
    sentences = random_sentences(np.random.default_rng(3), 12, 20)
    counts = count(sentences, 15)  # the last words have no vector
    counts[counts == 0] = 1
    s = settings(algorithm=algorithm, **options)
    index = write_index(tmp_path, sentences, 15)
    trained = own_engine.train(index, counts, s, Progress())
    for mine, right in zip(trained, plain(sentences, counts, s), strict=True):
        np.testing.assert_allclose(mine, right, atol=1e-5)
        assert np.abs(right).max() > 1e-3


def test_parts_of_a_corpus_go_on_where_the_last_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = random_sentences(np.random.default_rng(4), 11, 9)
    counts = count(sentences, 9)
    index = write_index(tmp_path, sentences, 9)
    whole = own_engine.train(index, counts, settings(), Progress())
    monkeypatch.setattr(own_engine, "SENTENCES", 3)
    parts = own_engine.train(index, counts, settings(), Progress())
    np.testing.assert_allclose(whole, parts, atol=1e-6)


# --- the tables ----------------------------------------------------------------------------------


def test_negatives_are_drawn_by_their_counts_to_three_quarters() -> None:
    counts = np.array([1000, 500, 3, 3, 2, 1])
    chance, other = own_engine.alias_table(counts)
    share = np.zeros(len(counts))
    for position, (bits, second) in enumerate(zip(chance.tolist(), other.tolist(), strict=True)):
        share[position] += bits / 2**32
        share[second] += 1 - bits / 2**32
    np.testing.assert_allclose(share / 6, counts**0.75 / (counts**0.75).sum(), atol=1e-8)


def test_words_are_thinned_out_as_gensim_does() -> None:
    from gensim.models import Word2Vec

    counts = [90_000, 5_000, 900, 90, 9]
    model = Word2Vec(min_count=1, sample=1e-3, vector_size=2)
    model.build_vocab_from_freq({f"w{i}": n for i, n in enumerate(counts)})
    theirs = [model.wv.get_vecattr(f"w{i}", "sample_int") for i in range(len(counts))]
    mine = own_engine.keep_probabilities(np.array(counts), 1e-3)
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


# --- against gensim ------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
def test_as_good_as_gensim(algorithm: str, tmp_path: Path) -> None:
    """Twenty topics of ten words: whose nearest words are of their own topic?"""
    rng = np.random.default_rng(5)
    topics = rng.integers(0, 20, 4000)
    sentences = [
        np.where(rng.random(12) < 0.6, t * 10 + rng.integers(0, 10, 12), rng.integers(0, 200, 12))
        .tolist() for t in topics
    ]  # fmt: skip
    index, counts = write_index(tmp_path, sentences, 200), count(sentences, 200)
    s = settings(algorithm=algorithm, dim=24, epochs=5)
    right, cosines = [], []
    for engine in (own_engine, gensim_engine):
        vectors = unit(engine.train(index, counts, s, Progress())[0])
        cosine = vectors @ vectors.T
        np.fill_diagonal(cosine, -1)
        nearest = np.argsort(-cosine, axis=1)[:, :9] // 10
        right.append(float((nearest == np.arange(200)[:, None] // 10).mean()))
        cosines.append(cosine[np.triu_indices(200, 1)])
    assert right[0] >= right[1] - 0.02, right
    assert np.corrcoef(cosines)[0, 1] > 0.9
    assert not (tmp_path / "text").exists()


# --- extremes ------------------------------------------------------------------------------------

EXTREMES: list[dict[str, Any]] = [
    {"dim": 1},
    {"dim": 10_000, "epochs": 1},
    {"window": 1000},
    {"negative": 1000},
    {"rate": 1e-9},
    {"rate": 1.0},
    {"sample": 1.0},
    {"sample": 1e-12},
    {"workers": 7},
    {"seed": 2**31},
]
CORPORA: dict[str, Sentences] = {
    "one sentence": [[0, 1, 2, 3, 1]],
    "one word": [[0]],
    "the same word": [[0] * 50] * 20,
    "sentences of one word": [[0], [1], [2]] * 9,
    "only rare words": [[7, 8, 9]],
}


@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
@pytest.mark.parametrize("options", EXTREMES, ids=str)
def test_settings_at_their_extremes(
    algorithm: str, options: dict[str, Any], tmp_path: Path
) -> None:
    sentences = [[0, 1, 2, 3, 0, 1] * 20] * 3
    index, counts = write_index(tmp_path, sentences, 4), count(sentences, 4)
    s = settings(algorithm=algorithm, **options)
    try:
        trained = own_engine.train(index, counts, s, Progress())
    except CtxembedError as refused:
        assert "--rate" in str(refused)
        assert s.rate == 1 or s.negative == 1000  # of four words
    else:
        assert all(np.isfinite(x).all() and x.shape == (4, s.dim) for x in trained)


@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
@pytest.mark.parametrize("name", CORPORA)
def test_corpora_at_their_extremes(algorithm: str, name: str, tmp_path: Path) -> None:
    index = write_index(tmp_path, CORPORA[name], 4)
    counts = np.maximum(1, count(CORPORA[name], 4))
    trained = own_engine.train(index, counts, settings(algorithm=algorithm), Progress())
    assert all(np.isfinite(x).all() for x in trained)


def test_an_error_in_a_worker_is_raised(tmp_path: Path) -> None:
    index = write_index(tmp_path, [[0, 1, 2, 3]], 4)
    (tmp_path / "ids.npy").write_bytes(b"")
    with pytest.raises(EOFError):
        own_engine.train(index, np.ones(4, np.int64), settings(workers=2), Progress())


# --- where it runs -------------------------------------------------------------------------------


def in_python(code: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
    )


TRAIN = "from ctxembed.cli.main import main; main()"


def test_without_numba_gensim_trains_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a b c d\n" * 50)
    for engine, code in (("auto", 0), ("own", 2)):
        done = in_python(
            "import sys; sys.modules['numba'] = None; sys.argv[1:] = 'train c.txt --static-only"
            f" --epochs 1 --force --engine {engine}'.split(); {TRAIN}",
            tmp_path,
        )
        assert done.returncode == code, done.stderr
        assert "pip install numba" in done.stderr
        assert ("engine\tgensim\n" in done.stdout) == (code == 0)


def test_without_a_cache_folder_for_compiled_code(tmp_path: Path) -> None:
    done = in_python(
        "from numba.core import caching; caching.CacheImpl._locator_classes = [];"
        "from ctxembed.static import kernel; print(kernel.train.stats.cache_path)",
        tmp_path,
    )
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_the_first_two_at_once_compile_and_the_next_does_not(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a b c d\n" * 50)
    code = (
        "import sys; sys.argv[1:] = ['train', 'c.txt', '--static-only', '-q', '--epochs', '1',"
        " '--workers', '1', '-o', sys.argv[1]];"
        "from ctxembed.static.kernel import train;"
        "import atexit; atexit.register(lambda: print(sum(train.stats.cache_misses.values())));"
        f"{TRAIN}"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")

    def start(name: str) -> "subprocess.Popen[str]":
        line = [sys.executable, "-c", code, name]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            line, cwd=tmp_path, env=environment, text=True, stdout=pipe, stderr=pipe
        )

    together = [start("a"), start("b")]
    outputs = [process.communicate(timeout=300) for process in together]
    outputs.append(start("c").communicate(timeout=300))
    assert [err for _, err in outputs] == [""] * 3
    assert outputs[2][0].endswith("\n0\n")  # nothing compiled
    vectors = [(tmp_path / name / "vectors.npy").read_bytes() for name in "abc"]
    assert vectors[0] == vectors[1] == vectors[2]
