"""Read the vectors, matrices and weights of a worked example."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.errors import CorpusError
from ctxembed.stats.vectors import Floats
from ctxembed.text.lines import read_text

MATRICES = ("w_q", "w_k", "w_v", "w_o")


@dataclass(frozen=True)
class WorkedExample:
    """A few vectors, and matrices for them if the file has any."""

    words: list[str]
    vectors: Floats  # (V, d)
    matrices: dict[str, Floats] = field(default_factory=dict)  # w_q, w_k, w_v, w_o: (H, d, dk)
    dimensions: list[str] = field(default_factory=list)  # their names, if it has any
    sentences: list[tuple[str, Floats | None]] = field(default_factory=list)  # and wanted vector


def read_vectors(path: Path) -> WorkedExample:
    """Read `word TAB number TAB number ...`, or JSON {"vectors": {word: [...]}, "w_q": [[...]]}."""
    text = read_text(path)
    if path.suffix != ".json":
        return WorkedExample(*_read_rows(path, text))
    try:
        value: Any = json.loads(text)
        listed = value.get("vectors", value)
        words = [word for word in listed if isinstance(listed[word], list)]
        rows = [[float(number) for number in listed[word]] for word in words]
        matrices = {name: np.array(value[name], np.float64) for name in MATRICES if name in value}
        rest = value if "vectors" in value else {}  # else every key is a word
        dimensions = [str(name) for name in rest.get("dimensions", [])]
        sentences = [
            (str(one["sentence"]), np.array(one["wanted"], np.float64) if "wanted" in one else None)
            for one in rest.get("sentences", [])
        ]
    except (ValueError, AttributeError, TypeError, KeyError):
        expected = '{"vectors": {"phone": [1, 0]}, "w_v": [[2, 0], [0, 2]]}'
        raise CorpusError(f"{path}: cannot be read; write JSON such as {expected}") from None
    vectors = _to_matrix(path, rows)
    by_head = {name: x[None] if x.ndim == 2 else x for name, x in matrices.items()}
    _check_matrices(path, by_head, vectors.shape[1])
    size = vectors.shape[1]
    for text, wanted in sentences:
        if wanted is not None and (wanted.shape != (size,) or not np.isfinite(wanted).all()):
            raise CorpusError(f"{path}: {text!r}: wanted must have {size} numbers, as the vectors")
    if dimensions and len(dimensions) != size:
        raise CorpusError(f"{path}: {len(dimensions)} dimensions, {size} numbers a word")
    return WorkedExample(words, vectors, by_head, dimensions, sentences)


def write_example(example: WorkedExample) -> str:
    """Return the JSON of a worked example, a line for each word, matrix and sentence."""

    def block(items: Iterable[str], ends: str) -> str:
        return f"{ends[0]}\n  " + ",\n  ".join(items) + f"{ends[1]}"

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    words = zip(example.words, example.vectors.tolist(), strict=True)
    parts = {"dimensions": line(example.dimensions)} if example.dimensions else {}
    parts["vectors"] = block((f"{line(word)}: {line(row)}" for word, row in words), "{}")
    parts |= {name: line(matrix.tolist()) for name, matrix in example.matrices.items()}
    if example.sentences:
        listed = (
            {"sentence": text, **({} if wanted is None else {"wanted": wanted.tolist()})}
            for text, wanted in example.sentences
        )
        parts["sentences"] = block(map(line, listed), "[]")
    return "{" + ",\n ".join(f"{line(name)}: {part}" for name, part in parts.items()) + "}\n"


def read_weights(path: Path) -> tuple[list[str], list[str], Floats]:
    """Return the tokens of a table's first line and first column, and its weights (Tq, Tk)."""
    head, _, body = read_text(path).partition("\n")
    columns = head.split("\t")[1:]
    words, weights = _read_rows(path, body, first=2)
    if weights.shape[1] != len(columns):
        raise CorpusError(f"{path}: {len(columns)} tokens in line 1, {weights.shape[1]} weights")
    for number, (word, row) in enumerate(zip(words, weights, strict=True), 2):
        if (row < 0).any() or abs(row.sum() - 1) > 1e-6:
            problem = f"the weights of {word!r} sum to {row.sum():g}, not 1"
            raise CorpusError(f"{path}: line {number}: {problem}")
    return columns, words, weights


def _read_rows(path: Path, text: str, first: int = 1) -> tuple[list[str], Floats]:
    """Return the words of lines, and their numbers (V, d); `first` is the number of the line."""
    rows: dict[str, list[float]] = {}
    for number, line in enumerate(text.split("\n"), first):
        if not line.strip() or line.startswith("#"):
            continue
        word, *cells = line.split("\t") if "\t" in line else line.split()
        if word in rows:
            raise CorpusError(f"{path}: line {number}: {word!r} is there twice")
        try:
            rows[word] = [float(cell) for cell in cells]
        except ValueError:
            raise CorpusError(f"{path}: line {number}: not a number in {line!r}") from None
    return list(rows), _to_matrix(path, list(rows.values()))


def _to_matrix(path: Path, rows: list[list[float]]) -> Floats:
    if not rows or not rows[0]:
        raise CorpusError(f"{path}: contains no numbers")
    if len({len(row) for row in rows}) > 1:
        raise CorpusError(f"{path}: rows of different length")
    matrix = np.array(rows, np.float64)
    if not np.isfinite(matrix).all():
        raise CorpusError(f"{path}: a number that is not finite")
    return matrix


def _check_matrices(path: Path, matrices: dict[str, Floats], dim: int) -> None:
    """Check that q and k have equal length, and that the output has the length of a vector."""
    for name, matrix in matrices.items():
        if matrix.ndim != 3 or not np.isfinite(matrix).all():
            raise CorpusError(f"{path}: {name} is not a matrix, nor one for each head")
    sizes = {name: matrix.shape[1:] for name, matrix in matrices.items()}
    q, k, v = (sizes.get(name, (dim, dim))[1] for name in ("w_q", "w_k", "w_v"))
    _, out = sizes.get("w_o", (v, v))
    for name, (rows, _) in sizes.items():
        size = v if name == "w_o" else dim
        if rows != size:
            raise CorpusError(f"{path}: {name} has {rows} rows, its vectors have {size} numbers")
    if q != k:
        raise CorpusError(f"{path}: w_q makes {q} numbers, w_k {k}; q·k needs as many in both")
    if out != dim:
        raise CorpusError(f"{path}: the output has {out} numbers, the vectors have {dim}")
    if len({len(matrix) for matrix in matrices.values()}) > 1:
        raise CorpusError(f"{path}: the matrices have different numbers of heads")
