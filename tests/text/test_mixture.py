"""Mixtures of two texts: one size, the right shares, nested draws."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ctxembed.progress import Progress
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.sampling import draw_sentences, read_index, write_mixture
from ctxembed.text.tokenizer import Tokenizer


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Index, Index]:
    files = []
    for name, size in (("a", 3), ("b", 4)):
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{name}{i}" + f" {name}" * (size - 1) + ".\n" for i in range(120)))
        files.append(read_index(Corpus([str(path)]), Tokenizer(), tmp_path / name, Progress()))
    return files[0], files[1]


def mixture(texts: tuple[Index, Index], share: float, target: Path, seed: int = 1) -> list[str]:
    write_mixture(texts, share, 360, seed, target)
    return target.read_text().splitlines()


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_size_and_share(texts: tuple[Index, Index], share: float, tmp_path: Path) -> None:
    lines = mixture(texts, share, tmp_path / "out")
    words = Counter(word[0] for line in lines for word in line.split())
    assert 360 <= sum(words.values()) < 360 + 3 + 4  # at most a sentence too many of each
    assert words["b"] / 360 == pytest.approx(share, abs=4 / 360)
    assert len(set(lines)) == len(lines)  # no sentence is drawn twice


def test_a_larger_share_contains_a_smaller_one(texts: tuple[Index, Index], tmp_path: Path) -> None:
    few, many = (
        {line for line in mixture(texts, share, tmp_path / "out") if line[0] == "b"}
        for share in (0.2, 0.7)
    )
    assert few < many


def test_seeds(texts: tuple[Index, Index], tmp_path: Path) -> None:
    one, again, other = (mixture(texts, 0.5, tmp_path / "out", seed) for seed in (1, 1, 2))
    assert one == again
    assert sorted(one) != sorted(other)


def test_draw_takes_everything_or_nothing() -> None:
    offsets = np.array([0, 2, 2, 5])  # the second sentence is empty
    rng = np.random.default_rng(1)
    assert len(draw_sentences(offsets, 0, rng)) == 0
    assert set(draw_sentences(offsets, 5, rng)) >= {0, 2}
    assert draw_sentences(np.array([0, 4, 8, 12]), 7, np.random.default_rng(0)).tolist() == [2, 0]
