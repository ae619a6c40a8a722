"""Arrays in files: mapped with care, or begun before their numbers are there."""

import math
from pathlib import Path
from typing import IO, Any

import numpy as np

from ctxembed.text.folder import HEAD, Part, open_path


def load(place: Path | Part) -> Any:
    """Map an array from a model directory, or say which file is at fault."""
    if isinstance(place, Path):
        place = open_path(place)
    data = place.open_data()
    kind, shape, begin = place.array_header(bytes(data[:HEAD]))
    place.expect("dtype", kind)
    place.expect("shape", list(shape))
    if math.prod(shape) * int(kind[2:]) != len(data) - begin:
        raise place.folder.damage(place.name, f"{len(data)} bytes, too many or few for {shape}")
    return np.frombuffer(data, kind, offset=begin).reshape(shape)


def write_header(file: IO[bytes], shape: tuple[int, ...], kind: str) -> None:
    """Begin an .npy file whose numbers follow; numpy leaves room for any number of rows.

    >>> from io import BytesIO
    >>> file = BytesIO()
    >>> write_header(file, (2,), "<i4")
    >>> np.load(BytesIO(file.getvalue() + bytes([7, 0, 0, 0, 8, 0, 0, 0])))
    array([7, 8], dtype=int32)
    """
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
