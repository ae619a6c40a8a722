"""Vectors as .npy, .npz or .parquet, as they come: memory does not grow with their number."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.storage.arrays import write_header
from ctxembed.storage.atomic import file_written_whole
from ctxembed.table import Table

Chunks = Iterable[tuple[dict[str, Sequence[Any]], NDArray[np.float32]]]
AT_ONCE = 1 << 14  # texts turned into an array at once


def write_table(path: Path, table: Table) -> tuple[int, int]:
    """Write the vectors of a table, and what its other columns say of each; return (n, d).

    The file appears whole, under its name, when everything is there.
    """
    (place,) = (i for i, column in enumerate(table.columns) if column.role == "vector")
    rows = iter(table.rows)

    def chunks() -> Chunks:
        while some := list(islice(rows, AT_ONCE)):
            cells: dict[str, Any] = dict(zip(table.names, zip(*some, strict=True), strict=True))
            yield cells, np.array(cells.pop(table.names[place]), np.float32)

    dim = len(table.columns[place].parts)
    if path.suffix == ".parquet":
        return _write_parquet(path, table.names[place], chunks()), dim
    return _write_arrays(path, chunks(), dim), dim


def _write_arrays(path: Path, chunks: Chunks, dim: int) -> int:
    """Write (n, d) vectors, and in an .npz the columns that say what each row is; return n."""
    with file_written_whole(path) as whole, ExitStack() as stack:

        def spool() -> IO[bytes]:
            return stack.enter_context(tempfile.TemporaryFile(dir=path.parent))

        vectors, columns, number = _Column(spool(), "<f4", (dim,)), dict[str, _Column](), 0
        for labels, some in chunks:
            vectors.add(some)
            number += len(some)
            for name, values in labels.items():
                if name not in columns:
                    columns[name] = _Column(spool(), "U" if isinstance(values[0], str) else "<i8")
                columns[name].add(values)
        if path.suffix != ".npz":
            vectors.copy(whole, number)
            return number
        with zipfile.ZipFile(whole, "w") as archive:
            for name, column in {**columns, "vectors": vectors}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    column.copy(file, number)
    return number


class _Column:
    """Numbers or short texts, kept in a file until it is known how many and how wide they are."""

    def __init__(self, spool: IO[bytes], kind: str, shape: tuple[int, ...] = ()) -> None:
        self.spool, self.kind, self.shape, self.width = spool, kind, shape, 1

    def add(self, values: Any) -> None:
        if self.kind == "U":
            self.width = max(self.width, *map(len, values))
            self.spool.write("".join(f"{value}\n" for value in values).encode())
        else:
            self.spool.write(np.array(values, self.kind).tobytes())

    def copy(self, file: IO[bytes], number: int) -> None:
        kind = f"<U{self.width}" if self.kind == "U" else self.kind
        write_header(file, (number, *self.shape), kind)
        self.spool.seek(0)
        if self.kind != "U":
            shutil.copyfileobj(self.spool, file)
            return
        lines = (line.decode()[:-1] for line in self.spool)
        while some := list(islice(lines, AT_ONCE)):
            file.write(np.array(some, kind).tobytes())


def _write_parquet(path: Path, name: str, chunks: Chunks) -> int:
    """Write vectors and what each row is as Parquet; return how many."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise CtxembedError(
            "a .parquet file needs more packages; install them with: pip install 'ctxembed[spark]'"
        ) from None
    number, writer = 0, None
    with file_written_whole(path) as file:
        for labels, some in chunks:
            ends = pa.array(range(0, some.size + 1, some.shape[1]), pa.int32())
            vectors = pa.ListArray.from_arrays(ends, pa.array(some.ravel(), pa.float32()))
            columns = pa.table({**{k: pa.array(v) for k, v in labels.items()}, name: vectors})
            writer = writer or ParquetWriter(file, columns.schema)
            writer.write_table(columns)
            number += len(some)
        if writer is not None:
            writer.close()
    return number


def write_matrices(path: Path, matrices: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays by their names."""
    with file_written_whole(path) as file:
        np.savez_compressed(file, **matrices)  # type: ignore[arg-type]


def write_sparse(path: Path, matrix: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Write a CSR matrix as scipy.sparse.load_npz reads it, with the names of rows and columns."""
    with file_written_whole(path) as file:
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
