"""A word never names a place outside its own folder."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxembed.errors import ModelError
from ctxembed.store.model import Model, write
from ctxembed.store.sense_store import SavedSenses, folder_name, save_senses, saved_senses
from tests.conftest import Run

WORDS = [".", "..", "...", "a/b", "../../x", "/", "~", "Bank", "bank", "%2E", "nul\0", "x" * 5000]


def one_sense(word: str, dim: int = 2) -> SavedSenses:
    one, row = np.ones(1), np.ones((1, dim))
    return SavedSenses(word, "general", one, row, row, one)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    meta = {"tokens": 9, "tokenizer": {"kind": "whitespace", "cased": True}}
    (tmp_path / "m").mkdir()
    vectors = np.ones((len(WORDS), 2), np.float32)
    write(tmp_path / "m", WORDS, np.ones(len(WORDS), np.int64), vectors, None, meta)
    return Model.open(tmp_path / "m")


def test_each_word_has_a_folder_of_its_own(model: Model) -> None:
    before = {name: (model.path / name).read_bytes() for name in os.listdir(model.path)}
    for word in WORDS:
        assert save_senses(model, one_sense(word)).parent == model.path / "senses"
    assert len(os.listdir(model.path / "senses")) == len(WORDS)
    for word in WORDS:
        found = saved_senses(model, word)
        assert found is not None and found.word == word
    assert {name: (model.path / name).read_bytes() for name in before} == before


@given(st.text(st.characters(), min_size=1), st.text(st.characters(), min_size=1))
def test_names_of_folders_by_their_rules(one: str, other: str) -> None:
    names = folder_name(one), folder_name(other)
    assert (names[0].lower() == names[1].lower()) == (one == other)
    for name in names:
        assert name.isascii() and 0 < len(name) <= 100
        assert not set(name) & set('./\\:*?"<>|\0 ')


def test_a_word_of_dots_deletes_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the bank . money .. apple\nriver bank .. and . phone\n" * 30)
    options = ("--tokenizer", "whitespace", "--lines", "--static-only", "--epochs", "1")
    assert run("train", "c.txt", "-o", "m", *options).returncode == 0
    for word in ("bank", ".", ".."):
        assert run("senses", word, "--k", "1", "--save", "-m", "m").returncode == 0
    assert run("info", "-m", "m").returncode == 0
    assert sorted(os.listdir(tmp_path / "m" / "senses")) == ["%2E", "%2E%2E", "bank"]


def test_senses_of_another_word_are_not_believed(model: Model) -> None:
    save_senses(model, one_sense("bank"))
    (model.path / "senses" / "bank").rename(model.path / "senses" / folder_name("Bank"))
    with pytest.raises(ModelError, match=r"damaged \(it tells of 'bank'\); find them again"):
        saved_senses(model, "Bank")
