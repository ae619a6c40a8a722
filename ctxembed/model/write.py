"""Write the files of a model into a folder."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed import __version__
from ctxembed.model.model import FORMAT, Model
from ctxembed.static.frames import count_frames
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import load
from ctxembed.storage.atomic import atomic_file
from ctxembed.storage.manifest import write_json
from ctxembed.text.lines import write_lines

SAMPLED = 1 << 12  # vectors in a fingerprint


def write_files(
    folder: Path,
    words: Sequence[str],
    counts: NDArray[Any],
    vectors: Floats,
    output: Floats | None,
    meta: dict[str, Any],
) -> None:
    """Write the files of a model, all but its index, into a folder."""
    np.save(folder / "vectors.npy", vectors)
    if output is not None:
        np.save(folder / "output.npy", output)
    write_description(folder, words, counts, int(vectors.shape[1]), meta)


def write_description(
    folder: Path, words: Sequence[str], counts: NDArray[Any], dim: int, meta: dict[str, Any]
) -> None:
    """Write vocab.txt, counts.npy and model.json beside the vectors in a folder."""
    np.save(folder / "counts.npy", counts)
    write_lines(folder / "vocab.txt", words)
    vectors = load(folder / "vectors.npy")
    rows = np.linspace(0, len(vectors) - 1, min(SAMPLED, len(vectors))).astype(np.intp)
    digest = sha256(vectors[rows].tobytes())
    for name in ("vocab.txt", "counts.npy"):
        digest.update((folder / name).read_bytes())
    first = {"format": FORMAT, "version": __version__, "vocabulary": len(words), "dim": dim}
    first["fingerprint"] = digest.hexdigest()[:32]
    write_json(folder / "model.json", first | meta)


def write_frames(model: Model) -> bool:
    """Count the frames of a model's corpus and save them; return whether there are any."""
    if model.index is None:
        return False
    frames = count_frames(model.index.ids, model.index.offsets, model.counts)
    if len(frames):
        with atomic_file(model.path / "frames.npy") as file:
            np.save(file, frames)
    return len(frames) > 0
