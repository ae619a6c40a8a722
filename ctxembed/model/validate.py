"""Read all of a model and look for numbers that are wrong though the checksums are right."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.recurrent import Recurrent, read_sentences
from ctxembed.errors import ModelError
from ctxembed.model.attentions import INPUTS, load_attention
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import FILE, SavedSenses, open_senses
from ctxembed.static.space import Vectors
from ctxembed.text.index import CHUNK, Index

# What Python raises for wrong numbers and names; too little memory is not the model's error.
ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
TOKENIZER = {"kind": ("word", "whitespace"), "cased": (True, False), "rules": (1, 2, 3, 4),
    "unit": ("word", "subword", "character")}  # fmt: skip
MAX_TOKENS = 1 << 62


def find_fault(model: Model) -> ModelError | None:
    """Read all of a model; return the error of the first file that cannot be right, or None."""
    for name, is_valid in _checks(model):
        try:
            if is_valid():
                continue
        except ModelError as error:
            return error
        except ERRORS:
            pass
        return model.files.damage(name, "it makes no sense")
    return None


def _checks(model: Model) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each file of a model with the function that says whether it is valid."""
    yield "model.json", lambda: _check_description(model)
    yield "vocab.txt", lambda: len(set(model.vocabulary.words)) == len(model.vocabulary) > 0
    yield "counts.npy", lambda: len(model.counts) and model.counts.min() >= 0
    yield "seen.npy", lambda: model.seen.min() >= 0
    yield "vectors.npy", lambda: _finite(model.vectors)
    yield "output.npy", lambda: model.output is None or _finite(model.output)
    yield "mean.npy", lambda: np.isfinite(model.mean).all()
    yield "frames.npy", lambda: model.frames is None or _finite(model.frames)
    if model.index is not None:
        for name, is_valid in INDEX.items():
            yield f"index/{name}", partial(is_valid, model.index)
    for name in model.attentions():
        yield f"attention/{name}", partial(_check_attention, model, name)
    yield FILE, lambda: all(_check_senses(model, senses) for senses in open_senses(model).values())


def _check_description(model: Model) -> bool:
    options, files = model.meta.get("tokenizer", {}), model.meta.get("files", [])
    return (
        all(options.get(name, values[0]) in values for name, values in TOKENIZER.items())
        and isinstance(options.get("language", ""), str)
        and model.vocabulary.tokenizer.words("a b") is not None
        and isinstance(model.meta.get("seen_tokens", 0), int)
        and 0 < model.tokens < MAX_TOKENS
        and 0 < model.seen_tokens < MAX_TOKENS
        and all(isinstance(file["name"], str) for file in files)
        and all(isinstance(file["sentences"], int) and file["sentences"] >= 0 for file in files)
        and all(file.get("weight", 1) > 0 and file.get("tokens", 0) >= 0 for file in files)
        and (model.index is None or sum(f["sentences"] for f in files) == len(model.index.lines))
    )


def _finite(array: Vectors) -> bool:
    starts = range(0, len(array), CHUNK)
    return all(np.isfinite(array[first : first + CHUNK]).all() for first in starts)


def _ascending(array: NDArray[Any], last: int, min_step: int = 0) -> bool:
    """Return whether numbers go from 0 up to the last one, in steps of at least min_step."""
    return array[0] == 0 and array[-1] == last and bool((np.diff(array) >= min_step).all())


def _within(array: NDArray[Any], end: int) -> bool:
    return len(array) == 0 or (array.min() >= 0 and array.max() < end)


def _check_positions(index: Index) -> bool:
    """Return whether the positions of each word are those of that word, in ascending order."""
    by_word = (index.positions(word) for word in range(len(index.vocab)))
    return all(
        _within(positions, len(index.ids))
        and (index.ids[positions] == word).all()
        and (np.diff(positions) > 0).all()
        for word, positions in enumerate(by_word)
    )


