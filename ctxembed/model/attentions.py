"""An attention in a model directory: attention/NAME/layer.json and one .npy a matrix."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ctxembed.attention.layer import MATRICES, Layer
from ctxembed.attention.recurrent import AnyLayer, Recurrent
from ctxembed.attention.terms import TERMS, Term
from ctxembed.errors import ModelError, UsageError
from ctxembed.model.model import Model
from ctxembed.static.space import Quantized
from ctxembed.stats.vectors import Floats, all_finite
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Folder, Part
from ctxembed.storage.manifest import LEARN_AGAIN as FIX
from ctxembed.storage.manifest import apply_manifest, open_attention, read_json, write_json

if TYPE_CHECKING:
    from ctxembed.attention.encoder import Encoder

FORMAT = 2
NUMBERS = ("heads", "scale", "unit", "skip_self", "own", "share", "looks_twice")
TASK_HEAD = ("head", "anchors")  # what a task has beside its layer
KINDS = {  # what layer.json needs
    "inputs": str, "layer": dict, "terms": list, "arrays": dict, "settings": dict, "figures": dict,
}  # fmt: skip
LAYER_KINDS = ("attention", "recurrent", "encoder")
ENCODER = "encoder"  # the array of an encoder: one file, which is read faster than one for each
INPUTS = ("raw", "unit", "centred")  # how static vectors are prepared
STATES = ("w", "u", "b", "c", "w_out")  # the arrays of a recurrent network
ARRAYS = {
    *MATRICES, *TASK_HEAD, *(f"{term}{part}" for term in TERMS for part in ("", "_words")),
    *STATES, ENCODER,
}  # fmt: skip
TOGETHER = "together"  # an encoder reads the words that learned attention chooses
RESERVED = ("static", "bag", "general", "random", "given", TOGETHER)  # names with a meaning already
OWN_KINDS = {"learned": "attention", "encoder": "encoder"}  # of these two names


@dataclass(frozen=True)
class Saved:
    """A learned layer of any kind, its inputs, and how it was learned."""

    layer: "AnyLayer | Encoder"
    inputs: str = "centred"  # how a word's static vector is prepared: raw, unit or centred
    settings: dict[str, Any] = field(default_factory=dict)  # of its training
    figures: dict[str, float] = field(default_factory=dict)  # scores on held-out text
    task: dict[str, Any] = field(default_factory=dict)  # the labels of a task
    task_head: dict[str, Floats] = field(default_factory=dict)  # the arrays that predict them

    @property
    def kind(self) -> str:
        """The kind of the layer: attention, recurrent or encoder."""
        if isinstance(self.layer, Layer):
            return "attention"
        return "recurrent" if isinstance(self.layer, Recurrent) else "encoder"


def check_free(model: Model, name: str, *, task: bool, kind: str = "attention") -> None:
    """Refuse a reserved name, or one under which an attention of another kind would be lost."""
    if not re.fullmatch(r"[\w][\w.-]*", name) or name in RESERVED:
        raise UsageError(
            f"an attention cannot be called {name!r}; take letters, digits, - and _,"
            f" but none of {', '.join(RESERVED)}"
        )
    if OWN_KINDS.get(name, kind) != kind or (task and name == "encoder"):
        raise UsageError(f"{name!r} is the name of an {OWN_KINDS[name]}; give another --name")
    if name not in model.attentions():
        return
    try:
        meta = read_json(_description(model, name))
    except ModelError:
        return  # damaged: there is nothing to lose
    if type(meta.get("format")) is int:
        read_json(_description(model, name), FORMAT)  # refuses a newer one
    if bool(meta.get("task")) != task or meta.get("kind", "attention") != kind:
        which = "for a task" if meta.get("task") else "without labels"
        raise UsageError(f"{name!r} was learned {which} and would be lost; give another --name")


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
    terms: Sequence[Term] = ()
    arrays: dict[str, Floats]
    numbers: dict[str, Any]
    if isinstance(layer, Layer):
        terms, numbers = layer.terms, {key: getattr(layer, key) for key in NUMBERS}
        named = {key: getattr(layer, key) for key in MATRICES} | saved.task_head
        for term in terms:
            named |= {term.name: term.by_head, f"{term.name}_words": term.words}
        arrays = {key: array for key, array in named.items() if array is not None}
    elif isinstance(layer, Recurrent):
        arrays, numbers = {key: getattr(layer, key) for key in STATES}, {"own": layer.own}
    else:
        arrays, numbers = {ENCODER: layer.flatten()}, layer.size
    kind = np.float16 if isinstance(model.vectors, Quantized) else np.float32
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", np.asarray(array, kind))
    meta = {
        "format": FORMAT,
        "inputs": saved.inputs,
        **({"model": model.fingerprint} if model.fingerprint else {}),
        **({"task": saved.task} if saved.task else {}),
        **({} if saved.kind == "attention" else {"kind": saved.kind}),
        "layer": numbers,
        "terms": [term.name for term in terms],
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
    if meta.get("kind", "attention") not in LAYER_KINDS:
        raise ModelError(
            f"{part}: a layer of an unknown kind. Upgrade with: pip install --upgrade ctxembed"
        )
    if meta["format"] < FORMAT:
        raise ModelError(f"{part}: learned by an earlier ctxembed; {FIX}")
    model.check_fingerprint(part, meta.get("model"), FIX)
    return meta


def layer_kind(model: Model, name: str) -> str:
    """Return the kind of a layer: attention, recurrent or encoder; damage is reported by use."""
    if name not in model.attentions():
        return "attention"
    try:
        return str(read_json(_description(model, name)).get("kind", "attention"))
    except ModelError:
        return "attention"


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
    return _description(model, name).status().st_mtime_ns


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
    inputs, settings, figures = (meta[key] for key in ("inputs", "settings", "figures"))
    if meta.get("kind") == "recurrent":
        if (network := _recurrent(meta, arrays, model.dim)) is None or task_head:
            raise part.folder.damage(part.name, "its arrays are not those of a recurrent network")
        return Saved(network, inputs, settings, figures)
    if meta.get("kind") == "encoder":
        if (encoder := _encoder(meta, arrays, model.dim)) is None or task_head:
            raise part.folder.damage(part.name, "its arrays are not those of an encoder")
        return Saved(encoder, inputs, settings, figures)
    try:
        terms = (TERMS[t](arrays.pop(t), arrays.pop(f"{t}_words", None)) for t in meta["terms"])
        layer = Layer(**meta["layer"], terms=tuple(terms), **arrays)
    except (KeyError, TypeError):
        raise part.folder.damage(part.name, "its arrays are not those of its layer") from None
    return Saved(layer, inputs, settings, figures, meta.get("task", {}), task_head)


def _recurrent(meta: dict[str, Any], arrays: dict[str, Floats], dim: int) -> Recurrent | None:
    """Return the recurrent network of a description; None if a shape or number is impossible."""
    own = meta["layer"].get("own")
    if type(own) not in (int, float) or not math.isfinite(own) or len(meta["layer"]) > 1:
        return None
    if set(arrays) != set(STATES) or meta["terms"] or arrays["c"].ndim != 2:
        return None
    size = arrays["c"].shape[1]
    shapes = ((2, dim, 3 * size), (2, size, 3 * size), (2, 3 * size), (2, size), (2, size, dim))
    if any(arrays[key].shape != shape for key, shape in zip(STATES, shapes, strict=True)):
        return None
    return Recurrent(**arrays, own=float(own)) if size and meta["inputs"] in INPUTS else None


def _encoder(meta: dict[str, Any], arrays: dict[str, Floats], dim: int) -> "Encoder | None":
    """Return the encoder of a description; None if a shape or number is impossible."""
    from ctxembed.attention.encoder import MAX_LAYERS, unflatten

    size = meta["layer"]
    possible = all(type(number) is int and 0 < number < 1 << 16 for number in size.values())
    if meta["terms"] or meta["inputs"] not in INPUTS or set(arrays) != {ENCODER} or not possible:
        return None
    try:
        return unflatten(arrays[ENCODER], dim, **size) if size["layers"] <= MAX_LAYERS else None
    except (KeyError, TypeError, ValueError):
        return None


def _read_array(folder: Folder, key: str, shape: list[int]) -> Floats:
    if key not in ARRAYS:  # another name might lead out of the model
        raise folder.damage("layer.json", f"no array is called {key!r}")
    array: Floats = load(folder / f"{key}.npy")
    if list(array.shape) != shape or array.dtype.kind != "f" or not all_finite(array):
        raise folder.damage(f"{key}.npy", "wrong shape or numbers")
    if array.dtype == np.float16 and not key.endswith("_words"):  # of those few rows are used
        return array.astype(np.float32)
    return array
