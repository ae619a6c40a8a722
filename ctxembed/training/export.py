"""Static vectors for other programs."""

from pathlib import Path
from typing import IO

import numpy as np

from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.static.write import check_words, write_vectors
from ctxembed.storage.atomic import file_written_whole, pair_written_whole
from ctxembed.table import PROPERTIES, Table

FORMATS = {
    ".txt": "word2vec text",
    ".vec": "word2vec text",
    ".bin": "word2vec binary",
    ".npy": "numpy array and word list",
    ".kv": "gensim KeyedVectors",
}


@on_model(*PROPERTIES)
def export(
    model: Model, output: str | Path, *, force: bool = False, progress: Progress = SILENT
) -> Table:
    """Write a model's static vectors in the format that the file's name asks for."""
    path = Path(output)
    form = FORMATS.get(path.suffix)
    if form is None:
        raise UsageError(f"{output}: cannot tell the format; end the name in {', '.join(FORMATS)}")
    files = [path] if path.suffix != ".npy" else [path, path.with_suffix(".vocab.txt")]
    for file in files:
        if file.exists() and not force:
            raise UsageError(f"{file} exists; give --force to replace it, or another name")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: no such directory")
    _write(model, files, progress)
    named = (("file", str(file)) for file in files)
    sizes = (("words", len(model.vocabulary)), ("dim", model.dim))
    return Table(PROPERTIES, [*sizes, ("format", form), *named])


def _write(model: Model, files: list[Path], progress: Progress) -> None:
    words, vectors, kind = model.vocabulary.words, model.vectors, files[0].suffix
    if kind in (".txt", ".vec", ".bin"):
        check_words(words)
    if kind == ".npy":
        with pair_written_whole(*files) as (array, listed):
            np.save(array, np.asarray(vectors))
            listed.write("".join(f"{word}\n" for word in words).encode())
        return
    with file_written_whole(files[0]) as file:
        if kind == ".kv":
            from ctxembed.static.gensim_engine import save_keyed_vectors

            save_keyed_vectors(file, words, model.counts, np.asarray(vectors))
        else:
            write_vectors(file, words, vectors, progress, binary=kind == ".bin")


def export_stream(model: Model, file: IO[bytes]) -> None:
    """Write a model's static vectors as word2vec text to an open stream."""
    check_words(model.vocabulary.words)
    write_vectors(file, model.vocabulary.words, model.vectors, SILENT, binary=False)
