"""Static vectors for other programs."""

from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from ctxembed.errors import CtxembedError, UsageError
from ctxembed.progress import Progress
from ctxembed.static.write import check_words, replace_file, write_binary, write_text
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import PROPERTIES, Cell, Table

FORMATS = {
    ".txt": "word2vec text",
    ".vec": "word2vec text",
    ".bin": "word2vec binary",
    ".npy": "numpy array and word list",
    ".kv": "gensim KeyedVectors",
}


@on_model(*PROPERTIES)
def export(
    model: Model, output: str | Path, *, force: bool = False, progress: Progress | None = None
) -> Table:
    """Write a model's static vectors in the format that the file's name asks for."""
    path, progress = Path(output), progress or Progress()
    form = FORMATS.get(path.suffix)
    if form is None:
        raise UsageError(f"{output}: cannot tell the format; end the name in {', '.join(FORMATS)}")
    files = [path] if path.suffix != ".npy" else [path, path.with_suffix(".vocab.txt")]
    for file in files:
        if file.exists() and not force:
            raise UsageError(f"{file} exists; give --force to replace it, or another name")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: no such directory")
    try:
        _write(model, files, progress)
    except PermissionError:
        raise CtxembedError(f"{path.parent}: cannot be written to") from None
    rows: list[tuple[str, Cell]] = [
        ("words", len(model.vocab)),
        ("dim", model.dim),
        ("format", form),
    ]
    return Table(PROPERTIES, [*rows, *(("file", str(file)) for file in files)])


def _write(model: Model, files: list[Path], progress: Progress) -> None:
    words, vectors = model.vocab, model.vectors
    kind = files[0].suffix
    if kind == ".npy":
        text = "".join(f"{word}\n" for word in words).encode()
        replace_file(files[1], lambda file: _put(file, text))
        replace_file(files[0], lambda file: np.save(file, np.asarray(vectors)))
        return
    if kind == ".kv":
        from ctxembed.static.gensim_engine import save_keyed_vectors

        replace_file(
            files[0],
            partial(save_keyed_vectors, words=words, counts=model.counts, vectors=vectors),
        )
        return
    check_words(words)
    write = write_binary if kind == ".bin" else write_text
    replace_file(files[0], partial(write, words=words, vectors=vectors, progress=progress))


def _put(file: IO[bytes], text: bytes) -> None:
    file.write(text)


def export_stream(model: Model, file: IO[bytes]) -> None:
    """Write a model's static vectors as word2vec text to an open stream."""
    check_words(model.vocab)
    write_text(file, model.vocab, model.vectors, Progress())
