"""An attention in a model directory: attention/NAME/layer.json and one .npy a matrix."""

import json
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.attention.layer import NOTHING, Layer, Side
from ctxembed.errors import ModelError, UsageError
from ctxembed.static.space import Floats
from ctxembed.store.model import Model, write_json
from ctxembed.text.npy import load

FORMAT = 1
HEAD = ("head", "anchors")  # what a task has beside its layer
PARTS = {"inputs": str, "layer": dict, "arrays": dict, "settings": dict, "figures": dict}
ARRAYS = {*HEAD, *(item.name for kind in (Layer, Side) for item in fields(kind))}
FIX = "learn it again with: ctxembed learn"
RESERVED = ("static", "bag", "general", "random", "given")  # names that mean something already


@dataclass(frozen=True)
class Saved:
    """A layer, how its inputs are made, and what is known about it."""

    layer: Layer
    side: Side = NOTHING  # (V,) what is known about each word beside its vector
    inputs: str = "centred"  # how a word's static vector is prepared: raw, unit or centred
    settings: dict[str, Any] = field(default_factory=dict)  # how it was learned
    figures: dict[str, float] = field(default_factory=dict)  # how well, on held-out text
    task: dict[str, Any] = field(default_factory=dict)  # what the labels of a task are
    head: dict[str, Floats] = field(default_factory=dict)  # and how they are read


def check_name(name: str) -> str:
    """Return the name if an attention may have it."""
    if not re.fullmatch(r"[\w][\w.-]*", name) or name in RESERVED:
        raise UsageError(
            f"an attention cannot be called {name!r}; take letters, digits, - and _,"
            f" but none of {', '.join(RESERVED)}"
        )
    return name


def check_free(model: Model, name: str, *, task: bool) -> None:
    """Refuse a name under which the model has another kind of attention: it would be lost."""
    check_name(name)
    if name in model.attentions() and bool(load_attention(model, name).task) != task:
        kind = "without labels" if task else "for a task"
        raise UsageError(f"{name!r} was learned {kind} and would be lost; give another --name")


def save_attention(model: Model, name: str, saved: Saved) -> None:
    """Write an attention whole, or leave the earlier one."""
    from ctxembed.store.whole import written_whole

    model.check_unchanged()
    (model.path / "attention").mkdir(exist_ok=True)
    with written_whole(model.path / "attention" / check_name(name), replace=True) as folder:
        meta: dict[str, Any] = {"format": FORMAT, "inputs": saved.inputs}
        meta |= {"model": model.fingerprint} if model.fingerprint else {}
        meta |= {"task": saved.task} if saved.task else {}
        arrays: dict[str, Floats | None] = {**vars(saved.side), **saved.head}
        numbers = {}
        for item in fields(Layer):
            value = getattr(saved.layer, item.name)
            if value is None or isinstance(value, np.ndarray):
                arrays[item.name] = value
            else:
                numbers[item.name] = value
        kept = {key: array for key, array in arrays.items() if array is not None}
        meta |= {"layer": numbers, "arrays": {key: list(a.shape) for key, a in kept.items()}}
        for key, array in kept.items():
            np.save(folder / f"{key}.npy", np.asarray(array, np.float32))
        write_json(
            folder / "layer.json", meta | {"settings": saved.settings, "figures": saved.figures}
        )


def read_description(model: Model, name: str) -> dict[str, Any]:
    """Read what is known about an attention, without its matrices."""
    path = model.path / "attention" / name / "layer.json"
    try:
        meta: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = int(meta["format"])
        whole = all(isinstance(meta.get(key), kind) for key, kind in PARTS.items())
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; {FIX}") from None
    except (OSError, ValueError, KeyError, TypeError):
        version, whole = 0, False
    if version > FORMAT:
        raise ModelError(
            f"{path}: format {version}, this ctxembed reads up to {FORMAT}."
            " Upgrade with: pip install --upgrade ctxembed"
        )
    if not whole:
        raise ModelError(f"{path}: damaged; {FIX}")
    model.check_made_for(path, meta.get("model"), FIX)
    return meta


def load_attention(model: Model, name: str) -> Saved:
    """Open an attention; its matrices are mapped."""
    meta = read_description(model, name)
    folder = model.path / "attention" / name
    arrays: dict[str, Any] = {}
    for key, shape in meta["arrays"].items():
        arrays[key] = _array(folder, key, shape)
    side = Side(*(arrays.pop(item.name, None) for item in fields(Side)))
    head = {key: arrays.pop(key) for key in HEAD if key in arrays}
    try:
        layer = Layer(**meta["layer"], **arrays)
    except TypeError:
        raise ModelError(f"{folder / 'layer.json'}: damaged; {FIX}") from None
    told = meta["settings"], meta["figures"], meta.get("task", {})
    return Saved(layer, side, meta["inputs"], *told, head)


def _array(folder: Path, key: str, shape: list[int]) -> Floats:
    """Map an array; a name that we never wrote might lead out of the model."""
    if key not in ARRAYS:
        raise ModelError(f"{folder / 'layer.json'}: damaged (no array is called {key!r}); {FIX}")
    array: Floats = load(folder / f"{key}.npy")
    if list(array.shape) != shape or not np.isfinite(array.sum()):
        raise ModelError(f"{folder / key}.npy: damaged; {FIX}")
    return array
