"""A model that lies with right checksums: what cannot be is named, and nothing ends in a trace."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.presets import general
from ctxembed.errors import CtxembedError
from ctxembed.model.attentions import Saved, save_attention
from ctxembed.model.model import Model
from ctxembed.model.validate import find_fault
from ctxembed.storage.manifest import list_contents
from tests.conftest import Run


@pytest.fixture
def model(tiny: Path, tmp_path: Path) -> Path:
    """A sound model with an attention; its senses are saved."""
    place = shutil.copytree(tiny, tmp_path / "m")
    list_contents(place)
    frequency = np.arange(10, dtype=np.float32)
    save_attention(Model.open(place), "learned", Saved(general("cosine", 4, 4, frequency)))
    assert find_fault(Model.open(place)) is None
    return place


LIES: dict[str, Any] = {  # a file, a place in it, and what no honest model has there
    "index/ids.npy": (0, 99),
    "index/offsets.npy": (1, 500),
    "index/positions.npy": (0, 5),
    "counts.npy": (0, -1),
    "vectors.npy": ((0, 0), np.nan),
    "attention/learned/word_words.npy": (0, np.inf),
}


@pytest.mark.parametrize("name", LIES)
def test_numbers_that_cannot_be(name: str, model: Path, run: Run) -> None:
    array = np.load(model / name)
    place, value = LIES[name]
    array[place] = value
    np.save(model / name, array)
    list_contents((model / name).parent if "attention" in name else model)
    done = run("check", str(model))
    assert done.returncode == 3
    assert done.stderr.startswith(f"ctxembed: {model}/{name.rpartition('/')[0]}")
    assert "damaged" in done.stderr


@pytest.mark.parametrize("key, value", [
    ("files", 3), ("files", [{}]), ("tokenizer", {"kind": []}), ("tokenizer", {"rules": 9}),
    ("tokens", -1), ("tokens", 0), ("seen_tokens", 0),
    ("files", [{"name": "c.txt", "sentences": 10**30}]),
])  # fmt: skip
def test_descriptions_that_cannot_be(key: str, value: object, model: Path, run: Run) -> None:
    told = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**told, key: value}))
    list_contents(model)
    done = run("check", str(model))
    assert (done.returncode, done.stdout) == (3, "")
    assert "model.json: damaged (it makes no sense); train the model again" in done.stderr


def test_who_meets_a_lie_names_it(model: Path, spawn: Run) -> None:
    """A question ends in what a careful look at the model finds, not in a trace."""
    told = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**told, "files": [{}]}))
    list_contents(model)
    done = spawn("kwic", "apple", "-m", str(model))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"ctxembed: {model}/model.json: damaged (it makes no sense); train the model again\n"
    )


def test_words_beyond_all_words_take_no_memory(model: Path, run: Run) -> None:
    """An id of two billion would be counted in an array of as many rows."""
    ids = np.load(model / "index/ids.npy")
    ids[3] = 2**31 - 1
    np.save(model / "index/ids.npy", ids)
    list_contents(model)
    for line in (["collocates", "apple"], ["keywords", str(model)]):
        done = run(*line, str(model)) if line[0] == "keywords" else run(*line, "-m", str(model))
        assert done.returncode == 3
        assert f"{model}/index/ids.npy: damaged" in done.stderr


def test_a_format_that_is_no_number(model: Path, run: Run) -> None:
    told = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**told, "format": float("inf")}))
    list_contents(model)
    assert "model.json: damaged" in run("info", "-m", str(model)).stderr


def test_what_was_a_model_is_no_corpus(model: Path, run: Run) -> None:
    (model / "model.json").unlink()
    done = run("keywords", str(model), str(model))
    assert (done.returncode, done.stdout) == (3, "")
    assert "not a model" in done.stderr


def test_no_room_to_look_is_no_fault(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sound model is not called damaged because few files may be open."""

    def fail(_: Model) -> None:
        raise CtxembedError("too many open files")

    opened = Model.open(model)
    monkeypatch.setattr(Model, "vectors", property(fail))
    with pytest.raises(CtxembedError, match="too many open files"):
        find_fault(opened)
