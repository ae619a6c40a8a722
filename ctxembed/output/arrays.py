"""Write vectors as .npy, .npz or .parquet in batches, so memory does not grow with n."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.storage.arrays import write_header
from ctxembed.storage.atomic import atomic_file
from ctxembed.table import Table

Chunks = Iterable[tuple[dict[str, Sequence[Any]], NDArray[np.float32]]]
BATCH_SIZE = 1 << 14  # rows that are converted together


def write_table(path: Path, table: Table) -> tuple[int, int]:
    """Write the vectors and the other columns of a table; return (n, d)."""
    (column,) = (column for column in table.columns if column.role == "vector")
    rows = iter(table.stream())

    def chunks() -> Chunks:
        while batch := list(islice(rows, BATCH_SIZE)):
            cells: dict[str, Any] = dict(zip(table.names, zip(*batch, strict=True), strict=True))
            yield cells, np.array(cells.pop(column.name), np.float32)

    dim = len(column.parts)
    if path.suffix == ".parquet":
        return _write_parquet(path, column.name, chunks()), dim
    return _write_arrays(path, chunks(), dim), dim


def _write_arrays(path: Path, chunks: Chunks, dim: int) -> int:
    """Write (n, d) vectors, and in an .npz the other columns too; return n."""
    with atomic_file(path) as whole, ExitStack() as stack:

        def column(kind: str, *shape: int) -> _Column:
            spool = stack.enter_context(tempfile.TemporaryFile(dir=path.parent))
            return _Column(spool, kind, shape)

        vectors, columns, number = column("<f4", dim), dict[str, _Column](), 0
        for labels, batch in chunks:
            vectors.add(batch)
            number += len(batch)
            for name, values in labels.items():
                if name not in columns:
                    columns[name] = column("U" if isinstance(values[0], str) else "<i8")
                columns[name].add(values)
        if path.suffix != ".npz":
            vectors.copy(whole, number)
            return number
        with zipfile.ZipFile(whole, "w") as archive:
            for name, one in {**columns, "vectors": vectors}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    one.copy(file, number)
    return number


@dataclass
class _Column:
    """Numbers or short texts, kept in a temporary file until their number and width are known."""

    spool: IO[bytes]
    kind: str  # a dtype, or U for texts
    shape: tuple[int, ...]
    width: int = 1

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
            return shutil.copyfileobj(self.spool, file)
        lines = (line.decode()[:-1] for line in self.spool)
        while batch := list(islice(lines, BATCH_SIZE)):
            file.write(np.array(batch, kind).tobytes())


def _write_parquet(path: Path, name: str, chunks: Chunks) -> int:
    """Write vectors and the other columns as Parquet; return the number of rows."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        install = "Install it with: pip install 'ctxembed[tables]'"
        raise CtxembedError(f"Writing .parquet needs pyarrow. {install}") from None
    number, writer = 0, None
    with atomic_file(path) as file:
        for labels, batch in chunks:
            ends = pa.array(range(0, batch.size + 1, batch.shape[1]), pa.int32())
            vectors = pa.ListArray.from_arrays(ends, pa.array(batch.ravel(), pa.float32()))
            columns = pa.table({**{k: pa.array(v) for k, v in labels.items()}, name: vectors})
            writer = writer or ParquetWriter(file, columns.schema)
            writer.write_table(columns)
            number += len(batch)
        if writer is not None:
            writer.close()
    return number


def write_matrices(path: Path, matrices: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays as a compressed .npz file."""
    with atomic_file(path) as file:
        np.savez_compressed(file, **matrices)  # type: ignore[arg-type]


def write_sparse(path: Path, matrix: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Write a CSR matrix as scipy.sparse.load_npz reads it, with the names of rows and columns."""
    names = {"rows": np.array(rows), "columns": np.array(columns)}
    csr = {"format": np.array(b"csr"), "shape": np.array(matrix.shape), "data": matrix.data}
    write_matrices(path, {**csr, "indices": matrix.indices, "indptr": matrix.indptr, **names})
