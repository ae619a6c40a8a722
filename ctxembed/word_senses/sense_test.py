"""Test whether a word has more than one sense, by the bar of this corpus."""

import math
import pickle
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ctxembed.context.hits import Hits
from ctxembed.context.representations import Representations
from ctxembed.model.attentions import digest
from ctxembed.model.saved_ambiguity import LIMIT, Calibration, read_ambiguity, save_calibration
from ctxembed.progress import SILENT, Progress
from ctxembed.word_senses.calibrate import calibrate
from ctxembed.word_senses.cluster import OCCURRENCES_PER_SENSE
from ctxembed.word_senses.evidence import Evidence, EvidenceReader, Z
from ctxembed.word_senses.sense_space import make_space

BAR = 0.5  # probability of two or more senses
MAX_ARRAY = 1 << 25  # numbers of the vectors that a process keeps as an array


@dataclass(frozen=True)
class Verdict:
    """How many senses a word has, and how sure that is."""

    senses: int
    probability: float  # of two or more
    low: float  # 95 % interval of the probability
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether the interval is on one side of the bar."""
        return self.low > BAR or self.high < BAR


@dataclass(frozen=True)
class SenseTest:
    """Tests words of a model by an attention; the same answer whatever was asked before."""

    name: str  # of the attention
    reader: EvidenceReader

    @classmethod
    def of(cls, representations: Representations, name: str) -> "SenseTest":
        """Return the test of an attention; one object, kept with the representations."""
        kept = Representations.of(representations.model)
        key = name, digest(kept.model, name)
        if key not in kept.sense_tests:
            kept.sense_tests[key] = cls(name, EvidenceReader(kept, make_space(kept, name)))
        test: SenseTest = kept.sense_tests[key]
        return test

    def measure(self, word: str | Hits) -> Evidence | None:
        """Return the evidence of a word; None if it occurs too rarely."""
        return self.reader.read([word])[0]

    def judge(self, evidence: Evidence, progress: Progress = SILENT) -> Verdict:
        """Return the number of senses that the evidence speaks for, by the bar of this corpus."""
        logit, error = self.calibration(progress).logit(
            evidence.signs, evidence.errors, evidence.occurrences
        )
        ends = logit + error * np.array([0.0, -Z, Z])
        probability, low, high = (1 / (1 + np.exp(-np.clip(ends, -LIMIT, LIMIT)))).tolist()
        return Verdict(_number(evidence) if probability >= BAR else 1, probability, low, high)

    def calibration(self, progress: Progress = SILENT) -> Calibration:
        """Return the bar of this corpus: saved in the model, or measured once and saved."""
        key, known = self._key, self.reader.representations.calibrations
        if key not in known:
            saved = read_ambiguity(self.reader.representations.model)
            if (found := saved.calibration(*key)) is None:
                found = calibrate(self.reader, progress)
                save_calibration(self.reader.representations.model, *key, found)
            known[key] = found
        calibration: Calibration = known[key]
        return calibration

    def keep(self, calibration: Calibration) -> None:
        """Take this bar, which another process has read or measured."""
        self.reader.representations.calibrations[self._key] = calibration

    @property
    def _key(self) -> tuple[str, int]:
        return self.name, digest(self.reader.representations.model, self.name)


def _number(evidence: Evidence) -> int:
    """Return the largest number of senses, two or more, that lie far enough apart."""
    most = max(2, evidence.occurrences // OCCURRENCES_PER_SENSE)
    scores = evidence.separation.scores
    return max((k for k, s in enumerate(scores, 2) if s >= 1 and k <= most), default=2)


@lru_cache(maxsize=1)
def open_test(pickled: bytes) -> SenseTest:
    """Return the test of (model, attention, bar), in a process that opens the model once."""
    model, attention, calibration = pickle.loads(pickled)
    test = SenseTest.of(Representations.of(model), attention)
    test.keep(calibration)
    if math.prod(model.vectors.shape) > MAX_ARRAY:
        return test
    space = test.reader.space  # computed once, not at each access
    inputs = np.asarray(space.representation.inputs[np.arange(len(model.vocabulary))])
    space = replace(space, representation=replace(space.representation, inputs=inputs))
    return replace(test, reader=replace(test.reader, space=space))
