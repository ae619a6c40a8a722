"""Vectors, matrices and weights written by hand, as on a blackboard."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError, read_failure

Floats = NDArray[np.float64]
MATRICES = ("w_q", "w_k", "w_v", "w_o")


@dataclass(frozen=True)
class Given:
    """A few vectors, and matrices for them if the file has any."""

    words: list[str]
    vectors: Floats  # (V, d)
    matrices: dict[str, Floats] = field(default_factory=dict)  # w_q, w_k, w_v, w_o


def read_vectors(path: Path) -> Given:
    """Read `word TAB number TAB number ...`, or JSON {"vectors": {word: [...]}, "w_q": [[...]]}."""
    text = _read(path)
    if path.suffix == ".json":
        return _from_json(path, text)
    words, rows = _rows(path, text)
    return Given(words, _matrix(path, rows))


def read_weights(path: Path) -> tuple[list[str], list[str], Floats]:
    """Read a weight table: a line of tokens, then `token TAB weight TAB weight ...`.

    Returns the tokens looked at, the tokens that look, and the weights (Tq, Tk).
    """
    text = _read(path)
    head, _, body = text.partition("\n")
    columns = head.split("\t")[1:]
    words, rows = _rows(path, body, first=2)
    weights = _matrix(path, rows)
    if weights.shape[1] != len(columns):
        raise CorpusError(f"{path}: {len(columns)} tokens in line 1, {weights.shape[1]} weights")
    for number, (word, row) in enumerate(zip(words, weights, strict=True), 2):
        if (row < 0).any() or abs(row.sum() - 1) > 1e-6:
            raise CorpusError(
                f"{path}: line {number}: the weights of {word!r} sum to {row.sum():g}, not 1"
            )
    return columns, words, weights


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CorpusError(read_failure(path, error)) from None
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: not utf-8 text") from None


def _rows(path: Path, text: str, first: int = 1) -> tuple[list[str], list[list[float]]]:
    words: list[str] = []
    rows: list[list[float]] = []
    for number, line in enumerate(text.split("\n"), first):
        if not line.strip() or line.startswith("#"):
            continue
        word, *cells = line.split("\t") if "\t" in line else line.split()
        try:
            rows.append([float(cell) for cell in cells])
        except ValueError:
            raise CorpusError(f"{path}: line {number}: not a number in {line!r}") from None
        if word in words:
            raise CorpusError(f"{path}: line {number}: {word!r} is there twice")
        words.append(word)
    return words, rows


def _matrix(path: Path, rows: list[list[float]]) -> Floats:
    if not rows or not rows[0]:
        raise CorpusError(f"{path}: no numbers in it")
    if len({len(row) for row in rows}) > 1:
        raise CorpusError(f"{path}: rows of different length")
    matrix = np.array(rows, np.float64)
    if not np.isfinite(matrix).all():
        raise CorpusError(f"{path}: a number that is not finite")
    return matrix


def _from_json(path: Path, text: str) -> Given:
    try:
        value: Any = json.loads(text)
        listed = value.get("vectors", value)
        words = [word for word in listed if isinstance(listed[word], list)]
        rows = [[float(number) for number in listed[word]] for word in words]
        matrices = {name: np.array(value[name], np.float64) for name in MATRICES if name in value}
    except (ValueError, AttributeError, TypeError) as error:
        raise CorpusError(f"{path}: not the JSON expected here: {error}") from None
    vectors = _matrix(path, rows)
    made = {}
    for name, matrix in matrices.items():
        made[name] = matrix[None] if matrix.ndim == 2 else matrix  # (H, d, dk)
        if made[name].ndim != 3 or (name != "w_o" and made[name].shape[1] != vectors.shape[1]):
            raise CorpusError(f"{path}: {name} does not fit vectors of {vectors.shape[1]} numbers")
    return Given(words, vectors, made)
