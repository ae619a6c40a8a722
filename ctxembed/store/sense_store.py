"""Senses kept in a model: senses.npz, which compare and kwic name senses by, no sentence in it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.errors import ModelError
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.store.whole import file_written_whole
from ctxembed.text.folder import Part

FORMAT = 2  # 1 was a folder a word
FILE = "senses.npz"


@dataclass(frozen=True)
class SavedSenses:
    """The senses of a word, the most frequent first."""

    word: str
    attention: str  # the attention in whose space the vectors lie
    counts: Sequence[int]  # how many of the occurrences looked at have each sense
    vectors: Floats  # (k, d) mean contextual vectors
    weights: Floats  # (k, d) for induce.judge
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


def saved_senses(model: Model, word: str) -> SavedSenses | None:
    """Return the senses saved for a word, or None."""
    row = model.find(word)
    return None if row is None else open_senses(model).get(model.vocab[row])


def open_senses(model: Model) -> dict[str, SavedSenses]:
    """Return all saved senses by word; they are read once, as long as nobody writes new ones."""
    if model.by_hand or not (model.files / FILE).exists():
        return {}
    part = model.files / FILE
    with part.opened() as (_, found):
        written = found.st_mtime_ns
    kept: tuple[int, dict[str, SavedSenses]] | None = model.__dict__.get("senses")
    if kept is None or kept[0] != written:
        kept = model.__dict__["senses"] = (written, _read(model, part))
    return kept[1]


def save_senses(model: Model, *senses: SavedSenses) -> Path:
    """Keep the senses of words, whole, beside those of other words."""
    model.check_unchanged()
    path = model.path / FILE
    with _alone(model.path):
        part = model.files.again(FILE)
        try:
            words = dict(_read(model, part)) if part.exists() else {}
        except ModelError:  # damaged, or of another model: worth nothing
            words = {}
        words |= {item.word: item for item in senses}
        told = {
            item.word: {
                "attention": item.attention,
                "counts": list(map(int, item.counts)),
                "bias": list(map(float, item.bias)),
                "markers": [list(some) for some in item.markers],
                "examples": [list(map(int, some)) for some in item.examples],
                "facts": dict(item.facts),
            }
            for item in words.values()
        }
        made = {"format": FORMAT, "model": model.fingerprint, "words": told}
        text = json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass")
        with file_written_whole(path) as file:
            np.savez(
                file,
                description=np.frombuffer(text, np.uint8),
                vectors=_stack(item.vectors for item in words.values()),
                weights=_stack(item.weights for item in words.values()),
            )
    model.files.again(FILE)
    return path


def _read(model: Model, path: Part) -> dict[str, SavedSenses]:
    fix = "remove it; ctxembed senses WORD --save finds senses again"
    data = path.read_bytes()
    try:  # the checksums of an .npz are its own
        with np.load(BytesIO(data), allow_pickle=False) as file:
            meta = json.loads(file["description"].tobytes().decode("utf-8", "surrogatepass"))
            vectors, weights = np.asarray(file["vectors"]), np.asarray(file["weights"])
        version = int(meta["format"])
    except Exception:  # a zip file can be damaged in many ways
        raise ModelError(f"{path}: damaged; {fix}") from None
    if version > FORMAT:
        raise ModelError(f"{path}: format {version}, this ctxembed reads up to {FORMAT}; {fix}")
    model.check_made_for(path, meta.get("model"), fix)
    words: dict[str, SavedSenses] = {}
    first = 0
    try:
        for word, told in meta["words"].items():
            last = first + len(told["counts"])
            mine = slice(first, last)
            words[word] = SavedSenses(word, vectors=vectors[mine], weights=weights[mine], **told)
            first = last
        fits = all(
            array.shape == (first, model.dim) and np.isfinite(array).all()
            for array in (vectors, weights)
        )
    except (AttributeError, KeyError, TypeError):
        fits = False
    if not fits:
        raise ModelError(f"{path}: damaged; {fix}")
    return words


def _stack(arrays: Iterable[Floats]) -> Floats:
    return np.concatenate([*arrays]).astype(np.float32)


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
