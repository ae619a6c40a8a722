"""Frames, counted once more by plain loops over sentences."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import ModelError
from ctxembed.model.model import Model
from ctxembed.model.write import write_frames
from ctxembed.static.frames import affinity, count_frames
from ctxembed.stats import association
from tests.conftest import TEXT, write_tiny


def corpus(seed: int, words: int = 9) -> tuple[list[list[int]], np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    sentences = [
        rng.integers(0, words + 3, rng.integers(0, 9)).tolist()  # the last three have no vector
        for _ in range(300)
    ]
    ids = np.array([word for sentence in sentences for word in sentence], np.int32)
    offsets = np.cumsum([0, *map(len, sentences)])
    counts = np.array([int((ids == word).sum()) for word in range(words)])
    return sentences, ids, offsets, counts


@pytest.mark.parametrize("batch_size", [1 << 22, 7])
def test_frames_by_loops(monkeypatch: pytest.MonkeyPatch, batch_size: int) -> None:
    monkeypatch.setattr(association, "BATCH_SIZE", batch_size)
    sentences, ids, offsets, counts = corpus(1)
    frames = count_frames(ids, offsets, counts, max_words=4)
    assert frames.shape == (9, 8)
    for word in range(9):
        for other in range(4):
            before = sum(pair == (other, word) for s in sentences for pair in pairwise(s))
            behind = sum(pair == (word, other) for s in sentences for pair in pairwise(s))
            usual = counts[other] / counts.sum()
            for column, number in ((other, before), (4 + other, behind)):
                share = (number + 50 * usual) / (counts[word] + 50)
                assert frames[word, column] == round(255 * math.sqrt(share))


def test_rare_words_have_no_frame() -> None:
    _, ids, offsets, counts = corpus(2)
    counts = np.array([40, 30, 20, 19, 3, 2, 1, 1, 1])
    assert count_frames(ids, offsets, counts, max_words=4).shape == (3, 8)
    assert count_frames(ids[:0], offsets[:1], counts[:0]).shape == (0, 0)


def test_affinity_by_hand() -> None:
    frames = np.array([[10, 30], [30, 10], [20, 40]], np.uint8)
    usual = np.array([20.0, 20.0])
    alike = affinity(frames, frames[0].astype(float), np.array([0, 1, 2, 7]), usual)
    # (-10, 10) with itself, with its opposite, with (0, 20): 200 / (√200 · 20)
    np.testing.assert_allclose(alike[:3], [1, -1, 1 / math.sqrt(2)])
    assert math.isnan(alike[3])


def test_phrases_are_saved_in_a_model(tmp_path: Path) -> None:
    model = Model.open(write_tiny(tmp_path / "tiny", TEXT * 15))
    assert model.frames is None
    assert write_frames(model)
    frames = Model.open(model.path).frames
    assert frames is not None
    # 'the' stands before apple each of the 45 times it occurs, and makes up 90 of the 345 words
    the, apple = model.vocabulary.row("the"), model.vocabulary.row("apple")
    counted = int(model.counts[the]), int(model.counts.sum())
    share = (45 + 50 * counted[0] / counted[1]) / (45 + 50)
    assert frames[apple, the] == round(255 * math.sqrt(share))
    np.save(model.path / "frames.npy", np.zeros((3, 3), np.uint8))
    with pytest.raises(ModelError, match=r"frames.npy: damaged"):
        _ = Model.open(model.path).frames


def test_a_model_without_a_corpus_has_none(tmp_path: Path) -> None:
    model = Model.from_vectors("by hand", ["a", "b"], np.eye(2, dtype=np.float32))
    assert model.frames is None
    assert not write_frames(model)
