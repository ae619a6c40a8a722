"""The saved senses of a model, in senses.npz: compare and kwic assign occurrences to them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.errors import ModelError
from ctxembed.model.model import Model
from ctxembed.static.space import Quantized, quantize
from ctxembed.stats.vectors import Floats
from ctxembed.storage.atomic import atomic_file
from ctxembed.storage.folder import Part

FORMAT = 3  # 1 was a folder a word, 2 one description of all words
FILE = "senses.npz"
DESCRIBED = ("attention", "counts", "bias", "markers", "examples", "facts")  # of each word
ENCODING = ("utf-8", "surrogatepass")
FIX = "remove it; ctxembed senses WORD --save finds senses again"


@dataclass(frozen=True)
class SavedSenses:
    """The senses of a word, the most frequent first."""

    word: str
    attention: str  # the attention that computed the vectors
    counts: Sequence[int]  # occurrences of each sense in the sample
    vectors: Floats  # (k, d) mean contextual vectors
    weights: Floats  # (k, d) for classify
    bias: Sequence[float]  # (k,)
    markers: Sequence[Sequence[str]]  # for each sense, the words that distinguish it
    examples: Sequence[Sequence[int]]  # for each sense, the token positions that show it best
    facts: Mapping[str, Any]  # settings, scores of the clustering, names given by a person

    @property
    def number(self) -> int:
        """Number of senses."""
        return len(self.counts)

    @property
    def shares(self) -> Floats:
        """(k,) fraction of the occurrences that has each sense."""
        return np.asarray(self.counts) / sum(self.counts)

    @property
    def names(self) -> Sequence[str]:
        """(k,) the names that a person gave the senses, empty where there is none."""
        names: Sequence[str] = self.facts.get("names") or [""] * self.number
        return names

    def describe(self, sense: int, words: int = 3) -> str:
        """Return the name of a sense, from 0; its first markers if it has none."""
        return self.names[sense] or ", ".join(self.markers[sense][:words])

    def number_of(self, text: str) -> int | None:
        """Return the number of a sense, from 1, given as this number or as its name."""
        if text in self.names and text:
            return self.names.index(text) + 1
        return int(text) if text.isdecimal() and 0 < int(text) <= self.number else None

    def rename(self, names: Mapping[int, str]) -> "SavedSenses":
        """Return a copy with names by number, from 1; an empty one takes a name away."""
        new = [names.get(number, old) for number, old in enumerate(self.names, 1)]
        return replace(self, facts={**self.facts, "names": new if any(new) else None})

    def without(self, numbers: Sequence[int]) -> "SavedSenses":
        """Return a copy without the senses with these numbers, from 1; without any if empty."""
        kept = [i for i in range(self.number) if numbers and i + 1 not in numbers]
        lists = ("counts", "bias", "markers", "examples")
        parts: dict[str, Any] = {key: [getattr(self, key)[i] for i in kept] for key in lists}
        if any(self.names):
            parts["facts"] = {**self.facts, "names": [self.names[i] for i in kept]}
        return replace(self, vectors=self.vectors[kept], weights=self.weights[kept], **parts)


def saved_senses(model: Model, word: str) -> SavedSenses | None:
    """Return the senses saved for a word, or None."""
    return open_senses(model).get(model.vocabulary.spelling(word))


@dataclass(frozen=True, eq=False)
class Senses(Mapping[str, SavedSenses]):
    """The senses of many words, each parsed on access: a query needs few of them."""

    path: Part
    lines: Mapping[str, bytes]  # word -> JSON
    rows: Mapping[str, slice]  # word -> its rows of the arrays
    arrays: Sequence[Floats | Quantized]  # (K, d) vectors and weights of all words

    def __getitem__(self, word: str) -> SavedSenses:
        vectors, weights = (array[self.rows[word]] for array in self.arrays)
        try:
            described = json.loads(self.lines[word])
            senses = SavedSenses(word, vectors=vectors, weights=weights, **described)
            fits = {len(vectors)} == set(map(len, (senses.counts, senses.bias, senses.markers)))
            fits = fits and len(senses.names) == len(vectors)
            fits = fits and bool(np.isfinite(vectors).all() and np.isfinite(weights).all())
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ModelError(f"{self.path}: damaged; {FIX}")
        return senses

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)


def open_senses(model: Model) -> Mapping[str, SavedSenses]:
    """Return all saved senses by word; read once, until new ones are written."""
    part = model.files / FILE
    if model.is_worked_example or not part.exists():
        return {}
    written = part.status().st_mtime_ns
    if model.senses is None or model.senses[0] != written:
        model.senses = (written, _read_file(model, part))
    senses: Senses = model.senses[1]
    return senses


def save_senses(model: Model, *senses: SavedSenses) -> Path:
    """Add the senses of words to those saved in a model; return the path of the file."""
    path = model.path / FILE
    with model.locked():
        part = model.files.reopen(FILE)
        lines, rows = dict[str, bytes](), dict[str, list[Floats]]()
        with suppress(ModelError):  # damaged, or of another model: it is replaced
            if part.exists():
                saved = _read_file(model, part)
                lines = dict(saved.lines)
                rows = {word: [array[saved.rows[word]] for array in saved.arrays] for word in lines}
        for item in senses:
            described = {name: getattr(item, name) for name in DESCRIBED}
            lines[item.word] = json.dumps(described, ensure_ascii=False).encode(*ENCODING)
            rows[item.word] = [item.vectors, item.weights]
        vectors, weights = (np.concatenate(side) for side in zip(*rows.values(), strict=True))
        small = isinstance(model.vectors, Quantized)
        texts = {
            "description": json.dumps({"format": FORMAT, "model": model.fingerprint}).encode(),
            "words": "\n".join(lines).encode(*ENCODING),
            "told": b"\n".join(lines.values()),
        }
        arrays: dict[str, Any] = {key: np.frombuffer(t, np.uint8) for key, t in texts.items()}
        arrays["ends"] = np.cumsum([len(side[0]) for side in rows.values()])
        for key, array in (("vectors", vectors), ("weights", weights)):
            arrays[key] = quantize(array) if small else array.astype(np.float32)
        with atomic_file(path) as file:
            np.savez(file, **arrays)
    model.files.reopen(FILE)
    return path


def _read_file(model: Model, path: Part) -> Senses:
    data = path.read_bytes()
    try:  # the checksums of an .npz are its own
        with np.load(BytesIO(data), allow_pickle=False) as file:
            if data[-22:-18] != b"PK\5\6":
                raise ValueError("bytes after the end of the zip file")
            if any(part.compress_type for part in file.zip.infolist()):
                raise ValueError("compressed")  # it may unpack to any size
            meta = json.loads(file["description"].tobytes())
            version, made_for = int(meta["format"]), meta.get("model")
            if version > FORMAT:
                newer = f"format {version}, this ctxembed reads up to {FORMAT}"
                raise ModelError(f"{path}: {newer}; {FIX}")
            raw = [np.asarray(file[name]) for name in ("vectors", "weights")]
            arrays = [Quantized(array) if array.dtype == np.int8 else array for array in raw]
            if version < FORMAT:
                lines = {word: json.dumps(one).encode() for word, one in meta["words"].items()}
                ends = np.cumsum([len(one["counts"]) for one in meta["words"].values()])
            else:
                words, ends = file["words"].tobytes().decode(*ENCODING).split("\n"), file["ends"]
                lines = dict(zip(words, file["told"].tobytes().split(b"\n"), strict=True))
        last = int(ends[-1]) if len(ends) else 0
        if not all(a.shape == (last, model.dim) and a.dtype == np.float32 for a in arrays):
            raise ValueError("wrong shape or dtype")
        bounds = pairwise([0, *ends.tolist()])
        rows = {word: slice(*pair) for word, pair in zip(lines, bounds, strict=True)}
    except ModelError:
        raise
    except Exception:  # a zip file can be damaged in many ways
        raise ModelError(f"{path}: damaged; {FIX}") from None
    model.check_fingerprint(path, made_for, FIX)
    return Senses(path, lines, rows, arrays)
