"""Weights of sources: how often each is read in an epoch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.errors import CtxembedError, UsageError
from ctxembed.model.model import Model
from ctxembed.queries.info import info
from ctxembed.static import own_engine
from ctxembed.static.own_engine import read_sentences
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.original import Ints
from ctxembed.text.weights import Reading, plan_readings, split_weight
from ctxembed.training.index_ import index
from ctxembed.training.train import train
from ctxembed.training.train_on_spark import train_on_spark

OPTIONS = {"attention": False, "workers": 1, "dim": 8, "min_count": 1, "epochs": 4}


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, str]:
    """Two files of 30 and 40 sentences that share no word but "the"."""
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text("".join(f"The cat saw mouse {n % 7}.\n" for n in range(30)))
    b.write_text("".join(f"The bank lent money in year {n % 5}.\n" for n in range(40)))
    return str(a), str(b)


def vectors(*corpus: str, folder: Path, **options: object) -> bytes:
    train(list(corpus), folder / "model", force=True, **(OPTIONS | options))
    return (folder / "model" / "vectors.npy").read_bytes()


@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
def test_weight_2_is_the_same_as_the_file_twice(
    texts: tuple[str, str], tmp_path: Path, algorithm: str
) -> None:
    options = {"algorithm": algorithm, "sample": 0.01}
    once = vectors(texts[0], folder=tmp_path, **options)
    twice = vectors(texts[0], texts[0], folder=tmp_path, **options)
    assert vectors(f"{texts[0]}*2", folder=tmp_path, **options) == twice != once
    assert vectors(f"{texts[0]}*1", folder=tmp_path, **options) == once


@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
def test_one_worker_gives_the_same_bytes(
    texts: tuple[str, str], tmp_path: Path, algorithm: str
) -> None:
    corpus, options = (f"{texts[0]}*0.4", f"{texts[1]}*2.5"), {"algorithm": algorithm}
    first = vectors(*corpus, folder=tmp_path, **options)
    assert first == vectors(*corpus, folder=tmp_path, **options)


def test_counts_index_and_statistics_are_those_of_the_text(
    texts: tuple[str, str], tmp_path: Path
) -> None:
    train(list(texts), tmp_path / "plain", **OPTIONS)
    train([f"{texts[0]}*0.5", f"{texts[1]}*3"], tmp_path / "mixed", **OPTIONS)
    plain, mixed = Model.open(tmp_path / "plain"), Model.open(tmp_path / "mixed")
    for name in ("vocab.txt", "counts.npy", "index/ids.npy", "index/positions.npy"):
        assert (plain.path / name).read_bytes() == (mixed.path / name).read_bytes()
    assert plain.meta["tokens"] == mixed.meta["tokens"] == 30 * 5 + 40 * 7
    assert "weight" not in plain.meta["files"][0]


def test_each_sentence_is_read_by_its_weight(texts: tuple[str, str], tmp_path: Path) -> None:
    weights, sizes, epochs = (0.3, 2.5), (30, 40), 10
    corpus = [f"{name}*{weight}" for name, weight in zip(texts, weights, strict=True)]
    train(corpus, tmp_path / "model", **OPTIONS)
    opened = Model.open(tmp_path / "model").index
    assert opened is not None
    times, words = np.zeros(sum(sizes)), 0
    for epoch in range(epochs):
        for reading in plan_readings(opened, size=16):
            drawn = reading.draw(epoch, seed=1)
            assert drawn.all() or reading.share < 1
            times[reading.first : reading.end] += drawn
            words += len(read_sentences(tmp_path / "model" / "index", reading, epoch, 1)[0])
    expected = np.repeat(weights, sizes) * epochs
    assert (np.abs(times - expected) < 1).all()
    assert words == times[:30].sum() * 5 + times[30:].sum() * 7
    assert words == pytest.approx(epochs * (0.3 * 150 + 2.5 * 280), rel=0.01)


def test_words_are_subsampled_by_how_often_they_are_read(
    texts: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: dict[str, list[int]] = {}
    whole = own_engine.train

    def spy(index: Index, counts: Ints, *rest: Any) -> Any:
        read["counts"] = counts.tolist()
        return whole(index, counts, *rest)

    monkeypatch.setattr(own_engine, "train", spy)
    train([f"{texts[0]}*2", f"{texts[1]}*0.5"], tmp_path / "model", **OPTIONS)
    model = Model.open(tmp_path / "model")
    count = dict(zip(model.vocabulary.words, read["counts"], strict=True))
    assert (count["the"], count["cat"], count["bank"]) == (2 * 30 + 0.5 * 40, 60, 20)


def test_info_lists_weight_words_and_share(texts: tuple[str, str], tmp_path: Path) -> None:
    train([f"{texts[0]}*0.5", texts[1]], tmp_path / "model", **OPTIONS)
    files = [str(value) for name, value in info(tmp_path / "model").rows if name == "file"]
    assert files[0].endswith(f" weight:0.5 words:150 share:{75 / 355:.4f}")
    assert files[1].endswith(f" weight:1 words:280 share:{280 / 355:.4f}")


def test_a_reading_draws_another_part_with_another_seed() -> None:
    reading = Reading(0, 100, weight=0.5, number=0, before=0.0)
    assert 48 <= reading.draw(0, seed=1).sum() <= 52
    assert (reading.draw(0, seed=1) != reading.draw(0, seed=2)).any()


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "-inf", "1e9", "1e-9"])
def test_a_weight_out_of_range_is_refused(weight: str) -> None:
    with pytest.raises(UsageError, match=r"a\.txt\*.*: the weight must be from 0\.001 to 100"):
        split_weight(f"a.txt*{weight}")


def test_a_file_of_that_name_is_the_file(texts: tuple[str, str], tmp_path: Path) -> None:
    try:
        name = Path(f"{texts[0]}*3")
        name.write_text("The cat sat.\n")
    except OSError:
        pytest.skip("no * in file names")
    assert split_weight(str(name)) == (str(name), 1.0)
    assert split_weight(f"{name}*2") == (str(name), 2.0)


def test_a_folder_gives_its_weight_to_its_files(texts: tuple[str, str], tmp_path: Path) -> None:
    assert Corpus([f"{tmp_path}*3"], weighted=True).weights == [3, 3]
    assert Corpus(list(texts), weighted=True).weights is None


def test_commands_that_do_not_train_take_no_weights(texts: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gensim reads every source once"):
        train(f"{texts[0]}*2", tmp_path / "model", engine="gensim", **OPTIONS)
    with pytest.raises(UsageError, match="spark reads every source alike"):
        train_on_spark(Corpus([f"{texts[0]}*2"], weighted=True), tmp_path / "model")
    with pytest.raises(CtxembedError, match="no such file"):
        index("everyday", f"{texts[0]}*2", tmp_path / "model")
