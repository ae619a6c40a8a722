"""Arrays in files: mapped with care, or begun before their numbers are there."""

from pathlib import Path
from typing import IO, Any

import numpy as np

from ctxembed.errors import ModelError


def load(path: Path) -> Any:
    """Map an array from a model directory, or say which file is at fault."""
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; train the model again") from None
    except (ValueError, OSError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "pickle" in reason:  # what numpy takes any file without its header for
            reason = "not an array"
        raise ModelError(f"{path}: damaged ({reason}); train the model again") from None


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
