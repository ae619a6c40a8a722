"""Vectors going out, in the formats other programs read."""

from collections.abc import Sequence
from typing import IO

import numpy as np

from ctxembed.errors import UsageError
from ctxembed.progress import Progress
from ctxembed.static.space import Vectors

CHUNK = 1 << 12  # rows formatted at once


def write_vectors(
    file: IO[bytes], words: Sequence[str], vectors: Vectors, progress: Progress, *, binary: bool
) -> None:
    """Write word2vec's formats: word, space, numbers, a line break.

    binary: little-endian float32; else the shortest digits that give the same float32 again.
    """
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    with progress.stage("writing", len(words), "word") as stage:
        for first in range(0, len(words), CHUNK):
            some, rows = words[first : first + CHUNK], vectors[first : first + CHUNK]
            if binary:
                numbers = [row.tobytes() for row in np.asarray(rows, "<f4")]
            else:
                numbers = [" ".join(row).encode() for row in rows.astype(str).tolist()]
            lines = zip(some, numbers, strict=True)
            file.writelines(word.encode() + b" " + row + b"\n" for word, row in lines)
            stage.advance(len(rows))


def check_words(words: Sequence[str]) -> None:
    """Refuse words that word2vec's formats, which know only the space, would tear apart."""
    for word in words:
        if " " in word or not word:
            raise UsageError(
                f"the word {word!r} holds a space; word2vec's formats cannot carry it, export to"
                " .npy instead"
            )
