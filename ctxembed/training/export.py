"""Export static vectors for other programs."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.static.space import Vectors
from ctxembed.static.vector_files import write_vectors
from ctxembed.storage.arrays import write_header
from ctxembed.storage.atomic import atomic_file, atomic_pair
from ctxembed.table import PROPERTIES, Table

FORMATS = {
    ".txt": "word2vec text", ".vec": "word2vec text", ".bin": "word2vec binary",
    ".npy": "numpy array and word list", ".kv": "gensim KeyedVectors",
}  # fmt: skip
PROJECTED = 10_000  # words that the embedding projector gets


@on_model(*PROPERTIES)
def export(
    model: Model,
    output: str | Path,
    *,
    number: int | None = None,
    force: bool = False,
    progress: Progress = SILENT,
) -> Table:
    """Write static vectors in the format that the file name ends in; return a summary.

    A name that ends in / is a folder for the embedding projector: tensors.tsv, metadata.tsv. It
    gets the most frequent words: `number`, or 10,000, which a browser still shows.
    The file is overwritten. FILE.vocab.txt, the word list beside FILE.npy, is overwritten with its
    array; without one it may be another program's, and is replaced only with `force`.
    """
    folder = str(output).endswith(("/", os.sep))
    words, vectors, counts = take_most_frequent(model, number or (PROJECTED if folder else None))
    path = Path(output)
    if folder:
        return _write_projector(path, words, vectors, counts)
    form = FORMATS.get(path.suffix)
    if form is None:
        raise UsageError(f"{output}: unknown format; end the name in {', '.join(FORMATS)}")
    files = [path] if path.suffix != ".npy" else [path, path.with_suffix(".vocab.txt")]
    if files[-1].exists() and not path.exists() and not force:
        raise UsageError(f"{files[-1]} exists; give --force to replace it, or another name")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: no such directory")
    if path.suffix == ".npy":
        with atomic_pair(*files) as (array, word_list):
            write_header(array, vectors.shape, "<f4")  # np.save hides it if the disk is full
            array.write(np.ascontiguousarray(vectors, "<f4").data)
            word_list.write("".join(f"{word}\n" for word in words).encode())
    else:
        with atomic_file(path) as stream:
            if path.suffix == ".kv":
                from ctxembed.static.gensim_engine import save_keyed_vectors

                save_keyed_vectors(stream, words, counts, np.asarray(vectors))
            else:
                write_vectors(stream, words, vectors, progress, binary=path.suffix == ".bin")
    sizes = (("words", len(words)), ("dim", model.dim), ("format", form))
    return Table(PROPERTIES, [*sizes, *(("file", str(file)) for file in files)])


def take_most_frequent(
    model: Model, number: int | None
) -> tuple[Sequence[str], Vectors, NDArray[np.int64]]:
    """Return words, vectors and counts: all of them, or those of the most frequent words."""
    if number is None or number >= len(model.vocabulary.words):
        return model.vocabulary.words, model.vectors, model.counts
    rows = np.sort(np.argsort(-model.counts, kind="stable")[:number])
    return model.vocabulary.spell(rows.tolist()), model.vectors[rows], model.counts[rows]


def _write_projector(
    folder: Path, words: Sequence[str], vectors: Vectors, counts: NDArray[np.int64]
) -> Table:
    """Write tensors.tsv and metadata.tsv, as the embedding projector of TensorFlow loads them."""
    if not folder.parent.is_dir() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder}/: give the name of a folder that can be made")
    folder.mkdir(exist_ok=True)
    tensors, metadata = folder / "tensors.tsv", folder / "metadata.tsv"
    with atomic_pair(tensors, metadata) as (numbers, names):
        for row in range(len(words)):
            line = "\t".join(f"{value:.6g}" for value in vectors[row].tolist())
            numbers.write(f"{line}\n".encode())
        # With two columns the projector takes the first line as their names.
        names.write(b"word\tcount\n")
        names.writelines(
            f"{word}\t{count}\n".encode()
            for word, count in zip(words, counts.tolist(), strict=True)
        )
    sizes = (("words", len(words)), ("dim", vectors.shape[1]), ("format", "embedding projector"))
    return Table(PROPERTIES, [*sizes, ("file", str(tensors)), ("file", str(metadata))])
