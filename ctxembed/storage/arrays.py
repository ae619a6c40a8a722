"""Arrays in files: mapped with care, or begun before their numbers are there."""

import math
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from ctxembed.storage.folder import HEAD, Part, open_path


def load(place: Path | Part) -> Any:
    """Map an array from a model directory, or say which file is at fault."""
    if isinstance(place, Path):
        place = open_path(place)
    data = place.open_data()
    kind, shape, begin = place.array_header(bytes(data[:HEAD]))
    if math.prod(shape) * int(kind[2:]) != len(data) - begin:
        raise place.folder.damage(place.name, f"{len(data)} bytes, too many or few for {shape}")
    return np.frombuffer(data, kind, offset=begin).reshape(shape)


def map_array(path: Path) -> Any:
    """Map an array of plain numbers that somebody else wrote; a damaged one is a ValueError."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (EOFError, OverflowError, SyntaxError, TokenError, TypeError) as error:
        raise ValueError(str(error)) from None  # numpy reads a header as Python does


def write_header(file: IO[bytes], shape: tuple[int, ...], kind: str) -> None:
    """Begin an .npy file whose numbers follow; numpy leaves room for any number of rows."""
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


class ArrayWriter:
    """Writes an .npy file, a few numbers at a time; in the end it tells how many they are.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with ArrayWriter(Path(folder, "a.npy"), "<i4") as target:
    ...         target.write([7])
    ...         target.write([8, 9])
    ...     np.load(Path(folder, "a.npy"))
    array([7, 8, 9], dtype=int32)
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.file, self.kind, self.length = path.open("wb"), kind, 0
        write_header(self.file, (0,), kind)

    def __enter__(self) -> "ArrayWriter":
        return self

    def write(self, numbers: ArrayLike) -> None:
        """Write numbers behind those that are there."""
        some = np.asarray(numbers, self.kind)
        self.file.write(some.tobytes())
        self.length += len(some)

    def __exit__(self, *_: object) -> None:
        with self.file:
            self.file.seek(0)
            write_header(self.file, (self.length,), self.kind)
