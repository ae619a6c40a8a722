"""Frames kept in a model directory: frames.npy."""

import numpy as np

from ctxembed.static.frames import count_frames
from ctxembed.store.model import Model
from ctxembed.store.whole import file_written_whole


def write_frames(model: Model) -> bool:
    """Count the frames of a model's corpus and keep them; tell whether there were any."""
    if model.index is None:
        return False
    frames = count_frames(model.index.ids, model.index.offsets, model.counts)
    if len(frames):
        with file_written_whole(model.path / "frames.npy") as file:
            np.save(file, frames)
    return len(frames) > 0
