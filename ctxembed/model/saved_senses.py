"""Senses kept in a model: senses.npz, which compare and kwic name senses by, no sentence in it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError
from ctxembed.model.model import Model
from ctxembed.static.quantized import Small, narrow
from ctxembed.stats.vectors import Floats
from ctxembed.storage.atomic import file_written_whole
from ctxembed.storage.folder import Part

FORMAT = 3  # 1 was a folder a word, 2 one description of all words
FILE = "senses.npz"
FIX = "remove it; ctxembed senses WORD --save finds senses again"


@dataclass(frozen=True)
class SavedSenses:
    """The senses of a word, the most frequent first."""

    word: str
    attention: str  # the attention in whose space the vectors lie
    counts: Sequence[int]  # how many of the occurrences looked at have each sense
    vectors: Floats  # (k, d) mean contextual vectors
    weights: Floats  # (k, d) for sense_here.judge
    bias: Sequence[float]  # (k,)
    markers: Sequence[Sequence[str]]  # for each sense, the words that tell it from the others
    examples: Sequence[Sequence[int]]  # for each sense, places in the corpus that show it best
    facts: Mapping[str, Any]  # what was asked, and how sure the answer is

    @property
    def number(self) -> int:
        """How many senses."""
        return len(self.counts)

    @property
    def shares(self) -> Floats:
        """(k,) the share of the occurrences that has each sense."""
        return np.asarray(self.counts) / sum(self.counts)

    def without(self, numbers: Sequence[int]) -> "SavedSenses":
        """Leave senses out, from 1, or all where no number is given."""
        kept = [i for i in range(self.number) if numbers and i + 1 not in numbers]
        return replace(
            self,
            counts=[self.counts[i] for i in kept],
            vectors=self.vectors[kept],
            weights=self.weights[kept],
            bias=[self.bias[i] for i in kept],
            markers=[self.markers[i] for i in kept],
            examples=[self.examples[i] for i in kept],
        )


def saved_senses(model: Model, word: str) -> SavedSenses | None:
    """Return the senses saved for a word, or None."""
    return open_senses(model).get(model.vocabulary.spelling(word))


class Senses(Mapping[str, SavedSenses]):
    """The senses of many words, of which few are asked for: each is read when it is."""

    def __init__(
        self, path: Part, told: Mapping[str, bytes], ends: Sequence[int], *arrays: Floats | Small
    ) -> None:
        self.path = path
        self.told = told  # JSON of each word
        self.rows = {w: slice(*two) for w, two in zip(told, pairwise([0, *ends]), strict=True)}
        self.arrays = arrays  # (K, d) vectors and weights of all words

    def __getitem__(self, word: str) -> SavedSenses:
        """Read the senses of one word."""
        told, rows = self.told[word], self.rows[word]
        try:
            vectors, weights = (array[rows] for array in self.arrays)
            made = SavedSenses(word, vectors=vectors, weights=weights, **json.loads(told))
            fits = {len(vectors)} == set(map(len, (made.counts, made.bias, made.markers)))
            fits = fits and bool(np.isfinite(vectors).all() and np.isfinite(weights).all())
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ModelError(f"{self.path}: damaged; {FIX}")
        return made

    def __iter__(self) -> Iterator[str]:
        """Iterate over the words."""
        return iter(self.told)

    def __len__(self) -> int:
        """Count the words."""
        return len(self.told)


def open_senses(model: Model) -> Mapping[str, SavedSenses]:
    """Return all saved senses by word; they are opened once, as long as nobody writes new ones."""
    if model.by_hand or not (model.files / FILE).exists():
        return {}
    part = model.files / FILE
    with part.opened() as (_, found):
        written = found.st_mtime_ns
    kept: tuple[int, Senses] | None = model.senses
    if kept is None or kept[0] != written:
        kept = model.senses = (written, _read(model, part))
    return kept[1]


def save_senses(model: Model, *senses: SavedSenses) -> Path:
    """Keep the senses of words, whole, beside those of other words."""
    model.check_unchanged()
    path = model.path / FILE
    with _alone(model.path):
        part = model.files.again(FILE)
        told, rows = dict[str, bytes](), dict[str, list[Floats]]()
        with suppress(ModelError):  # damaged, or of another model: worth nothing
            if part.exists():
                kept = _read(model, part)
                told = dict(kept.told)
                rows = {word: [array[kept.rows[word]] for array in kept.arrays] for word in told}
        for item in senses:
            told[item.word] = _told(item)
            rows[item.word] = [item.vectors, item.weights]
        vectors, weights = (np.concatenate(side) for side in zip(*rows.values(), strict=True))
        small = isinstance(model.vectors, Small)
        with file_written_whole(path) as file:
            np.savez(
                file,
                description=_bytes(json.dumps({"format": FORMAT, "model": model.fingerprint})),
                words=_bytes("\n".join(told)),
                told=np.frombuffer(b"\n".join(told.values()), np.uint8),
                ends=np.cumsum([len(side[0]) for side in rows.values()]),
                vectors=narrow(vectors) if small else vectors.astype(np.float32),
                weights=narrow(weights) if small else weights.astype(np.float32),
            )
    model.files.again(FILE)
    return path


def _read(model: Model, path: Part) -> Senses:
    data = path.read_bytes()
    try:  # the checksums of an .npz are its own
        with np.load(BytesIO(data), allow_pickle=False) as file:
            if data[-22:-18] != b"PK\5\6":  # a zip file's end
                raise ValueError("something stands behind it")
            if any(part.compress_type for part in file.zip.infolist()):
                raise ValueError("packed: not by us")  # it may unpack to anything
            meta = json.loads(_text(file["description"]))
            version, made_for = int(meta["format"]), meta.get("model")
            if version > FORMAT:
                raise ModelError(
                    f"{path}: format {version}, this ctxembed reads up to {FORMAT}; {FIX}"
                )
            arrays = [_rows(np.asarray(file[name])) for name in ("vectors", "weights")]
            if version < FORMAT:
                told = {word: json.dumps(one).encode() for word, one in meta["words"].items()}
                ends = np.cumsum([len(one["counts"]) for one in meta["words"].values()])
            else:
                lines, ends = file["told"].tobytes().split(b"\n"), file["ends"]
                told = dict(zip(_text(file["words"]).split("\n"), lines, strict=True))
        last = int(ends[-1]) if len(ends) else 0
        if not all(a.shape == (last, model.dim) and a.dtype == np.float32 for a in arrays):
            raise ValueError("vectors of another shape or kind")
        senses = Senses(path, told, ends.tolist(), *arrays)
    except ModelError:
        raise
    except Exception:  # a zip file can be damaged in many ways
        raise ModelError(f"{path}: damaged; {FIX}") from None
    model.check_made_for(path, made_for, FIX)
    return senses


def _told(item: SavedSenses) -> bytes:
    """Return what is told about the senses of a word beside their vectors, a line of JSON."""
    told: dict[str, Any] = {
        "attention": item.attention,
        "counts": list(map(int, item.counts)),
        "bias": list(map(float, item.bias)),
        "markers": [list(some) for some in item.markers],
        "examples": [list(map(int, some)) for some in item.examples],
        "facts": dict(item.facts),
    }
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def _rows(array: NDArray[Any]) -> Floats | Small:
    return Small(array) if array.dtype == np.int8 else array


def _text(data: NDArray[np.uint8]) -> str:
    return data.tobytes().decode("utf-8", "surrogatepass")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time add to a folder, so that none loses what another saved."""
    try:
        import fcntl
        import os
    except ImportError:  # not on Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
