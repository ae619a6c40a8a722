"""Illustrations: vectors, matrices and weights written by hand, through the same machinery."""

from dataclasses import replace

import numpy as np

from ctxembed.ask.recipe import RECIPE, write_recipe
from ctxembed.attention.layer import Layer
from ctxembed.context.representations import Attention
from ctxembed.errors import CorpusError, UsageError
from ctxembed.static.by_hand import MATRICES, read_vectors, read_weights
from ctxembed.store.model import Model
from ctxembed.store.places import example
from ctxembed.table import Chart, Column, Table

TARGET = RECIPE[0]
TOKEN = Column("token", "a word of the sentence", "label")
POSITION = Column("position", "its place, from 1; unknown words are not counted")
WEIGHT = Column(
    "weight", "softmax of scaled; the weights of one head sum to 1", "share", ("target", "head")
)


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


def explain_weights(
    name: str, word: str | None = None, *, recipe: bool = False, digits: int = 2
) -> Table:
    """Show hand-picked weights as explain shows computed ones."""
    tokens, targets, weights = read_weights(example(name))
    if word is not None and word not in targets:
        raise UsageError(f"--word {word}: not in {name}, which has {', '.join(targets)}")
    chosen = [row for row, target in enumerate(targets) if word in (None, target)]
    note = "an illustration: these weights are given, not computed"
    if recipe:
        rows = [(targets[r], write_recipe(targets[r], tokens, weights[r], digits)) for r in chosen]
        return Table(RECIPE, rows, [note])

    lines = [
        (targets[row], token, place + 1, float(weights[row, place]))
        for row in chosen
        for place, token in enumerate(tokens)
    ]
    columns = (TARGET, TOKEN, POSITION, replace(WEIGHT, group=("target",)))
    chart = Chart(
        "tokens",
        ["weight"],
        "position",
        ["token"],
        panel=["target"],
        start="target",
        domain=(0, 1),
        title=f"{name}: weights by hand",
    )
    return Table(columns, lines, [note], chart=chart)
