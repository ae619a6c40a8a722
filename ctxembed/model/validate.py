"""Whether a model makes sense: what no checksum can tell, since whoever writes one may be wrong.

It reads all there is, which takes long for a large model: `check` asks, and whoever cannot go on.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import attend
from ctxembed.errors import ModelError
from ctxembed.model.attentions import Saved, load_attention
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import FILE, SavedSenses, open_senses
from ctxembed.static.space import Vectors
from ctxembed.text.index import CHUNK, Index

# What Python raises where numbers and names are not what they should be; no room is no fault.
WRONG = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
INPUTS = ("raw", "unit", "centred")
TOKENIZER = {"kind": ("word", "whitespace"), "cased": (True, False), "rules": (1, 2),
    "unit": ("word", "subword", "character")}  # fmt: skip


def find_fault(model: Model) -> ModelError | None:
    """Read a model through, and say which of its files cannot be; None where all makes sense."""
    for name, sound in _looks(model):
        try:
            if sound():
                continue
        except ModelError as error:
            return error
        except WRONG:
            pass
        return model.files.damage(name, "it makes no sense")
    return None


def _looks(model: Model) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the files of a model, and what tells whether each makes sense."""
    yield "model.json", lambda: _describes(model)
    yield "vocab.txt", lambda: len(set(model.vocabulary.words)) == len(model.vocabulary) > 0
    yield "counts.npy", lambda: len(model.counts) and model.counts.min() >= 0
    yield "seen.npy", lambda: model.seen.min() >= 0
    yield "vectors.npy", lambda: _finite(model.vectors)
    yield "output.npy", lambda: model.output is None or _finite(model.output)
    yield "mean.npy", lambda: np.isfinite(model.mean).all()
    yield "frames.npy", lambda: model.frames is None or _finite(model.frames)
    if model.index is not None:
        for name, sound in INDEX.items():
            yield f"index/{name}", partial(sound, model.index)
    for name in model.attentions():
        yield f"attention/{name}", partial(_attends, model, name)
    yield FILE, lambda: all(_fits(model, senses) for senses in open_senses(model).values())


def _describes(model: Model) -> bool:
    """Look at what other files do not show."""
    told = model.meta.get("tokenizer", {})
    files = model.meta.get("files", [])
    return (
        all(told.get(name, values[0]) in values for name, values in TOKENIZER.items())
        and isinstance(told.get("language", ""), str)
        and model.vocabulary.tokenizer.words("a b") is not None
        and isinstance(model.meta.get("seen_tokens", 0), int)
        and 0 < model.tokens < 1 << 62
        and 0 < model.seen_tokens < 1 << 62
        and all(isinstance(file["name"], str) for file in files)
        and all(isinstance(file["sentences"], int) and file["sentences"] >= 0 for file in files)
        and (model.index is None or sum(f["sentences"] for f in files) == len(model.index.lines))
    )


def _finite(array: Vectors) -> bool:
    return all(
        np.isfinite(array[first : first + CHUNK]).all() for first in range(0, len(array), CHUNK)
    )


def _climbs(array: NDArray[Any], last: int, *, least: int = 0) -> bool:
    """Tell whether numbers go from 0 up to the last one, by no less than the least step."""
    return array[0] == 0 and array[-1] == last and bool((np.diff(array) >= least).all())


def _within(array: NDArray[Any], end: int) -> bool:
    return len(array) == 0 or (array.min() >= 0 and array.max() < end)


def _points(index: Index) -> bool:
    """Tell whether each word's list of places holds places of that word, in their order."""
    places = (index.positions(word) for word in range(len(index.vocab)))
    return all(
        _within(some, len(index.ids))
        and (index.ids[some] == word).all()
        and (np.diff(some) > 0).all()
        for word, some in enumerate(places)
    )


def _quotes(index: Index) -> bool:
    """Tell whether the copy of the text can be unpacked, and is as long as it says."""
    copy = index.original
    return copy is None or all(
        len(copy.read(first, min(first + CHUNK, copy.size))) == min(CHUNK, copy.size - first)
        for first in range(0, copy.size, CHUNK)
    )


INDEX: dict[str, Callable[[Index], Any]] = {
    "offsets.npy": lambda index: _climbs(index.offsets, len(index.ids), least=1),
    "ids.npy": lambda index: _within(index.ids, len(index.vocab) + len(index.rare)),
    "lines.npy": lambda index: len(index.lines) and index.lines.min() >= 0,
    "documents.npy": lambda index: _climbs(index.documents, len(index.ids)),
    "positions.npy": _points,
    "places.npy": lambda index: (
        index.original is None
        or (_within(index.original.places, index.original.size)
            and (np.diff(index.original.places) >= 0).all())
    ),
    "text.npy": _quotes,
}  # fmt: skip


def _attends(model: Model, name: str) -> bool:
    """Run an attention over a few words, as any question does."""
    saved = load_attention(model, name)
    rows = np.arange(min(3, len(model.vocabulary)))[None]
    x = np.asarray(model.vectors[rows[0]], np.float32)[None]  # (1, T, d)
    layer = saved.layer
    made = attend(layer, x, rows, queries=np.zeros(1, np.intp)).output
    return (
        saved.inputs in INPUTS
        and all(map(math.isfinite, (layer.scale, layer.own, layer.share)))
        and all(t.words is None or t.words.shape[0] == len(model.vocabulary) for t in layer.terms)
        and all(isinstance(value, int | float) for value in saved.figures.values())
        and made.shape == (1, 1, model.dim)
        and bool(np.isfinite(made).all())
        and (not saved.task or _labels(model, saved))
    )


def _labels(model: Model, saved: Saved) -> bool:
    """Tell whether a task's labels and expressions are as many as its arrays have."""
    task, anchors = saved.task, saved.task_head["anchors"]
    return (
        anchors.shape == (len(task["expressions"]), model.dim)
        and saved.task_head["head"].shape
        == (len(anchors) + 1, len(task["labels"]), 2 * model.dim + 1)
        and len(task["glosses"]) == len(anchors)
        and all(isinstance(name, str) for name in (*task["labels"], *task["expressions"]))
        and all(isinstance(gloss, dict) for gloss in task["glosses"])
    )


def _fits(model: Model, senses: SavedSenses) -> bool:
    """Tell whether the parts of a word's senses are of one number, and say what they should."""
    number, facts = senses.number, senses.facts
    tokens = len(model.index.ids) if model.index is not None else 1 << 62
    return (
        number > 0
        and {len(senses.bias), len(senses.markers), len(senses.examples)} == {number}
        and all(isinstance(count, int) and count >= 0 for count in senses.counts)
        and sum(senses.counts) > 0
        and all(math.isfinite(bias) for bias in senses.bias)
        and all(isinstance(word, str) for some in senses.markers for word in some)
        and all(0 <= place < tokens for some in senses.examples for place in some)
        and isinstance(senses.attention, str)
        and all(isinstance(facts[name], int) for name in ("most", "seed", "total", "layer"))
        and all(math.isfinite(x) for name in ("scores", "agreements") for x in facts[name])
        and math.isfinite(facts["stability"] or 0)
    )
