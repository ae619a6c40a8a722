"""Vectors as .npy or .npz, written as they come: memory does not grow with their number."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError


def write_vectors(
    path: Path, chunks: Iterable[tuple[dict[str, Sequence[Any]], NDArray[np.float32]]], dim: int
) -> int:
    """Write (n, d) vectors, and in an .npz the columns that say what each row is; return n.

    The file appears whole, under its name, when everything is there.
    """
    try:
        return _write(path, chunks, dim)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CtxembedError(f"{path}: cannot be written: {reason.lower()}") from None


def _write(
    path: Path, chunks: Iterable[tuple[dict[str, Sequence[Any]], NDArray[np.float32]]], dim: int
) -> int:
    columns: dict[str, list[Any]] = {}
    number = 0
    work = path.with_name(f".{path.name}.tmp")
    try:
        with tempfile.TemporaryFile(dir=path.parent) as spool:
            for labels, vectors in chunks:
                spool.write(np.ascontiguousarray(vectors, np.float32).tobytes())
                number += len(vectors)
                for name, values in labels.items():
                    columns.setdefault(name, []).append(np.array(values))
            if path.suffix == ".npz":
                with zipfile.ZipFile(work, "w") as archive:
                    for name, parts in columns.items():
                        with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                            np.lib.format.write_array(file, np.concatenate(parts))
                    with archive.open("vectors.npy", "w", force_zip64=True) as file:
                        _copy(spool, file, (number, dim))
            else:
                with work.open("wb") as file:
                    _copy(spool, file, (number, dim))
        work.replace(path)
    finally:
        work.unlink(missing_ok=True)
    return number


def write_sparse(path: Path, matrix: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Write a CSR matrix as scipy.sparse.load_npz reads it, with the names of rows and columns."""
    work = path.with_name(f".{path.name}.tmp")
    try:
        with work.open("wb") as file:
            np.savez_compressed(
                file,
                format=np.array(b"csr"),
                shape=np.array(matrix.shape),
                data=matrix.data,
                indices=matrix.indices,
                indptr=matrix.indptr,
                rows=np.array(rows),
                columns=np.array(columns),
            )
        work.replace(path)
    finally:
        work.unlink(missing_ok=True)


def _copy(spool: IO[bytes], file: IO[bytes], shape: tuple[int, int]) -> None:
    spool.seek(0)
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    shutil.copyfileobj(spool, file)
