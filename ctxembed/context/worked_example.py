"""Worked examples: vectors and matrices from a small file, as a model and an attention."""

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.context.representation import Attention
from ctxembed.errors import CorpusError
from ctxembed.model.bundled import find_example
from ctxembed.model.model import Model
from ctxembed.static.worked_example import MATRICES, read_vectors


def open_worked_example(name: str) -> Model:
    """Return a model of the vectors in a file, or in a bundled example with this name."""
    example = read_vectors(find_example(name))
    words = [word.lower() for word in example.words]  # sentences are lower-cased too
    for word in words:
        if words.count(word) > 1:
            raise CorpusError(f"{name}: the word {word!r} appears twice")
    return Model.from_vectors(name, words, example.vectors.astype(np.float32))


def worked_attention(model: Model) -> Attention | None:
    """Return a layer of the matrices in a worked example's file; None if it has none."""
    matrices = read_vectors(find_example(str(model.path))).matrices
    if not matrices:
        return None
    heads = max(len(matrix) for matrix in matrices.values())
    size = matrices["w_k"].shape[2] if "w_k" in matrices else model.dim
    w_q, w_k, w_v, w_o = (matrices.get(name) for name in MATRICES)
    layer = Layer(heads, w_q, w_k, w_v, w_o, scale=1 / float(np.sqrt(size)))
    return Attention("given", model.vectors, layer)


def has_names(model: Model) -> bool:
    """Return whether this is a worked example whose file names its dimensions."""
    if not model.is_worked_example:
        return False
    return bool(read_vectors(find_example(str(model.path))).dimensions)


def name_dimensions(model: Model) -> list[str]:
    """Return the names of a worked example's dimensions; d1, d2, ... if its file has none."""
    named = read_vectors(find_example(str(model.path))).dimensions
    return named or [f"d{i + 1}" for i in range(model.dim)]
