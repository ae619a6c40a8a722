"""Vectors going out, in the formats other programs read."""

from collections.abc import Sequence
from typing import IO

import numpy as np

from ctxembed.errors import UsageError
from ctxembed.progress import Progress
from ctxembed.static.space import Floats

CHUNK = 1 << 12  # rows formatted at once


def write_text(file: IO[bytes], words: Sequence[str], vectors: Floats, progress: Progress) -> None:
    """Write word2vec's text format; the shortest digits that give the same float32 again."""
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    with progress.stage("writing", len(words), "word") as stage:
        for first in range(0, len(words), CHUNK):
            rows = vectors[first : first + CHUNK].astype(str)  # (n, d) shortest decimal digits
            file.write(
                "".join(
                    f"{word} {' '.join(row)}\n"
                    for word, row in zip(words[first : first + CHUNK], rows.tolist(), strict=True)
                ).encode()
            )
            stage.advance(len(rows))


def write_binary(
    file: IO[bytes], words: Sequence[str], vectors: Floats, progress: Progress
) -> None:
    """Write word2vec's binary format: word, space, little-endian float32 numbers."""
    file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
    with progress.stage("writing", len(words), "word") as stage:
        for first in range(0, len(words), CHUNK):
            rows = np.asarray(vectors[first : first + CHUNK], "<f4")
            file.write(
                b"".join(
                    word.encode() + b" " + row.tobytes() + b"\n"
                    for word, row in zip(words[first : first + CHUNK], rows, strict=True)
                )
            )
            stage.advance(len(rows))


def check_words(words: Sequence[str]) -> None:
    """Refuse words that word2vec's formats, which know only the space, would tear apart."""
    for word in words:
        if " " in word or not word:
            raise UsageError(
                f"the word {word!r} holds a space; word2vec's formats cannot carry it, export to"
                " .npy instead"
            )
