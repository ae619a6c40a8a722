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
from ctxembed.static.quantized import narrow
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import load
from ctxembed.storage.atomic import file_written_whole
from ctxembed.storage.manifest import write_json
from ctxembed.text.word_list import write_lines

SAMPLED = 1 << 12  # vectors that make a fingerprint


def write_files(
    folder: Path,
    words: Sequence[str],
    counts: NDArray[Any],
    vectors: Floats,
    output: Floats | None,
    meta: dict[str, Any],
    *,
    small: bool = False,
) -> None:
    """Write the files of a model, all but its index, into a folder; small: 8 bits a number."""
    np.save(folder / "vectors.npy", narrow(vectors) if small else vectors)
    if output is not None:
        np.save(folder / "output.npy", narrow(output) if small else output)
    write_description(folder, words, counts, int(vectors.shape[1]), meta)


def write_description(
    folder: Path, words: Sequence[str], counts: NDArray[Any], dim: int, meta: dict[str, Any]
) -> None:
    """Write the files of a model whose vectors are in the folder already."""
    np.save(folder / "counts.npy", counts)
    write_lines(folder / "vocab.txt", words)
    made = {"format": FORMAT, "version": __version__, "vocabulary": len(words), "dim": dim}
    made["fingerprint"] = _fingerprint(folder)
    write_json(folder / "model.json", made | meta)


def write_frames(model: Model) -> bool:
    """Count the frames of a model's corpus and keep them; tell whether there were any."""
    if model.index is None:
        return False
    frames = count_frames(model.index.ids, model.index.offsets, model.counts)
    if len(frames):
        with file_written_whole(model.path / "frames.npy") as file:
            np.save(file, frames)
    return len(frames) > 0


def _fingerprint(folder: Path) -> str:
    """Tell a model from any other by its words, their counts, and vectors from all over it."""
    vectors = load(folder / "vectors.npy")
    rows = np.linspace(0, len(vectors) - 1, min(SAMPLED, len(vectors))).astype(np.intp)
    digest = sha256(vectors[rows].tobytes())
    for name in ("vocab.txt", "counts.npy"):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:32]
