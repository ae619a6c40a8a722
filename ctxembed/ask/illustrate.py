"""Illustrations: vectors, matrices and weights written by hand, through the same machinery."""

from collections.abc import Iterator

import numpy as np

from ctxembed.ask.explain import write_recipe
from ctxembed.attention.layer import Layer
from ctxembed.context.representations import Attention
from ctxembed.errors import CorpusError, UsageError
from ctxembed.static.by_hand import MATRICES, read_vectors, read_weights
from ctxembed.store.model import Model
from ctxembed.store.places import example
from ctxembed.table import Cell, Table


def given_model(name: str) -> Model:
    """Read vectors from a file, or a bundled example by its name."""
    given = read_vectors(example(name))
    words = [word.lower() for word in given.words]  # sentences are read without capitals too
    for word in words:
        if words.count(word) > 1:
            raise CorpusError(f"{name}: {word!r} is there twice")
    return Model.given(name, words, given.vectors.astype(np.float32))


def given_attention(name: str, model: Model) -> Attention | None:
    """Make a layer of the file's own matrices, if it has any."""
    matrices = read_vectors(example(name)).matrices
    if not matrices:
        return None
    heads = max(len(matrix) for matrix in matrices.values())
    size = matrices["w_k"].shape[2] if "w_k" in matrices else model.dim
    w_q, w_k, w_v, w_o = (matrices.get(name) for name in MATRICES)
    layer = Layer(heads, w_q, w_k, w_v, w_o, scale=1 / float(np.sqrt(size)))
    return Attention("given", layer, model.vectors)


def explain_weights(name: str, word: str | None, as_recipe: bool, digits: int) -> Table:
    """Show hand-picked weights as explain shows computed ones."""
    tokens, targets, weights = read_weights(example(name))
    if word is not None and word not in targets:
        raise UsageError(f"--word {word}: not in {name}, which has {', '.join(targets)}")
    chosen = [row for row, target in enumerate(targets) if word in (None, target)]
    note = "an illustration: these weights are given, not computed"
    if as_recipe:
        rows = [(targets[r], write_recipe(targets[r], tokens, weights[r], digits)) for r in chosen]
        return Table(("target", "recipe"), rows, notes=[note], wrap=("recipe",))

    def lines() -> Iterator[tuple[Cell, ...]]:
        for row in chosen:
            for place, token in enumerate(tokens):
                yield targets[row], token, place + 1, float(weights[row, place])

    return Table(
        ("target", "token", "position", "weight"),
        lines(),
        notes=[note],
        shares={"weight": ("target",)},
    )
