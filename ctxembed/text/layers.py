"""Lemma and part of speech of every token of an index, memory-mapped."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError
from ctxembed.storage.arrays import ArrayWriter, load
from ctxembed.storage.folder import Part
from ctxembed.text.lines import read_lines, write_lines
from ctxembed.text.records import LAYERS, Layers

FILES = {name: (f"layer-{name}.npy", f"layer-{name}.txt") for name in LAYERS}


@dataclass(frozen=True)
class Layer:
    """A value for each token."""

    numbers: NDArray[np.int32]  # (tokens,) rows of the values
    values: Sequence[str]  # distinct; the first is no value


@contextmanager
def layer_writer(folder: Path) -> Iterator[Callable[[NDArray[np.int32] | None, int], None]]:
    """Yield a function that adds the numbers (tokens, 2) of some tokens; None is no value."""
    with ExitStack() as stack:
        writers = [
            stack.enter_context(ArrayWriter(folder / name, "<i4")) for name, _ in FILES.values()
        ]

        def add(numbers: NDArray[np.int32] | None, tokens: int) -> None:
            for column, writer in enumerate(writers):
                writer.write(np.zeros(tokens) if numbers is None else numbers[:, column])

        yield add


def finish_layers(folder: Path, layers: Layers) -> None:
    """Write the values of the layers, or remove layers without values."""
    if not layers.used:
        drop_layers(folder)
        return
    for name, (_, values) in FILES.items():
        write_lines(folder / values, ["_".join(value.split()) for value in layers.numbers[name]])


def drop_layers(folder: Path) -> None:
    """Remove the layers of an index whose tokens change."""
    for name in (name for names in FILES.values() for name in names):
        (folder / name).unlink(missing_ok=True)


def open_layers(folder: Path | Part, tokens: int) -> dict[str, Layer]:
    """Return the layers in the folder of an index; none where it has none."""
    layers = {}
    for name, (numbers_file, values_file) in FILES.items():
        if not (folder / numbers_file).exists():
            continue
        numbers: NDArray[Any] = load(folder / numbers_file)
        values = list(read_lines(folder / values_file))
        fits = numbers.shape == (tokens,) and numbers.dtype == np.int32
        if (
            not fits
            or not values
            or not 0 <= int(numbers.min()) <= int(numbers.max()) < len(values)
        ):
            raise ModelError(f"{folder / numbers_file}: damaged (does not fit the rest);"
                             " train the model again")  # fmt: skip
        layers[name] = Layer(numbers, values)
    return layers
