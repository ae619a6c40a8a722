"""Impossible contents with right checksums are named, without a traceback."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.errors import CtxembedError
from ctxembed.model.model import Model
from ctxembed.model.validate import find_fault
from ctxembed.storage.manifest import list_contents
from tests.conftest import Run, mentions, write_listed


@pytest.fixture
def model(tiny: Path, tmp_path: Path) -> Path:
    """A sound model with an attention; its senses are saved."""
    folder = write_listed(tiny, tmp_path / "m")
    assert find_fault(Model.open(folder)) is None
    return folder


LIES: dict[str, Any] = {  # a file, a place in it, and what no honest model has there
    "index/ids.npy": (0, 99),
    "index/offsets.npy": (1, 500),
    "index/positions.npy": (0, 5),
    "counts.npy": (0, -1),
    "vectors.npy": ((0, 0), np.nan),
    "attention/learned/word_words.npy": (0, np.inf),
}


@pytest.mark.parametrize("name", LIES)
def test_impossible_numbers(name: str, model: Path, run: Run) -> None:
    array = np.load(model / name)
    name_of_file, value = LIES[name]
    array[name_of_file] = value
    np.save(model / name, array)
    list_contents((model / name).parent if "attention" in name else model)
    done = run("info", "--check", "-m", str(model))
    assert done.returncode == 3
    assert done.stderr.startswith(f"ctxembed: {model}/{name.rpartition('/')[0]}")
    assert "damaged" in done.stderr


@pytest.mark.parametrize("key, value", [
    ("files", 3), ("files", [{}]), ("tokenizer", {"kind": []}), ("tokenizer", {"rules": 9}),
    ("tokens", -1), ("tokens", 0), ("seen_tokens", 0),
    ("files", [{"name": "c.txt", "sentences": 10**30}]),
])  # fmt: skip
def test_impossible_descriptions(key: str, value: object, model: Path, run: Run) -> None:
    description = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**description, key: value}))
    list_contents(model)
    done = run("info", "--check", "-m", str(model))
    assert (done.returncode, done.stdout) == (3, "")
    assert mentions(done.stderr, "model.json damaged model")


def test_damage_met_later_is_named(model: Path, spawn: Run) -> None:
    """A question ends in what a careful look at the model finds, not in a trace."""
    description = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**description, "files": [{}]}))
    list_contents(model)
    done = spawn("kwic", "apple", "-m", str(model))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"ctxembed: {model}/model.json: damaged (it makes no sense); train the model again\n"
    )


def test_too_large_word_numbers_take_no_memory(model: Path, run: Run) -> None:
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
    description = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps({**description, "format": float("inf")}))
    list_contents(model)
    assert "model.json: damaged" in run("info", "-m", str(model)).stderr


def test_a_model_directory_is_not_a_corpus(model: Path, run: Run) -> None:
    (model / "model.json").unlink()
    done = run("keywords", str(model), str(model))
    assert (done.returncode, done.stdout) == (3, "")
    assert "not a model" in done.stderr


def test_a_check_without_memory_is_not_a_fault(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sound model is not called damaged because few files may be open."""

    def fail(_: Model) -> None:
        raise CtxembedError("too many open files")

    opened = Model.open(model)
    monkeypatch.setattr(Model, "vectors", property(fail))
    with pytest.raises(CtxembedError, match="too many open files"):
        find_fault(opened)
