"""Export static vectors for other programs."""

from pathlib import Path

import numpy as np

from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.static.vector_files import write_vectors
from ctxembed.storage.arrays import write_header
from ctxembed.storage.atomic import atomic_file, atomic_pair
from ctxembed.table import PROPERTIES, Table

FORMATS = {
    ".txt": "word2vec text", ".vec": "word2vec text", ".bin": "word2vec binary",
    ".npy": "numpy array and word list", ".kv": "gensim KeyedVectors",
}  # fmt: skip


@on_model(*PROPERTIES)
def export(
    model: Model, output: str | Path, *, force: bool = False, progress: Progress = SILENT
) -> Table:
    """Write static vectors in the format that the file name ends in; return a summary.

    The file is overwritten. FILE.vocab.txt, the word list beside FILE.npy, is overwritten with its
    array; without one it may be another program's, and is replaced only with `force`.
    """
    path, words, vectors = Path(output), model.vocabulary.words, model.vectors
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

                save_keyed_vectors(stream, words, model.counts, np.asarray(vectors))
            else:
                write_vectors(stream, words, vectors, progress, binary=path.suffix == ".bin")
    sizes = (("words", len(words)), ("dim", model.dim), ("format", form))
    return Table(PROPERTIES, [*sizes, *(("file", str(file)) for file in files)])
