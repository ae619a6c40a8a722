"""Vectors and matrices written by hand, as a model and an attention like any other."""

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.context.representations import Attention
from ctxembed.errors import CorpusError
from ctxembed.model.bundled import example
from ctxembed.model.model import Model
from ctxembed.static.worked_example import MATRICES, read_vectors


def given(name: str) -> Model:
    """Read vectors from a file, or a bundled example by its name."""
    read = read_vectors(example(name))
    words = [word.lower() for word in read.words]  # sentences are read without capitals too
    for word in words:
        if words.count(word) > 1:
            raise CorpusError(f"{name}: {word!r} is there twice")
    return Model.given(name, words, read.vectors.astype(np.float32))


def given_attention(model: Model) -> Attention | None:
    """Make a layer of the matrices that the file of a given model has, if it has any."""
    matrices = read_vectors(example(str(model.path))).matrices
    if not matrices:
        return None
    heads = max(len(matrix) for matrix in matrices.values())
    size = matrices["w_k"].shape[2] if "w_k" in matrices else model.dim
    w_q, w_k, w_v, w_o = (matrices.get(name) for name in MATRICES)
    layer = Layer(heads, w_q, w_k, w_v, w_o, scale=1 / float(np.sqrt(size)))
    return Attention("given", model.vectors, layer)
