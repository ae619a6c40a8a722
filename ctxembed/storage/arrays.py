"""Read .npy files as mapped arrays; write them in pieces."""

from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from ctxembed.storage.folder import Part, open_path


def load(path: Path | Part) -> Any:
    """Return an array of a model, mapped; refuse a damaged file."""
    part = open_path(path) if isinstance(path, Path) else path
    data = part.open_data()
    kind, shape, begin = part.array_header(data)
    return np.frombuffer(data, kind, offset=begin).reshape(shape)


def map_array(path: Path) -> Any:
    """Return an array of another program, mapped; raise ValueError for a damaged one."""
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (EOFError, OverflowError, SyntaxError, TokenError, TypeError) as error:
        raise ValueError(str(error)) from None  # numpy evaluates a header as a Python literal


def write_header(file: IO[bytes], shape: tuple[int, ...], kind: str) -> None:
    """Write the header of an .npy file; numpy pads it, so it can be rewritten for more rows."""
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


class ArrayWriter:
    """Writes an .npy file in pieces; the header gets the length at the end.

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
        """Append numbers."""
        array = np.asarray(numbers, self.kind)
        self.file.write(array.tobytes())
        self.length += len(array)

    def __exit__(self, *_: object) -> None:
        with self.file:
            self.file.seek(0)
            write_header(self.file, (self.length,), self.kind)
