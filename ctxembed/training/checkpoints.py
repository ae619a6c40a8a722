"""The checkpoint of a layer that is being learned, in the directory of its model."""

from typing import Any
from zlib import crc32

import numpy as np

from ctxembed import __version__
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.storage.checkpoint import Checkpoint
from ctxembed.text.index import Index


def open_checkpoint(
    model: Model,
    index: Index,
    name: str,
    settings: dict[str, Any],
    again: bool,
    progress: Progress,
) -> Checkpoint:
    """Return the checkpoint of a layer in the model's directory; with `again`, an empty one.

    It is loaded only for the same settings of the learner, vectors, text and version.
    """
    text = [crc32(np.ascontiguousarray(array).data) for array in (index.ids, index.offsets)]
    everything = {**settings, "version": __version__, "model": model.fingerprint, "text": text}
    path = model.path / "attention" / f".{name}.ctxembed-checkpoint"
    if again:
        path.unlink(missing_ok=True)
    return Checkpoint(path, everything, progress.note)
