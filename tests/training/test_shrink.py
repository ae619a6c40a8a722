"""A small copy: the same answers to the third digit, and none of the text."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.errors import UsageError
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses
from ctxembed.stats.vectors import cosine

SENTENCE = "the [apple] was sweet and ripe"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("small") / "m"
    ctxembed.shrink("everyday", folder, words=3000, about="of everyday sentences")
    return Model.open(folder)


def test_the_copy_is_small_and_has_no_text(small: Model) -> None:
    whole = Model.open(bundled_model("everyday"))
    files = {item.relative_to(small.path).parts[0] for item in small.path.rglob("*")}
    assert files == {
        "model.json",
        "vocab.txt",
        "counts.npy",
        "vectors.npy",
        "mean.npy",
        "attention",
        "senses.npz",
    }
    assert (small.path / "vectors.npy").stat().st_size < 3000 * (64 + 4) + 200
    assert small.vocabulary.words == whole.vocabulary.words[:3000]
    np.testing.assert_array_equal(small.counts, whole.counts[:3000])
    info = dict(ctxembed.info(small).rows)
    assert info["about"] == "of everyday sentences"
    assert info["dropped_words"] == whole.meta["dropped_words"] + len(whole.vocabulary.words) - 3000
    assert info["file"].startswith("everyday.txt sha256:")  # without its folder


def test_a_shrunk_model_answers_like_the_whole(small: Model) -> None:
    whole = Model.open(bundled_model("everyday"))
    for name in ("static", "bag", "general", "learned"):
        (one,), (other,) = (
            Representations(model).get(name).vectors(parse(model, SENTENCE).occurrences)
            for model in (small, whole)
        )
        assert cosine(one, other) > 0.999
    near = [[row[1] for row in ctxembed.neighbors(m, "apple", 3).rows] for m in (small, whole)]
    assert near[0] == near[1]


def test_saved_senses_come_along_without_their_examples(tmp_path: Path) -> None:
    whole = Path(shutil.copytree(bundled_model("everyday"), tmp_path / "whole"))
    ctxembed.senses(whole, "orange", k=3, again=True, save=True)
    of_all = len(open_senses(Model.open(whole)))
    left = {"apple": [], "orange": [2]}
    table = ctxembed.shrink(whole, tmp_path / "small", without=left, frames=10)
    assert dict(table.rows)["senses"] == of_all - 1
    small = Model.open(tmp_path / "small")
    kept = ctxembed.saved_senses(small, "bank")
    assert kept is not None and ctxembed.saved_senses(small, "apple") is None
    assert not any(kept.examples)
    before, after = (ctxembed.saved_senses(Model.open(m), "orange") for m in (whole, small.path))
    assert before is not None and after is not None
    assert list(after.counts) == [before.counts[0], before.counts[2]]
    assert [words[:8] for words in before.markers][::2] == after.markers
    np.testing.assert_allclose(after.vectors, before.vectors[::2], atol=0.01)
    np.testing.assert_allclose(after.bias, np.asarray(before.bias)[::2])
    answers = [ctxembed.senses(m, "bank").records() for m in (whole, small)]
    for one, other in zip(*answers, strict=True):
        assert other["markers"] == one["markers"][: len(other["markers"])] != []
        assert one["mix"] == pytest.approx(other["mix"], abs=0.01)
    assert (small.path / "frames.npy").exists() == (whole / "frames.npy").exists()


def test_a_shrunk_model_can_be_shrunk_and_exported(small: Model, tmp_path: Path) -> None:
    ctxembed.shrink(small, tmp_path / "again")
    np.testing.assert_allclose(
        Model.open(tmp_path / "again").vectors[:], small.vectors[:], rtol=1e-6, atol=1e-8
    )
    for name in ("v.txt", "v.bin", "v.npy", "v.kv"):
        ctxembed.export(small, tmp_path / name)
        ctxembed.import_(str(tmp_path / name), tmp_path / "read", force=True)
        np.testing.assert_array_equal(Model.open(tmp_path / "read").vectors[:], small.vectors[:])
    with pytest.raises(UsageError, match="exists"):
        ctxembed.shrink(small, tmp_path / "again")
