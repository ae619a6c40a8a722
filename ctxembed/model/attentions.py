"""An attention in a model directory: attention/NAME/layer.json and one .npy a matrix."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from ctxembed.attention.layer import MATRICES, Layer
from ctxembed.attention.terms import TERMS
from ctxembed.errors import ModelError, UsageError
from ctxembed.model.model import Model
from ctxembed.static.space import Quantized
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Folder, Part
from ctxembed.storage.manifest import LEARN_AGAIN as FIX
from ctxembed.storage.manifest import apply_manifest, open_attention, read_json, write_json

FORMAT = 2
NUMBERS = ("heads", "scale", "unit", "skip_self", "own", "share", "looks_twice")
TASK_HEAD = ("head", "anchors")  # what a task has beside its layer
KINDS = {  # what layer.json needs
    "inputs": str, "layer": dict, "terms": list, "arrays": dict, "settings": dict, "figures": dict,
}  # fmt: skip
ARRAYS = {*MATRICES, *TASK_HEAD, *(f"{term}{part}" for term in TERMS for part in ("", "_words"))}
RESERVED = ("static", "bag", "general", "random", "given")  # names that mean something already


@dataclass(frozen=True)
class Saved:
    """A learned attention: the layer, the inputs it expects, and how it was learned."""

    layer: Layer
    inputs: str = "centred"  # how a word's static vector is prepared: raw, unit or centred
    settings: dict[str, Any] = field(default_factory=dict)  # of its training
    figures: dict[str, float] = field(default_factory=dict)  # scores on held-out text
    task: dict[str, Any] = field(default_factory=dict)  # the labels of a task
    task_head: dict[str, Floats] = field(default_factory=dict)  # the arrays that predict them


def check_free(model: Model, name: str, *, task: bool) -> None:
    """Refuse a reserved name, or one under which an attention of another kind would be lost."""
    if not re.fullmatch(r"[\w][\w.-]*", name) or name in RESERVED:
        raise UsageError(
            f"an attention cannot be called {name!r}; take letters, digits, - and _,"
            f" but none of {', '.join(RESERVED)}"
        )
    if name not in model.attentions():
        return
    try:
        meta = read_json(_description(model, name))
    except ModelError:
        return  # damaged: there is nothing to lose
    if type(meta.get("format")) is int:
        read_json(_description(model, name), FORMAT)  # refuses a newer one
    if bool(meta.get("task")) != task:
        kind = "without labels" if task else "for a task"
        raise UsageError(f"{name!r} was learned {kind} and would be lost; give another --name")


def save_attention(model: Model, name: str, saved: Saved) -> None:
    """Write an attention atomically: after a failure the earlier one is unchanged."""
    from ctxembed.storage.atomic import atomic_directory

    with model.locked():
        (model.path / "attention").mkdir(exist_ok=True)
        with atomic_directory(model.path / "attention" / name, replace=True) as folder:
            _write_files(folder, model, saved)
    model.opened_attentions[name] = open_attention(model.files, name)


def _write_files(folder: Path, model: Model, saved: Saved) -> None:
    layer = saved.layer
    arrays = {key: getattr(layer, key) for key in MATRICES} | saved.task_head
    for term in layer.terms:
        arrays |= {term.name: term.by_head, f"{term.name}_words": term.words}
    arrays = {key: array for key, array in arrays.items() if array is not None}
    kind = np.float16 if isinstance(model.vectors, Quantized) else np.float32
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", np.asarray(array, kind))
    meta = {
        "format": FORMAT,
        "inputs": saved.inputs,
        **({"model": model.fingerprint} if model.fingerprint else {}),
        **({"task": saved.task} if saved.task else {}),
        "layer": {key: getattr(layer, key) for key in NUMBERS},
        "terms": [term.name for term in layer.terms],
        "arrays": {key: list(array.shape) for key, array in arrays.items()},
        "settings": saved.settings,
        "figures": saved.figures,
    }
    write_json(folder / "layer.json", meta)


def read_description(model: Model, name: str) -> dict[str, Any]:
    """Return the layer.json of an attention; its arrays are not read."""
    part = _description(model, name)
    meta = read_json(part, FORMAT)
    apply_manifest(part, meta)
    if not all(isinstance(meta.get(key), kind) for key, kind in KINDS.items()):
        raise part.folder.damage(part.name, "incomplete")
    if meta["format"] < FORMAT:
        raise ModelError(f"{part}: learned by an earlier ctxembed; {FIX}")
    model.check_fingerprint(part, meta.get("model"), FIX)
    return meta


def _description(model: Model, name: str) -> Part:
    """Return the description of an attention that the model has."""
    part = model.opened_attentions.get(name) or open_attention(model.files, name)
    if part is None:
        raise ModelError(f"{model.path / 'attention' / name / 'layer.json'}: missing; {FIX}")
    model.opened_attentions[name] = part
    return part


def written_at(model: Model, name: str) -> int:
    """Return the time when an attention was written, in nanoseconds; 0 where there is none."""
    if name not in model.opened_attentions:
        return 0
    with _description(model, name).opened() as (_, status):
        return status.st_mtime_ns


def digest(model: Model, name: str) -> int:
    """Return a checksum of a learned attention; 0 where there is none."""
    return crc32(_description(model, name).read_bytes()) if name in model.opened_attentions else 0


def load_attention(model: Model, name: str) -> Saved:
    """Return an attention of a model; its arrays are mapped."""
    meta = read_description(model, name)
    part = _description(model, name)
    arrays: dict[str, Any] = {
        key: _read_array(part.folder, key, shape) for key, shape in meta["arrays"].items()
    }
    task_head = {key: arrays.pop(key) for key in TASK_HEAD if key in arrays}
    try:
        terms = (TERMS[t](arrays.pop(t), arrays.pop(f"{t}_words", None)) for t in meta["terms"])
        layer = Layer(**meta["layer"], terms=tuple(terms), **arrays)
    except (KeyError, TypeError):
        raise part.folder.damage(part.name, "its arrays are not those of its layer") from None
    inputs, settings, figures = (meta[key] for key in ("inputs", "settings", "figures"))
    return Saved(layer, inputs, settings, figures, meta.get("task", {}), task_head)


def _read_array(folder: Folder, key: str, shape: list[int]) -> Floats:
    if key not in ARRAYS:  # another name might lead out of the model
        raise folder.damage("layer.json", f"no array is called {key!r}")
    array: Floats = load(folder / f"{key}.npy")
    finite = array.dtype.kind == "f" and np.isfinite(array.sum(dtype=np.float64))
    if list(array.shape) != shape or not finite:
        raise folder.damage(f"{key}.npy", "wrong shape or numbers")
    if array.dtype == np.float16 and not key.endswith("_words"):  # of those few rows are used
        return array.astype(np.float32)
    return array
