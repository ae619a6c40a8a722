"""What a model keeps for `ambiguity`, in ambiguity.json: the bar of its corpus, words' figures."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.bundled import bundled_name
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.storage.atomic import atomic_file

FORMAT = 1
FILE = "ambiguity.json"
FIX = "remove it; it is measured again when it is needed"
LIMIT = 50.0  # of log-odds
CLIP = 3.0  # standard deviations that one sign counts at most
DIGITS = 3  # of the figures in a copy without the corpus
FIGURES = 11  # numbers saved of each word, those of queries.ambiguity.Usage after its name


@dataclass(frozen=True)
class Calibration:
    """How three signs of a word become the probability that it has two or more senses."""

    lines: Sequence[Sequence[float]]  # of each sign: slope over log occurrences, intercept
    scales: Sequence[float]  # standard deviation of each sign in plain words; 0 leaves it out
    coefficients: Sequence[float]  # slope and intercept of the log-odds on the mean of the signs
    words: int = 0  # that were measured

    def mean(self, signs: Floats, occurrences: int) -> float:
        """Return the mean of the signs, in standard deviations of plain words."""
        size, used = math.log(max(1, occurrences)), [i for i, s in enumerate(self.scales) if s > 0]
        usual = [self.lines[i][0] * size + self.lines[i][1] for i in used]
        scaled = (signs[used] - usual) / np.array([self.scales[i] for i in used])
        return float(np.clip(scaled, -CLIP, CLIP).mean())

    def logit(self, signs: Floats, errors: Floats, occurrences: int) -> tuple[float, float]:
        """Return the log-odds of two or more senses, and their standard error."""
        mean = self.mean(signs, occurrences)
        used = [(e / s) ** 2 for e, s in zip(errors, self.scales, strict=True) if s > 0]
        slope, intercept = self.coefficients
        return slope * mean + intercept, abs(slope) * math.sqrt(sum(used)) / len(used)


# For a corpus with too few words to measure: the score alone, whose bar is 1.
SMALL_CORPUS = Calibration([[0, 1.0], [0, 0], [0, 0]], [0.25, 0.0, 0.0], [1.5, 0.0])


@dataclass(frozen=True)
class SavedAmbiguity:
    """The content of ambiguity.json."""

    calibrations: Mapping[str, Any] = field(default_factory=dict)  # by attention and its checksum
    attention: str = ""  # by which the words were measured
    words: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def calibration(self, name: str, layer: int) -> Calibration | None:
        """Return the saved bar of an attention; None if it has been learned anew since."""
        found = self.calibrations.get(f"{name}:{layer}")
        return found and Calibration(**found)


def read_ambiguity(model: Model) -> SavedAmbiguity:
    """Return what a model keeps for ambiguity; nothing if it keeps none."""
    part = model.files / FILE
    if model.is_worked_example or not part.exists():
        return SavedAmbiguity()
    try:
        data = json.loads(part.read_bytes())
        version, made_for = int(data["format"]), data["model"]
        saved = SavedAmbiguity(data["calibrations"], data["attention"], data["words"])
        for item in saved.calibrations.values():
            _check(Calibration(**item))
        figures = np.array([*saved.words.values()], np.float64)
        if (
            not isinstance(saved.attention, str)
            or figures.size % FIGURES
            or np.isinf(figures).any()
        ):
            raise ValueError("figures")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ModelError(f"{part}: damaged; {FIX}") from None
    if version > FORMAT:
        raise ModelError(f"{part}: format {version}, this ctxembed reads up to {FORMAT}; {FIX}")
    model.check_fingerprint(part, made_for, FIX)
    return saved


def _check(item: Calibration) -> None:
    """Raise ValueError unless the numbers of a calibration have their shape and are finite."""
    arrays = [item.lines, item.scales, item.coefficients]
    shapes = [(3, 2), (3,), (2,)]
    for array, shape in zip(arrays, shapes, strict=True):
        numbers = np.array(array, np.float64)
        if numbers.shape != shape or not np.isfinite(numbers).all():
            raise ValueError(shape)
    if max(item.scales) <= 0:
        raise ValueError("no sign is used")


def save_calibration(model: Model, name: str, layer: int, calibration: Calibration) -> None:
    """Keep the bar of a corpus in its model, if the model can be written; it is only a shortcut."""
    if not calibration.words or bundled_name(model.path) or not os.access(model.path, os.W_OK):
        return
    with suppress(CtxembedError, OSError), model.locked():
        saved = _reread(model)
        known = {**saved.calibrations, f"{name}:{layer}": asdict(calibration)}
        _write(model, SavedAmbiguity(known, saved.attention, saved.words))


def save_words(model: Model, attention: str, words: Mapping[str, Sequence[float]]) -> str:
    """Add the figures of words to those saved in a model; return the path of the file."""
    with model.locked():
        saved = _reread(model)
        kept = saved.words if saved.attention == attention else {}
        _write(model, SavedAmbiguity(saved.calibrations, attention, {**kept, **words}))
    return str(model.path / FILE)


def copy_words(model: Model, copy: Model) -> None:
    """Save the figures of words in a copy of a model, for those words that it has."""
    saved = read_ambiguity(model)
    kept = {
        word: row for word, row in saved.words.items() if copy.vocabulary.find(word) is not None
    }
    if kept:
        _write(copy, SavedAmbiguity({}, saved.attention, _rounded(kept)))


def _rounded(words: Mapping[str, Sequence[float]]) -> Mapping[str, Sequence[float]]:
    """Return figures with DIGITS digits after the point."""
    return {word: [round(x, DIGITS) if x % 1 else x for x in row] for word, row in words.items()}


def _reread(model: Model) -> SavedAmbiguity:
    """Return what is saved now; nothing if it is damaged, or of another model."""
    model.files.reopen(FILE)
    with suppress(ModelError):
        return read_ambiguity(model)
    return SavedAmbiguity()


def _write(model: Model, saved: SavedAmbiguity) -> None:
    """Write the file."""
    described = {"format": FORMAT, "model": model.fingerprint, **asdict(saved)}
    with atomic_file(model.path / FILE) as file:
        file.write(
            json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "surrogatepass"
            )
        )
    model.files.reopen(FILE)
