"""Damaged descriptions of attentions are refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.encoder import Encoder, random_encoder
from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import general
from ctxembed.attention.recurrent import Recurrent, random_recurrent
from ctxembed.errors import ModelError, UsageError
from ctxembed.model.attentions import Saved, check_free, load_attention, save_attention
from ctxembed.model.model import Model
from ctxembed.model.validate import find_fault
from ctxembed.training.shrink import shrink


@pytest.fixture
def model(tiny: Path, tmp_path: Path) -> Model:
    model = Model.open(shutil.copytree(tiny, tmp_path / "m"))
    frequency = np.arange(len(model.vocabulary), dtype=np.float32)
    save_attention(model, "learned", Saved(general("cosine", 4, 4, frequency)))
    return model


def change(model: Model, name: str = "learned", **changes: Any) -> None:
    path = model.path / "attention" / name / "layer.json"
    from_before = {"contents": None, "generation": None}  # a checksum would tell it at once
    description = {**json.loads(path.read_text()), **from_before, **changes}
    path.write_text(
        json.dumps({key: value for key, value in description.items() if value is not None})
    )


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "walls/../../../x", "", ".", "mystery"])
def test_no_array_is_read_from_elsewhere(name: str, model: Model, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3, np.float32))
    np.save(model.path / "x.npy", np.zeros(3, np.float32))
    change(model, arrays={name: [3]})
    with pytest.raises(ModelError, match=r"layer.json: damaged \(no array is called '"):
        load_attention(Model.open(model.path), "learned")


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
    with pytest.raises(ModelError, match=r"layer\.json: damaged .*learn it again"):
        load_attention(Model.open(model.path), "learned")


def test_saved_senses_are_read_back(model: Model) -> None:
    frequency = np.arange(10, dtype=np.float32)
    saved, layer = load_attention(model, "learned").layer, general("cosine", 4, 4, frequency)
    assert isinstance(saved, Layer)
    assert (saved.heads, saved.own, saved.unit) == (layer.heads, layer.own, layer.unit)
    for mine, theirs in zip(saved.terms, layer.terms, strict=True):
        assert type(mine) is type(theirs)
        np.testing.assert_allclose(mine.by_head, theirs.by_head, rtol=1e-6)
        if theirs.words is not None:
            np.testing.assert_allclose(np.asarray(mine.words), theirs.words, rtol=1e-6)


def test_an_attention_of_an_earlier_version_names_the_fix(model: Model) -> None:
    change(model, format=1)
    with pytest.raises(ModelError, match="by an earlier ctxembed; learn it again with: ctxembed"):
        load_attention(Model.open(model.path), "learned")


@pytest.mark.parametrize("damage", ["missing", "no JSON", "from before", "an array"])
def test_a_damaged_attention_can_be_learned_again(damage: str, model: Model) -> None:
    folder = model.path / "attention" / "learned"
    if damage == "missing":
        (folder / "layer.json").unlink()
    elif damage == "no JSON":
        (folder / "layer.json").write_text("{")
    elif damage == "from before":
        change(model, format=1)
    else:
        next(folder.glob("*.npy")).write_bytes(b"")
    again = Model.open(model.path)
    with pytest.raises(ModelError, match="learn it again"):
        load_attention(again, "learned")
    check_free(again, "learned", task=False)
    save_attention(
        again, "learned", Saved(general("cosine", 4, 4, np.arange(10, dtype=np.float32)))
    )
    layer = load_attention(Model.open(model.path), "learned").layer
    assert isinstance(layer, Layer)
    assert layer.heads == 4


def test_a_newer_format_is_not_overwritten(model: Model) -> None:
    change(model, format=99)
    with pytest.raises(ModelError, match=r"format 99 .* reads up to"):
        check_free(Model.open(model.path), "learned", task=False)


@pytest.fixture
def recurrent(model: Model) -> Recurrent:
    """Return a network that is saved in the model."""
    network = random_recurrent(model.dim, np.random.default_rng(1), size=3)
    save_attention(model, "recurrent", Saved(network))
    return network


def test_a_recurrent_network_is_read_back(model: Model, recurrent: Recurrent) -> None:
    for opened in (model, Model.open(model.path)):
        saved = load_attention(opened, "recurrent")
        assert saved.kind == "recurrent" and isinstance(saved.layer, Recurrent)
        for name, array in saved.layer.parameters().items():
            np.testing.assert_array_equal(array, recurrent.parameters()[name])


@pytest.mark.parametrize(
    "changes",
    [
        {"layer": {}},
        {"layer": {"own": True}},
        {"layer": {"own": "0.1"}},
        {"layer": {"own": float("nan")}},
        {"layer": {"own": 0.1, "heads": 4}},
        {"terms": ["wall"]},
        {"inputs": "mine"},
        {"arrays": {"c": [2, 3]}},
        {"kind": "attention"},
        {"kind": None},
    ],
)
def test_an_impossible_recurrent_network_is_damaged(
    changes: dict[str, Any], model: Model, recurrent: Recurrent
) -> None:
    change(model, "recurrent", **changes)
    with pytest.raises(ModelError, match=r"layer\.json: damaged .*learn it again"):
        load_attention(Model.open(model.path), "recurrent")


@pytest.mark.parametrize("kind", ["lstm", 3, ["recurrent"], {}])
def test_an_unknown_kind_of_layer_is_refused(kind: Any, model: Model) -> None:
    change(model, kind=kind)
    with pytest.raises(ModelError, match=r"unknown kind.*pip install --upgrade"):
        load_attention(Model.open(model.path), "learned")


@pytest.mark.parametrize("name", ["w", "u", "b", "c", "w_out"])
def test_arrays_of_another_size_are_damaged(name: str, model: Model, recurrent: Recurrent) -> None:
    array = recurrent.parameters()[name][:, :-1]
    np.save(model.path / "attention" / "recurrent" / f"{name}.npy", array)
    shapes = {key: list(a.shape) for key, a in recurrent.parameters().items() if key != "own"}
    change(model, "recurrent", arrays={**shapes, name: list(array.shape)})
    with pytest.raises(ModelError, match="not those of a recurrent network"):
        load_attention(Model.open(model.path), "recurrent")


def test_a_layer_of_another_kind_is_not_replaced(model: Model, recurrent: Recurrent) -> None:
    check_free(model, "recurrent", task=False, kind="recurrent")
    with pytest.raises(UsageError, match="would be lost"):
        check_free(model, "recurrent", task=False)
    with pytest.raises(UsageError, match="give another --name"):
        check_free(model, "learned", task=False, kind="recurrent")


@pytest.fixture
def encoder(model: Model) -> Encoder:
    """Return an encoder that is saved in the model."""
    random = random_encoder(model.dim, 2, np.random.default_rng(1), width=8, heads=2, reach=3)
    save_attention(model, "encoder", Saved(random))
    return random


def test_an_encoder_is_read_back(model: Model, encoder: Encoder) -> None:
    for opened in (model, Model.open(model.path)):
        saved = load_attention(opened, "encoder")
        assert saved.kind == "encoder" and isinstance(saved.layer, Encoder)
        assert saved.layer.size == {"layers": 2, "width": 8, "heads": 2, "reach": 3}
        assert saved.layer.parameters().keys() == encoder.parameters().keys()
        for name, array in saved.layer.parameters().items():
            np.testing.assert_array_equal(array, encoder.parameters()[name])
    assert find_fault(Model.open(model.path)) is None


def test_an_encoder_of_a_small_copy_has_16_bits(model: Model, encoder: Encoder) -> None:
    shrink(model, model.path.parent / "small")
    small = Model.open(model.path.parent / "small")
    array = np.load(small.path / "attention" / "encoder" / "encoder.npy")
    assert array.dtype == np.float16 and array.shape == encoder.flatten().shape
    kept = load_attention(small, "encoder").layer
    assert isinstance(kept, Encoder)
    assert kept.w_in.dtype == np.float32
    np.testing.assert_allclose(kept.flatten(), encoder.flatten(), rtol=1e-3, atol=1e-6)


SIZE = {"layers": 2, "width": 8, "heads": 2, "reach": 3}


@pytest.mark.parametrize(
    "changes",
    [
        {"layer": {}},
        {"layer": {**SIZE, "layers": 1}},
        {"layer": {**SIZE, "layers": 0}},
        {"layer": {**SIZE, "layers": 5}},
        {"layer": {**SIZE, "heads": True}},
        {"layer": {**SIZE, "heads": 3}},
        {"layer": {**SIZE, "width": 8.0}},
        {"layer": {**SIZE, "width": -8}},
        {"layer": {**SIZE, "width": 1 << 40}},
        {"layer": {**SIZE, "own": 1}},
        {"terms": ["wall"]},
        {"inputs": "mine"},
        {"arrays": {}},
        {"kind": "attention"},
        {"kind": "recurrent"},
    ],
)
def test_an_impossible_encoder_is_damaged(
    changes: dict[str, Any], model: Model, encoder: Encoder
) -> None:
    change(model, "encoder", **changes)
    with pytest.raises(ModelError, match=r"layer\.json: damaged .*learn it again"):
        load_attention(Model.open(model.path), "encoder")


def test_an_encoder_with_numbers_that_are_none_is_damaged(model: Model, encoder: Encoder) -> None:
    array = encoder.flatten()
    array[5] = np.nan
    np.save(model.path / "attention" / "encoder" / "encoder.npy", array)
    change(model, "encoder")
    with pytest.raises(ModelError, match=r"encoder\.npy: damaged"):
        load_attention(Model.open(model.path), "encoder")
