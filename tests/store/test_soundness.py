"""A model that lies with right checksums: what cannot be is named, and nothing ends in a trace."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.starts import general
from ctxembed.store.attentions import Saved, save_attention
from ctxembed.store.contents import list_contents
from ctxembed.store.model import Model
from ctxembed.store.soundness import find_fault
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
    ("tokens", -1), ("files", [{"name": "c.txt", "sentences": 10**30}]),
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
