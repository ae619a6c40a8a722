"""Senses kept in a model directory: senses/WORD/, which kwic and compare can name."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxembed.errors import ModelError
from ctxembed.static.space import Floats
from ctxembed.store.model import Model, write_json
from ctxembed.store.whole import written_whole
from ctxembed.text.npy import load

FORMAT = 1
_ARRAYS = ("shares", "vectors", "weights", "bias")
_LONGEST = 100  # letters of a folder's name; every file system has room for so many


@dataclass(frozen=True)
class SavedSenses:
    """The senses of a word, the most frequent first."""

    word: str
    attention: str  # the attention in whose space the vectors lie
    shares: Floats  # (k,) of the occurrences
    vectors: Floats  # (k, d) mean contextual vectors
    weights: Floats  # (k, d) for induce.judge
    bias: Floats  # (k,)


def folder_name(word: str) -> str:
    """Write a word as the name of a folder: no two words share one, and none leads elsewhere.

    Small letters, digits, - and _ stay; capitals do not, since some file systems ignore case.

    >>> folder_name("bank"), folder_name(".."), folder_name("Café")
    ('bank', '%2E%2E', '%43af%C3%A9')
    """

    def escape(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))

    name = re.sub("[^a-z0-9_-]", escape, word)
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{name[: _LONGEST - 34]}%-{digest}"  # no shorter name holds a %-


def _folder(model: Model, word: str) -> Path:
    return model.path / "senses" / folder_name(word)


def save_senses(model: Model, senses: SavedSenses) -> Path:
    """Write the senses of a word whole, or leave the earlier ones."""
    model.check_unchanged()
    target = _folder(model, senses.word)
    target.parent.mkdir(exist_ok=True)
    with written_whole(target, replace=True) as folder:
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", np.asarray(getattr(senses, name), np.float64))
        made_for = {"model": model.fingerprint} if model.fingerprint else {}
        write_json(
            folder / "senses.json",
            {
                "format": FORMAT,
                "word": senses.word,
                "attention": senses.attention,
                "senses": len(senses.shares),
                **made_for,
            },
        )
    return target


def saved_senses(model: Model, word: str) -> SavedSenses | None:
    """Open the senses saved for a word, or None."""
    word = model.vocab[model.row(word)]
    folder = _folder(model, word)
    path = folder / "senses.json"
    if not path.exists():
        return None
    fix = f"find them again with: ctxembed senses {word} --save"
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        version, number = int(meta["format"]), int(meta["senses"])
        name, attention = str(meta["word"]), str(meta["attention"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ModelError(f"{path}: damaged; {fix}") from None
    if version > FORMAT:
        raise ModelError(f"{path}: format {version}, this ctxembed reads up to {FORMAT}; {fix}")
    model.check_made_for(path, meta.get("model"), fix)
    if name != word:
        raise ModelError(f"{path}: damaged (it tells of {name!r}); {fix}")
    arrays = {key: np.asarray(load(folder / f"{key}.npy")) for key in _ARRAYS}
    for key, array in arrays.items():
        shape = (number, model.dim) if key in ("vectors", "weights") else (number,)
        if array.shape != shape or not np.isfinite(array).all():
            raise ModelError(f"{folder / key}.npy: damaged; {fix}")
    return SavedSenses(name, attention, **arrays)
