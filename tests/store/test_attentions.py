"""An attention's description is not believed blindly."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.layer import Side, general
from ctxembed.errors import ModelError
from ctxembed.store.attentions import Saved, load_attention, save_attention
from ctxembed.store.model import Model


@pytest.fixture
def model(tiny: Path, tmp_path: Path) -> Model:
    model = Model.open(shutil.copytree(tiny, tmp_path / "m"))
    side = Side(key_bias=np.arange(len(model.vocab), dtype=np.float32))
    save_attention(model, "learned", Saved(general("cosine", 4), side))
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
    saved, layer = load_attention(model, "learned"), general("cosine", 4)
    assert saved.layer.positions is not None and layer.positions is not None
    np.testing.assert_allclose(saved.layer.positions, layer.positions, rtol=1e-6)
    assert (saved.layer.heads, saved.layer.own) == (layer.heads, layer.own)
    assert saved.side.key_bias is not None and saved.side.key_bias.tolist() == list(range(10))
