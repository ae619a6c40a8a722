"""An attention's description is not believed blindly."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.layer import attend
from ctxembed.attention.starts import general
from ctxembed.errors import ModelError
from ctxembed.store.attentions import Saved, load_attention, save_attention
from ctxembed.store.model import Model


@pytest.fixture
def model(tiny: Path, tmp_path: Path) -> Model:
    model = Model.open(shutil.copytree(tiny, tmp_path / "m"))
    frequency = np.arange(len(model.vocab), dtype=np.float32)
    save_attention(model, "learned", Saved(general("cosine", 4, 4, frequency)))
    return model


def change(model: Model, **changes: Any) -> None:
    path = model.path / "attention" / "learned" / "layer.json"
    told = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in told.items() if value is not None}))


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "walls/../../../x", "", ".", "mystery"])
def test_no_array_is_read_from_elsewhere(name: str, model: Model, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3, np.float32))
    np.save(model.path / "x.npy", np.zeros(3, np.float32))
    change(model, arrays={name: [3]})
    with pytest.raises(ModelError, match=r"layer.json: damaged \(no array is called '"):
        load_attention(model, "learned")


@pytest.mark.parametrize(
    "changes",
    [
        {"arrays": ["walls"]},
        {"arrays": None},
        {"layer": {"heads": 4, "color": "red"}},
        {"layer": None},
        {"settings": None},
        {"inputs": None},
    ],
)
def test_a_description_with_gaps_is_damaged(changes: dict[str, Any], model: Model) -> None:
    change(model, **changes)
    with pytest.raises(ModelError, match=r"layer\.json: damaged; learn it again with: ctxembed le"):
        load_attention(model, "learned")


def test_what_was_saved_comes_back(model: Model) -> None:
    frequency = np.arange(10, dtype=np.float32)
    saved, layer = load_attention(model, "learned").layer, general("cosine", 4, 4, frequency)
    assert (saved.heads, saved.own, saved.unit) == (layer.heads, layer.own, layer.unit)
    for mine, theirs in zip(saved.terms, layer.terms, strict=True):
        assert type(mine) is type(theirs)
        np.testing.assert_allclose(mine.by_head, theirs.by_head, rtol=1e-6)
        if theirs.words is not None:
            np.testing.assert_allclose(np.asarray(mine.words), theirs.words, rtol=1e-6)


def test_the_first_format_still_opens(tiny: Path, tmp_path: Path) -> None:
    """A layer whose numbers about words lay beside it, as models had it before terms."""
    model = Model.open(shutil.copytree(tiny, tmp_path / "m"))
    folder = model.path / "attention" / "learned"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "w_q": (2, 8, 4), "w_k": (2, 4, 4), "w_v": (2, 4, 4), "w_o": (2, 4, 4), "b_q": (2, 4),
        "positions": (2, 5), "walls": (2,), "key_bias": (10, 2), "salience": (10,),
        "heights": (10,),
    }  # fmt: skip
    arrays = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    numbers = {"heads": 2, "scale": 0.5, "unit": False, "skip_self": True, "own": 0.2}
    told = {"format": 1, "inputs": "centred", "settings": {}, "figures": {}}
    told |= {"layer": numbers | {"share": 1.0, "near": True}}
    told |= {"arrays": {name: list(shape) for name, shape in shapes.items()}}
    (folder / "layer.json").write_text(json.dumps(told))
    layer = load_attention(model, "learned").layer
    x, ids = rng.normal(size=(1, 4, 4)), np.array([[3, 1, 4, 9]])
    made = attend(layer, x, ids, queries=np.array([2]))
    trace = made.trace()
    for head in range(2):  # what each word adds, by hand
        assert trace.added["word"][0, head, 0].tolist() == arrays["key_bias"][ids[0], head].tolist()
        wall = -arrays["walls"][head] * np.array([arrays["heights"][1], 0, 0, 0])
        np.testing.assert_allclose(trace.added["wall"][0, head, 0], wall, rtol=1e-6)
        np.testing.assert_allclose(
            trace.added["distance"][0, head, 0], arrays["positions"][head, [0, 1, 2, 3]]
        )
    assert np.isfinite(made.output).all()
