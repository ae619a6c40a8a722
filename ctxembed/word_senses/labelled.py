"""The mean vectors of senses over occurrences labelled by hand, in a folder for one model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.model.bundled import corpora_directory
from ctxembed.model.model import Model
from ctxembed.static.space import Quantized, quantize
from ctxembed.stats.vectors import Floats
from ctxembed.storage.arrays import load
from ctxembed.word_senses.dictionary import Sense, open_folder, write_manifest

FORMAT = 1
FILE = "labelled.json"
MAX_PLACES = 64  # words of a synset; WordNet's largest has 28
MEANS = ("attention", "bag", "definition", "neighbors")


@dataclass(frozen=True)
class Means:
    """The mean of all vectors of a kind, each of length 1; subtracted before they are compared."""

    attention: Floats  # (d,) of contextual vectors
    bag: Floats
    definition: Floats  # of the texts of synsets
    neighbors: Floats  # of the texts of their neighbours


@dataclass(frozen=True)
class LabelledSenses:
    """The sum of the vectors of each labelled sense, and the means of all vectors."""

    senses: NDArray[np.uint32]  # (K,) sorted: synset and place of the lemma in it
    sums: Quantized  # (K, d)
    means: Means

    @classmethod
    def open(
        cls, model: Model, attention: str, folder: Path | None = None
    ) -> "LabelledSenses | None":
        """Return the bundled senses of a model and attention; None if there are none."""
        folder = folder or corpora_directory() / "dictionary" / model.path.name
        if not (folder / FILE).exists():
            return None
        files, meta = open_folder(folder, FILE)
        if meta.get("model") != model.fingerprint or meta.get("attention") != attention:
            return None  # a model of this name, trained on another text
        senses, vectors = load(files / "senses.npy"), load(files / "vectors.npy")
        means = load(files / "means.npy")
        if vectors.dtype != np.int8 or vectors.shape != (senses.size, 4 + model.dim):
            raise files.damage("vectors.npy", f"shape {vectors.shape}")
        if means.shape != (len(MEANS), model.dim) or not np.isfinite(means).all():
            raise files.damage("means.npy", f"shape {means.shape}, or not a number")
        sums = Quantized(vectors)
        if senses.dtype.kind != "u" or senses.ndim != 1 or not np.isfinite(sums.scales).all():
            raise files.damage("vectors.npy", "not a number, or senses.npy is wrong")
        return cls(senses, sums, Means(*means))

    def sum_of(self, sense: Sense) -> Floats | None:
        """Return (d,) the sum of the vectors of a sense's occurrences; None if there are none."""
        key = number_sense(sense)
        row = int(np.searchsorted(self.senses, key)) if sense.synset >= 0 else len(self.senses)
        if row == len(self.senses) or self.senses[row] != key:
            return None
        return self.sums[row]


def number_sense(sense: Sense) -> int:
    """Return one number for a synset and the place of the lemma in it."""
    return max(0, sense.synset) * MAX_PLACES + sense.place


def write_labelled(
    folder: Path, model: Model, attention: str, sums: Mapping[int, Floats], means: Sequence[Floats]
) -> None:
    """Write the sums of senses, by number_sense, and the means of all vectors into a folder."""
    senses = sorted(sums)
    np.save(folder / "senses.npy", np.array(senses, np.uint32))
    np.save(folder / "vectors.npy", quantize(np.array([sums[sense] for sense in senses])))
    np.save(folder / "means.npy", np.array(means, np.float32))
    meta = {"format": FORMAT, "model": model.fingerprint, "attention": attention}
    write_manifest(folder, FILE, meta | {"senses": len(senses)})
