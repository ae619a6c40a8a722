"""Saved senses: one file for all words of a model, refused if it does not fit."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import ModelError
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import FILE, SavedSenses, open_senses, save_senses, saved_senses
from ctxembed.model.write import write_files
from tests.conftest import Run

WORDS = [".", "..", "a/b", "../../x", "/", "~", "Bank", "bank", "nul\0", "\udc80", "x" * 5000]


def two_senses(word: str, dim: int = 2, first: float = 1.0) -> SavedSenses:
    rows = np.array([[first] * dim, [0.5] * dim], np.float32)
    marks, positions = [["money"], ["river", "water"]], [[3, 4], [9]]
    return SavedSenses(
        word, "general", [3, 1], rows, -rows, [0.0, 2.0], marks, positions, {"k": None}
    )


@pytest.fixture
def model(tmp_path: Path) -> Model:
    meta = {"tokens": 9, "tokenizer": {"kind": "whitespace", "cased": True}}
    words = [word for word in WORDS if "\udc80" not in word]
    (tmp_path / "m").mkdir()
    vectors = np.ones((len(words), 2), np.float32)
    write_files(tmp_path / "m", words, np.ones(len(words), np.int64), vectors, None, meta)
    return Model.open(tmp_path / "m")


def test_saved_senses_are_read_back(model: Model) -> None:
    assert saved_senses(model, "bank") is None
    for number, word in enumerate(WORDS):
        assert save_senses(model, two_senses(word, first=number)) == model.path / FILE
    assert set(open_senses(model)) == set(WORDS)
    senses = saved_senses(model, "bank")
    assert senses is not None
    assert (senses.word, senses.number, senses.shares.tolist()) == ("bank", 2, [0.75, 0.25])
    assert senses.vectors.tolist() == [[7.0, 7.0], [0.5, 0.5]]  # bank is the eighth
    assert senses.weights.tolist() == [[-7.0, -7.0], [-0.5, -0.5]]
    assert (list(senses.bias), senses.markers[1]) == ([0.0, 2.0], ["river", "water"])
    assert (senses.examples, senses.facts) == ([[3, 4], [9]], {"k": None})
    capital = saved_senses(model, "Bank")
    assert capital is not None and capital.vectors[0, 0] == 6


def test_many_at_once_and_one_again(model: Model) -> None:
    save_senses(model, two_senses("bank"), two_senses("Bank", first=5))
    save_senses(model, two_senses("bank", first=8))
    senses = open_senses(model)
    assert [(word, item.vectors[0, 0]) for word, item in senses.items()] == [
        ("bank", 8),
        ("Bank", 5),
    ]


def test_export_writes_one_file(model: Model) -> None:
    before = {item.name for item in model.path.iterdir()}
    save_senses(model, two_senses(".."))
    assert {item.name for item in model.path.iterdir()} == {*before, FILE}


def test_a_word_made_of_dots(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the bank . money .. apple\nriver bank .. and . phone\n" * 30)
    options = ("--tokenizer", "whitespace", "--lines", "--static-only", "--epochs", "1")
    assert run("train", "c.txt", "-o", "m", *options).returncode == 0
    for word in ("bank", ".", ".."):
        assert run("senses", word, "--k", "1", "--save", "-m", "m").returncode == 0
    assert run("info", "-m", "m").returncode == 0
    assert sorted(open_senses(Model.open(tmp_path / "m"))) == [".", "..", "bank"]


def _damage(path: Path, **changed: object) -> None:
    with np.load(path) as file:
        arrays = dict(file)
    description = json.loads(arrays["description"].tobytes())
    for name, value in changed.items():
        if name in description:
            description[name] = value
        else:
            array = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.array(value)
            arrays[name] = array
    arrays["description"] = np.frombuffer(json.dumps(description).encode(), np.uint8)
    np.savez(path, **arrays)


def test_the_old_format_is_read(model: Model) -> None:
    path = save_senses(model, two_senses("Bank"), two_senses("bank", first=3))
    with np.load(path) as file:
        arrays = dict(file)
    words = arrays.pop("words").tobytes().decode().split("\n")
    descriptions = map(json.loads, arrays.pop("told").tobytes().decode().split("\n"))
    del arrays["ends"]
    every = {
        "format": 2,
        "model": model.fingerprint,
        "words": dict(zip(words, descriptions, strict=True)),
    }
    np.savez(path, **arrays | {"description": np.frombuffer(json.dumps(every).encode(), np.uint8)})
    model.senses = None
    senses = saved_senses(model, "bank")
    assert senses is not None and senses.vectors[0].tolist() == [3, 3]
    assert list(open_senses(model)) == ["Bank", "bank"]


def test_damage_is_reported(model: Model) -> None:
    path = save_senses(model, two_senses("bank"))
    whole = path.read_bytes()
    for harm, message in (
        (lambda: path.write_bytes(b""), "damaged"),
        (lambda: path.write_bytes(whole[:100]), "damaged"),
        (lambda: _damage(path, told=b"{}"), "damaged"),
        (lambda: _damage(path, told=b"[["), "damaged"),
        (lambda: _damage(path, told=b"\n{}"), "damaged"),
        (lambda: _damage(path, ends=[7]), "damaged"),
        (lambda: _damage(path, ends=[-2]), "damaged"),
        (lambda: _damage(path, vectors=np.full((2, 2), np.nan, np.float32)), "damaged"),
        (lambda: _damage(path, vectors=np.ones((2, 2), np.int64)), "damaged"),
        (lambda: _damage(path, format=9), "format 9, this ctxembed reads up to 3"),
        (lambda: _damage(path, model="other"), "made for another model"),
    ):
        path.write_bytes(whole)
        harm()
        with pytest.raises(ModelError, match=f"{message}.*ctxembed senses WORD --save finds"):
            saved_senses(Model.open(model.path), "bank")
    save_senses(model, two_senses("bank"))  # what is worth nothing is replaced
    assert saved_senses(model, "bank") is not None


def test_senses_that_unpack_to_anything(model: Model) -> None:
    """ModelRepresentation are not packed; what is packed may be a bomb."""
    save_senses(model, two_senses("bank"))
    with np.load(model.path / FILE) as file:
        np.savez_compressed(model.path / FILE, **dict(file))
    with pytest.raises(ModelError, match="damaged"):
        open_senses(Model.open(model.path))


def test_senses_of_a_terabyte(model: Model) -> None:
    """A sparse file costs nothing to make; it is not read."""
    (model.path / FILE).touch()
    os.truncate(model.path / FILE, 1 << 40)
    with pytest.raises(ModelError, match="longer than 256 MiB"):
        open_senses(Model.open(model.path))


def test_nothing_may_stand_behind_senses(model: Model) -> None:
    """A zip file may have anything after its end, and opens; senses.npz has nothing there."""
    save_senses(model, two_senses("bank"))
    with (model.path / FILE).open("ab") as file:
        file.write(b"x")
    with pytest.raises(ModelError, match="damaged"):
        open_senses(Model.open(model.path))
