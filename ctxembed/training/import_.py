"""Import vectors from a file as a model."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, UsageError, read_failure
from ctxembed.model.model import Model
from ctxembed.model.write import write_description
from ctxembed.progress import SILENT, Progress, Stage
from ctxembed.static.vector_files import BLOCK, VectorFile, read_keyed_vectors
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import map_array, write_header
from ctxembed.storage.atomic import atomic_directory, check_pair_complete
from ctxembed.table import PROPERTIES, Cell, Table, answers
from ctxembed.text.lines import check_encoding, read_text
from ctxembed.text.streams import PACKED, open_bytes
from ctxembed.text.tokenizer import Tokenizer

# Control characters, line ends and surrogates: a word list with one word per line cannot hold them.
_UNUSABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
Blocks = Iterator[tuple[list[str], Floats]]


class VectorWriter:
    """Write rows to vectors.npy, each word once; the number of rows is known at the end."""

    def __init__(self, file: IO[bytes], dim: int, limit: int | None) -> None:
        self.file, self.dim, self.limit = file, dim, limit
        self.rows: dict[str, int] = {}  # word -> its row in the source
        self.seen = self.duplicates = self.not_finite = self.unusable = 0
        write_header(file, (0, dim), "<f4")

    def add(self, words: list[str], vectors: Floats) -> bool:
        """Write the usable rows; return whether there is room for more."""
        finite = np.asarray(np.isfinite(vectors).all(axis=1))
        keep = []
        for row, word in enumerate(words):
            if self.limit is not None and len(self.rows) >= self.limit:
                break
            self.seen += 1
            if not word.strip() or _UNUSABLE.search(word):
                self.unusable += 1
            elif not finite[row]:
                self.not_finite += 1
            elif word in self.rows:
                self.duplicates += 1
            else:
                self.rows[word] = self.seen - 1
                keep.append(row)
        kept = vectors if len(keep) == len(words) else vectors[keep]
        self.file.write(np.ascontiguousarray(kept, "<f4").tobytes())
        return self.limit is None or len(self.rows) < self.limit

    def add_all(self, blocks: Blocks, stage: Stage, done: Callable[[], int]) -> bool:
        """Add all blocks, then complete the header; return False where the limit ended it."""
        shown, wanted = 0, True
        for words, vectors in blocks:
            wanted = self.add(words, vectors)
            stage.advance(done() - shown)
            shown = done()
            if not wanted:
                break
        begin = self.file.tell() - 4 * self.dim * len(self.rows)
        self.file.seek(0)
        write_header(self.file, (len(self.rows), self.dim), "<f4")
        assert self.file.tell() == begin, "numpy's header changed its length"
        return wanted


@answers(*PROPERTIES)
def import_(
    file: str, output: str | Path = "ctxembed-model", *, vocabulary: str | None = None,
    limit: int | None = None, encoding: str = "utf-8", errors: str = "strict",
    force: bool = False, progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Write a model with the vectors of a file; return how many rows were kept and left out."""
    check_encoding(encoding, UsageError)
    path, sha256 = Path(file), ""
    counts: NDArray[np.int64] | None = None
    with atomic_directory(Path(output), replace=force) as folder:
        with (folder / "vectors.npy").open("wb") as target:
            if path.suffix in (".npy", ".kv"):
                if path.suffix == ".kv":
                    words, vectors, counts = read_keyed_vectors(path)
                else:
                    words, vectors = _array(path, vocabulary, encoding)
                writer = VectorWriter(target, vectors.shape[1], limit)
                with progress.stage("importing", None, "word") as stage:
                    writer.add_all(_slices(words, vectors), stage, lambda: writer.seen)
            else:
                size = path.stat().st_size if path.is_file() and path.suffix not in PACKED else None
                with closing(open_bytes(file)) as stream:
                    source = VectorFile(stream, file, encoding, errors)
                    writer = VectorWriter(target, source.dim, limit)
                    with progress.stage("importing", size, "B") as stage:
                        if writer.add_all(source.blocks, stage, lambda: source.done):
                            sha256 = source.digest.hexdigest()
        kept = list(writer.rows)
        if not kept:
            raise ModelError(f"{file}: no word in it can be used")
        # Capitals matter where more than one word in a hundred has some.
        cased = sum(word != word.lower() for word in kept) > len(kept) / 100
        estimated = counts is None
        counts = zipf_counts(len(kept)) if counts is None else counts[list(writer.rows.values())]
        meta = {
            "sentences": 0, "tokens": max(1, int(counts.sum())), "imported": True,
            "counts_estimated": estimated, "tokenizer": Tokenizer("word", cased=cased).to_dict(),
            "files": [{"name": path.name, "sha256": sha256, "sentences": 0}],
        }  # fmt: skip
        write_description(folder, kept, counts, writer.dim, meta)
        assert Model.open(folder).vocabulary.words == kept  # before it replaces another
    duplicates, not_finite, unusable = writer.duplicates, writer.not_finite, writer.unusable
    summary: dict[str, Cell] = {
        "words": len(kept), "dim": writer.dim, "duplicates": duplicates, "not_finite": not_finite,
        "unusable": unusable, "cased": "yes" if cased else "no", "model": str(output),
    }  # fmt: skip
    left_out = duplicates + not_finite + unusable
    note = (
        f"{left_out} of {writer.seen} rows left out: {duplicates} words that came before,"
        f" {not_finite} with NaN or infinity, {unusable} without a usable word"
    )
    return Table(PROPERTIES, summary.items(), [note] if left_out else [])


def zipf_counts(number: int) -> NDArray[np.int64]:
    """Return counts (V,) by Zipf's law from ranks, as if the corpus had a billion words.

    >>> zipf_counts(3).tolist()
    [433990516, 316695782, 249313701]
    """
    weights = 1 / (np.arange(number) + 2.7)  # Mandelbrot's shift: the first words get less
    return np.asarray(np.maximum(1, 1e9 * weights / weights.sum()), np.int64)


def _slices(words: list[str], vectors: Floats) -> Blocks:
    """Yield words and vectors in blocks of about BLOCK bytes."""
    step = max(1, BLOCK // (4 * vectors.shape[1]))
    for first in range(0, len(words), step):
        yield words[first : first + step], np.asarray(vectors[first : first + step], np.float32)


def _array(path: Path, vocabulary: str | None, encoding: str) -> tuple[list[str], Floats]:
    """Return the words of an array's rows, and the mapped array."""
    check_pair_complete(path)
    if path.exists() and not path.is_file():
        raise ModelError(f"{path}: not a regular file")
    try:
        vectors = map_array(path)
    except OSError as error:
        raise ModelError(read_failure(path, error)) from None
    except ValueError as error:
        raise ModelError(f"{path}: damaged: {str(error).splitlines()[0]}") from None
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        kind = f"{vectors.ndim} axes of {vectors.dtype}"
        raise ModelError(f"{path}: {kind}; a matrix of numbers is needed")
    candidates = [path.with_suffix(".vocab.txt"), path.parent / "vocab.txt"]
    beside = next(filter(Path.is_file, candidates), candidates[0])
    words_path = Path(vocabulary) if vocabulary else beside
    if not words_path.exists():
        raise ModelError(f"{words_path}: no such file; --vocab names the word list")
    words = read_text(words_path, encoding, ModelError).removesuffix("\n").split("\n")
    if len(words) != len(vectors):
        raise ModelError(f"{words_path}: {len(words)} words, but {path} has {len(vectors)} rows")
    return words, vectors
