"""Vectors made elsewhere, as a model."""

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
from ctxembed.static.keyed import read_keyed_vectors
from ctxembed.static.read import BLOCK, VectorFile
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import map_array, write_header
from ctxembed.storage.atomic import check_whole, written_whole
from ctxembed.table import PROPERTIES, Cell, Table, answers
from ctxembed.text.lines import check_encoding, read_text
from ctxembed.text.streams import PACKED, open_bytes
from ctxembed.text.tokenizer import Tokenizer

# Controls, ends of lines and halves of characters: no list of words, one a line, can hold them.
_UNUSABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
Blocks = Iterator[tuple[list[str], Floats]]


class Rows:
    """Rows being written to vectors.npy, each word once; the size of the file is found out."""

    def __init__(self, file: IO[bytes], dim: int, limit: int | None) -> None:
        self.file, self.dim, self.limit = file, dim, limit
        self.numbers: dict[str, int] = {}  # word -> its place in the source
        self.seen = self.duplicates = self.not_finite = self.unusable = 0
        self.tell_size()

    def tell_size(self) -> None:
        """Write the array's header, again when the number of rows is known."""
        write_header(self.file, (len(self.numbers), self.dim), "<f4")

    def add(self, words: list[str], vectors: Floats) -> bool:
        """Keep the rows that can be used; say whether more are wanted."""
        finite = np.asarray(np.isfinite(vectors).all(axis=1))
        keep = []
        for row, word in enumerate(words):
            if self.limit is not None and len(self.numbers) >= self.limit:
                break
            self.seen += 1
            if not word.strip() or _UNUSABLE.search(word):
                self.unusable += 1
            elif not finite[row]:
                self.not_finite += 1
            elif word in self.numbers:
                self.duplicates += 1
            else:
                self.numbers[word] = self.seen - 1
                keep.append(row)
        kept = vectors if len(keep) == len(words) else vectors[keep]
        self.file.write(np.ascontiguousarray(kept, "<f4").tobytes())
        return self.limit is None or len(self.numbers) < self.limit

    def fill(self, blocks: Blocks, stage: Stage, done: Callable[[], int]) -> bool:
        """Add block by block, and show how far it is; say whether all of them were wanted."""
        shown = 0
        for words, vectors in blocks:
            wanted = self.add(words, vectors)
            stage.advance(done() - shown)
            shown = done()
            if not wanted:
                return False
        return True

    def finish(self) -> None:
        """Put the number of rows into the header."""
        begin = self.file.tell() - 4 * self.dim * len(self.numbers)
        self.file.seek(0)
        self.tell_size()
        assert self.file.tell() == begin, "numpy's header changed its length"


@answers(*PROPERTIES)
def import_(
    file: str,
    output: str | Path = "ctxembed-model",
    *,
    vocabulary: str | None = None,
    limit: int | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    force: bool = False,
    progress: Progress = SILENT,
) -> Table:
    """Make a model of a file of vectors."""
    check_encoding(encoding, UsageError)
    counts: NDArray[np.int64] | None = None
    with written_whole(Path(output), replace=force) as folder:
        sha256 = ""
        with (folder / "vectors.npy").open("wb") as target:
            path = Path(file)
            if path.suffix in (".npy", ".kv"):
                if path.suffix == ".kv":
                    words, vectors, counts = read_keyed_vectors(path)
                else:
                    words, vectors = _array(path, vocabulary, encoding)
                rows = Rows(target, vectors.shape[1], limit)
                with progress.stage("importing", None, "word") as stage:
                    rows.fill(_slices(words, vectors), stage, lambda: rows.seen)
            else:
                size = path.stat().st_size if path.is_file() and path.suffix not in PACKED else None
                with closing(open_bytes(file)) as stream:
                    reading = VectorFile(stream, file, encoding, errors)
                    rows = Rows(target, reading.dim, limit)
                    with progress.stage("importing", size, "B") as stage:
                        if rows.fill(reading.blocks, stage, lambda: reading.done):
                            sha256 = reading.digest.hexdigest()
            rows.finish()
        if not rows.numbers:
            raise ModelError(f"{file}: no word in it can be used")
        kept = list(rows.numbers)
        estimated = counts is None
        counts = zipf(len(kept)) if counts is None else counts[list(rows.numbers.values())]
        tokenizer = Tokenizer("word", cased=_cased(kept))
        meta = {
            "sentences": 0,
            "tokens": max(1, int(counts.sum())),
            "imported": True,
            "counts_estimated": estimated,
            "tokenizer": tokenizer.told(),
            "files": [{"name": Path(file).name, "sha256": sha256, "sentences": 0}],
        }
        write_description(folder, kept, counts, rows.dim, meta)
        assert Model.open(folder).vocabulary.words == kept  # before it takes the place of another
    return _summary(rows, kept, tokenizer.cased, output)


def zipf(number: int) -> NDArray[np.int64]:
    """Estimate counts from ranks by Zipf's law, as if the corpus had a billion words.

    >>> zipf(3).tolist()
    [433990516, 316695782, 249313701]
    """
    shares = 1 / (np.arange(number) + 2.7)  # Mandelbrot's shift: the first words are held back
    return np.asarray(np.maximum(1, 1e9 * shares / shares.sum()), np.int64)


def _cased(words: list[str]) -> bool:
    """Tell whether capitals matter: more than one word in a hundred has some."""
    return sum(word != word.lower() for word in words) > len(words) / 100


def _slices(words: list[str], vectors: Floats) -> Blocks:
    step = max(1, BLOCK // (4 * vectors.shape[1]))
    for first in range(0, len(words), step):
        yield words[first : first + step], np.asarray(vectors[first : first + step], np.float32)


def _array(path: Path, vocabulary: str | None, encoding: str) -> tuple[list[str], Floats]:
    """Map an array, and read the words that belong to its rows."""
    check_whole(path)
    if path.exists() and not path.is_file():
        raise ModelError(f"{path}: not a regular file")
    try:
        vectors = map_array(path)
    except OSError as error:
        raise ModelError(read_failure(path, error)) from None
    except ValueError as error:
        raise ModelError(f"{path}: damaged: {str(error).splitlines()[0]}") from None
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        raise ModelError(f"{path}: {vectors.ndim} axes of {vectors.dtype}; rows of numbers wanted")
    beside = [path.with_suffix(".vocab.txt"), path.parent / "vocab.txt"]
    words_path = Path(vocabulary) if vocabulary else next(filter(Path.is_file, beside), beside[0])
    if not words_path.exists():
        raise ModelError(f"{words_path}: no such file; --vocab names the word list")
    words = read_text(words_path, encoding, ModelError).removesuffix("\n").split("\n")
    if len(words) != len(vectors):
        raise ModelError(f"{words_path}: {len(words)} words, but {path} has {len(vectors)} rows")
    return words, vectors


def _summary(rows: Rows, kept: list[str], cased: bool, output: str | Path) -> Table:
    lines: list[tuple[str, Cell]] = [
        ("words", len(kept)),
        ("dim", rows.dim),
        ("duplicates", rows.duplicates),
        ("not_finite", rows.not_finite),
        ("unusable", rows.unusable),
        ("cased", "yes" if cased else "no"),
        ("model", str(output)),
    ]
    left_out = rows.duplicates + rows.not_finite + rows.unusable
    told = (
        f"{left_out} of {rows.seen} rows left out: {rows.duplicates} words that came before,"
        f" {rows.not_finite} with NaN or infinity, {rows.unusable} without a usable word"
    )
    return Table(PROPERTIES, lines, [told] if left_out else [])
