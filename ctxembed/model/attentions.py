"""An attention in a model directory: attention/NAME/layer.json and one .npy a matrix."""

import re
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from ctxembed.attention.layer import MATRICES, Layer
from ctxembed.attention.terms import TERMS
from ctxembed.errors import ModelError, UsageError
from ctxembed.model.model import Model
from ctxembed.static.quantized import Small
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Folder, Part
from ctxembed.storage.manifest import LEARN_AGAIN as FIX
from ctxembed.storage.manifest import believe, open_attention, read_format, read_json, write_json

FORMAT = 2
NUMBERS = ("heads", "scale", "unit", "skip_self", "own", "share", "looks_twice")
TASK_HEAD = ("head", "anchors")  # what a task has beside its layer
PARTS = {
    "inputs": str, "layer": dict, "terms": list, "arrays": dict, "settings": dict, "figures": dict,
}  # fmt: skip
ARRAYS = {*MATRICES, *TASK_HEAD, *(f"{term}{part}" for term in TERMS for part in ("", "_words"))}
RESERVED = ("static", "bag", "general", "random", "given")  # names that mean something already


@dataclass(frozen=True)
class Saved:
    """A layer, how its inputs are made, and what is known about it."""

    layer: Layer
    inputs: str = "centred"  # how a word's static vector is prepared: raw, unit or centred
    settings: dict[str, Any] = field(default_factory=dict)  # how it was learned
    figures: dict[str, float] = field(default_factory=dict)  # how well, on held-out text
    task: dict[str, Any] = field(default_factory=dict)  # what the labels of a task are
    task_head: dict[str, Floats] = field(default_factory=dict)  # and how they are read


def check_free(model: Model, name: str, *, task: bool) -> None:
    """Refuse a name that means something else, or under which another kind would be lost."""
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
        return  # damaged: there is nothing to lose, and learning it again is what helps
    if isinstance(meta.get("format"), int) and meta["format"] > FORMAT:
        read_description(model, name)  # says that it is too new
    if bool(meta.get("task")) != task:
        kind = "without labels" if task else "for a task"
        raise UsageError(f"{name!r} was learned {kind} and would be lost; give another --name")


def save_attention(model: Model, name: str, saved: Saved) -> None:
    """Write an attention whole, or leave the earlier one."""
    from ctxembed.storage.atomic import written_whole

    model.check_unchanged()
    (model.path / "attention").mkdir(exist_ok=True)
    with written_whole(model.path / "attention" / name, replace=True) as folder:
        model.check_unchanged()  # from here on, what replaced the model would not be reached
        arrays = _arrays(saved)
        kind = np.float16 if isinstance(model.vectors, Small) else np.float32
        for key, array in arrays.items():
            np.save(folder / f"{key}.npy", np.asarray(array, kind))
        meta = {
            "format": FORMAT,
            "inputs": saved.inputs,
            **({"model": model.fingerprint} if model.fingerprint else {}),
            **({"task": saved.task} if saved.task else {}),
            "layer": {name: getattr(saved.layer, name) for name in NUMBERS},
            "terms": [term.name for term in saved.layer.terms],
            "arrays": {key: list(array.shape) for key, array in arrays.items()},
            "settings": saved.settings,
            "figures": saved.figures,
        }
        write_json(folder / "layer.json", meta)
    model.held[name] = open_attention(model.files, name)


def _arrays(saved: Saved) -> dict[str, Floats]:
    """Return every array of an attention under the name of its file."""
    layer = saved.layer
    arrays = {name: getattr(layer, name) for name in MATRICES} | saved.task_head
    for term in layer.terms:
        arrays |= {term.name: term.by_head, f"{term.name}_words": term.words}
    return {name: array for name, array in arrays.items() if array is not None}


def read_description(model: Model, name: str) -> dict[str, Any]:
    """Read what is known about an attention, without its matrices."""
    path = _description(model, name)
    meta = read_json(path)
    version = read_format(path, meta)
    if version > FORMAT:
        raise ModelError(
            f"{path}: format {version}, this ctxembed reads up to {FORMAT}."
            " Upgrade with: pip install --upgrade ctxembed"
        )
    believe(path, meta)
    whole = all(isinstance(meta.get(key), kind) for key, kind in PARTS.items())
    if whole and version < FORMAT:
        raise ModelError(f"{path}: learned by an earlier ctxembed; {FIX}")
    if not whole:
        raise ModelError(f"{path}: damaged; {FIX}")
    model.check_made_for(path, meta.get("model"), FIX)
    return meta


def _description(model: Model, name: str) -> Part:
    """Return the description of an attention that the model has."""
    found = model.held.get(name) or open_attention(model.files, name)
    if found is None:
        raise ModelError(f"{model.path / 'attention' / name / 'layer.json'}: missing; {FIX}")
    model.held[name] = found
    return found


def written_at(model: Model, name: str) -> int:
    """Return when an attention was written, in nanoseconds; 0 where there is none."""
    if name not in model.held:
        return 0
    with _description(model, name).opened() as (_, found):
        return found.st_mtime_ns


def digest(model: Model, name: str) -> int:
    """Return a number that changes when an attention is learned anew; 0 where none is learned."""
    return crc32(_description(model, name).read_bytes()) if name in model.held else 0


def load_attention(model: Model, name: str) -> Saved:
    """Open an attention; its matrices are mapped."""
    meta = read_description(model, name)
    path = _description(model, name)
    arrays: dict[str, Any] = {
        key: _array(path.folder, key, shape) for key, shape in meta["arrays"].items()
    }
    task_head = {key: arrays.pop(key) for key in TASK_HEAD if key in arrays}
    try:
        terms = (
            TERMS[key](arrays.pop(key), arrays.pop(f"{key}_words", None)) for key in meta["terms"]
        )
        layer = Layer(**meta["layer"], terms=tuple(terms), **arrays)
    except (KeyError, TypeError):
        raise ModelError(f"{path}: damaged; {FIX}") from None
    return Saved(
        layer, meta["inputs"], meta["settings"], meta["figures"], meta.get("task", {}), task_head
    )


def _array(folder: Folder, key: str, shape: list[int]) -> Floats:
    """Map an array; a name that we never wrote might lead out of the model."""
    if key not in ARRAYS:
        raise folder.damage("layer.json", f"no array is called {key!r}")
    array: Floats = load(folder / f"{key}.npy")
    sound = array.dtype.kind == "f" and np.isfinite(array.sum(dtype=np.float64))
    if list(array.shape) != shape or not sound:
        raise ModelError(f"{folder.path / key}.npy: damaged; {FIX}")
    if array.dtype == np.float16 and not key.endswith("_words"):  # of those, few rows are asked for
        return array.astype(np.float32)
    return array
