"""What a representation costs: the time for a target on this machine, the size of its files."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import Representation
from ctxembed.model.attentions import TOGETHER
from ctxembed.model.model import Model

RUNS = 5
BATCH = 200  # targets in one run


def measure_milliseconds(representation: Representation, items: Sequence[Occurrence]) -> float:
    """Return the median time for a target in a batch, in milliseconds."""
    some = list(items[:: max(1, len(items) // BATCH)])[:BATCH]
    seconds = []
    for _ in range(RUNS + 1):  # the first run reads the files
        started = perf_counter()
        representation.vectors(some)
        seconds.append(perf_counter() - started)
    return 1000 * float(np.median(seconds[1:])) / max(1, len(some))


def megabytes(model: Model, representation: Representation | str) -> float | None:
    """Return the size of the files that a representation needs, vectors included."""
    name = representation if isinstance(representation, str) else representation.name
    if name == "tfidf":
        return 8 * len(model.vocabulary) / 1e6  # one number a word
    vectors = (model.files / "vectors.npy").status().st_size
    parts = ["learned", "encoder"] if name == TOGETHER else [name]
    if name in ("static", "bag", "general"):
        return vectors / 1e6
    opened = [model.opened_attentions.get(part) for part in parts]
    if all(part is not None for part in opened):
        return (vectors + sum(part.folder.size() for part in opened if part is not None)) / 1e6
    path = getattr(representation, "path", None)  # a transformer in a directory
    if isinstance(path, Path) and path.is_dir():
        return sum(item.stat().st_size for item in path.rglob("*") if item.is_file()) / 1e6
    return None
