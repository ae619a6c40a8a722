"""The mean vectors of senses over labelled occurrences, in a folder for one model.

An occurrence has eight vectors: of attention, of the bag, of the words before and after it, and of
each of the four words beside it. They are joined and projected to directions in which the senses of
a word differ; corpora/fit_senses.py learns these, and the weights of all parts of the score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.model.bundled import corpora_directory
from ctxembed.model.model import Model
from ctxembed.static.space import Quantized, quantize
from ctxembed.stats.vectors import Floats, unit
from ctxembed.storage.arrays import load
from ctxembed.word_senses.dictionary import PARTS, Sense, open_folder, write_manifest

FORMAT = 3
FILE = "labelled.json"
MEANS = ("attention", "bag", "definition", "neighbors", "before", "after")
NEAR, DECAY = 8, 0.6  # words on either side, and the weight of a word beside that of the nearer one
BESIDE = (-2, -1, 1, 2)  # places of the words with a vector of their own
VECTORS = 2 + 2 + len(BESIDE)
WEIGHTS = 9  # of each part of speech: six cosines with texts, examples, two frequencies


@dataclass(frozen=True)
class Means:
    """The mean of all vectors of a kind, each of length 1; subtracted before they are compared."""

    attention: Floats  # (d,) of contextual vectors
    bag: Floats
    definition: Floats  # of the texts of synsets
    neighbors: Floats  # of the texts of their neighbours
    before: Floats | None = None  # of the words before targets
    after: Floats | None = None


@dataclass(frozen=True)
class LabelledSenses:
    """The sum of the vectors of each labelled sense, and how vectors are projected."""

    senses: NDArray[np.uint32]  # (K,) sorted, as number_sense returns them
    counts: NDArray[np.uint16]  # (K,) of occurrences
    sums: Quantized  # (K, k)
    projection: Floats  # (8 d, k)
    means: Means
    weights: Mapping[str, Sequence[float]]  # (WEIGHTS,) by part of speech

    @classmethod
    def open(
        cls, model: Model, attention: str, folder: Path | None = None
    ) -> "LabelledSenses | None":
        """Return the bundled senses of a model and attention; None if there are none."""
        folder = folder or corpora_directory() / "dictionary" / model.path.name
        if not (folder / FILE).exists():
            return None
        files, meta = open_folder(folder, FILE, FORMAT)
        if meta.get("model") != model.fingerprint or meta.get("attention") != attention:
            return None  # a model of this name, trained on another text
        names = ("senses", "counts", "vectors", "projection", "means")
        senses, counts, vectors, projection, means = (load(files / f"{n}.npy") for n in names)
        if projection.ndim != 2 or len(projection) != VECTORS * model.dim:
            raise files.damage("projection.npy", f"shape {projection.shape}")
        size = projection.shape[1]
        if vectors.dtype != np.int8 or vectors.shape != (senses.size, 4 + size):
            raise files.damage("vectors.npy", f"shape {vectors.shape}")
        if means.shape != (len(MEANS), model.dim) or not np.isfinite(means).all():
            raise files.damage("means.npy", f"shape {means.shape}, or not a number")
        sums = Quantized(vectors)
        if senses.dtype.kind != "u" or senses.ndim != 1 or not np.isfinite(sums.scales).all():
            raise files.damage("vectors.npy", "not a number, or senses.npy is wrong")
        if counts.shape != senses.shape or counts.dtype.kind != "u":
            raise files.damage("counts.npy", f"shape {counts.shape}")
        if not np.isfinite(projection).all():
            raise files.damage("projection.npy", "not a number")
        weights: Any = meta.get("weights")
        if not _are_weights(weights):
            raise files.damage(FILE, "weights is wrong")
        projection = projection.astype(np.float32)
        return cls(senses, counts, sums, projection, Means(*means), weights)

    def find(self, senses: Sequence[Sense]) -> tuple[Floats, Floats]:
        """Return (n, k) sums of the occurrences of senses, and (n,) their number; zeros if none."""
        keys = np.array([sense.number for sense in senses], np.uint32)
        rows = np.minimum(np.searchsorted(self.senses, keys), len(self.senses) - 1)
        known = self.senses[rows] == keys
        sums = np.where(known[:, None], self.sums[rows], np.float32(0))
        return sums, np.where(known, self.counts[rows], 0)

    def project(self, attention: Floats, bag: Floats, near: Floats) -> Floats:
        """Return (n, k) of length 1 from centred vectors (n, d), and near_words' (6, n, d)."""
        return unit(join(attention, bag, near, self.means) @ self.projection)


def _are_weights(weights: Any) -> bool:
    """Return whether these are WEIGHTS numbers for each part of speech."""
    try:
        numbers = np.array([weights[part] for part in PARTS], float)
    except (KeyError, TypeError, ValueError):
        return False
    return numbers.shape == (len(PARTS), WEIGHTS) and bool(np.isfinite(numbers).all())


def join(attention: Floats, bag: Floats, near: Floats, means: Means) -> Floats:
    """Return (n, 8 d) from centred vectors (n, d) and near_words' (6, n, d)."""
    assert means.before is not None and means.after is not None
    before, after = centre(near[0], means.before), centre(near[1], means.after)
    return np.concatenate([attention, bag, before, after, *near[2:]], axis=1)


def near_words(model: Model, items: Sequence[Occurrence]) -> Floats:
    """Return (6, n, d): sums of the words before and after each target, and the words of BESIDE.

    The nearer words count more in a sum. There are zeros where there is no word.
    """
    near = np.zeros((2 + len(BESIDE), len(items), model.dim), np.float32)
    weights = DECAY ** np.arange(NEAR, dtype=np.float32)
    for number, item in enumerate(items):
        before = item.ids[max(0, item.target.start - NEAR) : item.target.start][::-1]
        after = item.ids[item.target.stop : item.target.stop + NEAR]
        for side, rows in enumerate((before, after)):
            if len(rows):
                words = model.centred_space[rows]
                near[side, number] = weights[: len(rows)] @ words
                for place, own in enumerate(BESIDE, 2):
                    if (own > 0) == bool(side) and abs(own) <= len(rows):
                        near[place, number] = words[abs(own) - 1]
    return near


def centre(vectors: Floats, mean: Floats) -> Floats:
    """Return vectors (..., d) of length 1 minus their mean, of length 1; zeros stay zeros."""
    vectors = np.nan_to_num(vectors)
    known = np.abs(vectors).sum(axis=-1, keepdims=True) > 0
    centred: Floats = np.where(known, unit(unit(vectors) - mean), 0).astype(np.float32)
    return centred


def write_labelled(
    folder: Path, model: Model, attention: str, sums: Mapping[int, tuple[Floats, float]],
    projection: Floats, means: Sequence[Floats], weights: Mapping[str, Sequence[float]],
) -> None:  # fmt: skip
    """Write sums and counts of senses, by Sense.number, projection, the means of MEANS, weights."""
    senses = sorted(sums)
    np.save(folder / "senses.npy", np.array(senses, np.uint32))
    np.save(folder / "counts.npy", np.array([round(sums[s][1]) for s in senses], np.uint16))
    np.save(folder / "vectors.npy", quantize(np.array([sums[sense][0] for sense in senses])))
    np.save(folder / "projection.npy", np.asarray(projection, np.float16))
    np.save(folder / "means.npy", np.array(means, np.float32))
    rounded = {part: [round(float(w), 4) for w in own] for part, own in weights.items()}
    meta: dict[str, Any] = {"format": FORMAT, "model": model.fingerprint, "attention": attention}
    write_manifest(folder, FILE, meta | {"weights": rounded, "senses": len(senses)})