def _check_text(index: Index) -> bool:
    """Return whether the copy of the text can be unpacked, and is as long as it says."""
    copy = index.original
    return copy is None or all(
        len(copy.read(first, min(first + CHUNK, copy.size))) == min(CHUNK, copy.size - first)
        for first in range(0, copy.size, CHUNK)
    )


INDEX: dict[str, Callable[[Index], Any]] = {
    "offsets.npy": lambda index: _ascending(index.offsets, len(index.ids), min_step=1),
    "ids.npy": lambda index: _within(index.ids, len(index.vocab) + len(index.rare)),
    "lines.npy": lambda index: len(index.lines) and index.lines.min() >= 0,
    "documents.npy": lambda index: _ascending(index.documents, len(index.ids)),
    "positions.npy": _check_positions,
    "places.npy": lambda index: (
        index.original is None
        or (_within(index.original.byte_offsets, index.original.size)
            and (np.diff(index.original.byte_offsets) >= 0).all())
    ),
    "text.npy": _check_text,
    "metadata.json": lambda index: index.metadata is not None,
    "layer-lemma.npy": lambda index: index.layers is not None,
}  # fmt: skip


def _check_attention(model: Model, name: str) -> bool:
    """Run an attention over a few words; return whether its output is finite and its parts fit."""
    saved = load_attention(model, name)
    rows = np.arange(min(3, len(model.vocabulary)))[None]
    x = np.asarray(model.vectors[rows[0]], np.float32)[None]  # (1, T, d)
    layer, task, first = saved.layer, saved.task, np.zeros(1, np.intp)
    if not isinstance(layer, Layer):
        if isinstance(layer, Recurrent):
            output = read_sentences(layer, x, first).output
        else:
            from ctxembed.attention.encoder import Targets, encode

            mask = np.ones(x.shape[:2], bool)
            output = encode(layer, x, mask, Targets(first, first, first > 0)).output
        figures = all(isinstance(value, int | float) for value in saved.figures.values())
        return figures and bool(np.isfinite(output).all())
    output = attend(layer, x, rows, queries=first).output
    valid = (
        saved.inputs in INPUTS
        and all(map(math.isfinite, (layer.scale, layer.own, layer.share)))
        and all(t.words is None or t.words.shape[0] == len(model.vocabulary) for t in layer.terms)
        and all(isinstance(value, int | float) for value in saved.figures.values())
        and output.shape == (1, 1, model.dim)
        and bool(np.isfinite(output).all())
    )
    if not valid or not task:
        return valid
    anchors, head = saved.task_head["anchors"], saved.task_head["head"]
    return (
        anchors.shape == (len(task["expressions"]), model.dim)
        and head.shape == (len(anchors) + 1, len(task["labels"]), 2 * model.dim + 1)
        and len(task["glosses"]) == len(anchors)
        and all(isinstance(name, str) for name in (*task["labels"], *task["expressions"]))
        and all(isinstance(gloss, dict) for gloss in task["glosses"])
    )


def _check_senses(model: Model, senses: SavedSenses) -> bool:
    """Return whether a word's senses have as many of each part, with possible values."""
    number, facts = senses.number, senses.facts
    tokens = len(model.index.ids) if model.index is not None else MAX_TOKENS
    return (
        number > 0
        and {len(senses.bias), len(senses.markers), len(senses.examples)} == {number}
        and all(isinstance(count, int) and count >= 0 for count in senses.counts)
        and sum(senses.counts) > 0
        and all(math.isfinite(bias) for bias in senses.bias)
        and all(isinstance(word, str) for words in senses.markers for word in words)
        and all(0 <= at < tokens for positions in senses.examples for at in positions)
        and isinstance(senses.attention, str)
        and len(senses.names) == number
        and all(isinstance(name, str) for name in senses.names)
        and all(isinstance(facts[name], int) for name in ("most", "seed", "total", "layer"))
        and all(math.isfinite(x) for name in ("scores", "agreements") for x in facts[name])
        and math.isfinite(facts["stability"] or 0)
    )
