"""Which of its saved senses has a word here? Without what finds senses: start-up counts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Representations
from ctxembed.model.attentions import digest, read_description
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, saved_senses
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.sense_space import evidence


def current_senses(model: Model, word: str, attention: str | None = None) -> SavedSenses | None:
    """Return the senses kept for a word, unless their attention has been learned anew since."""
    kept = saved_senses(model, word)
    if kept is None or attention not in (None, kept.attention):
        return None
    if kept.facts.get("layer") == digest(model, kept.attention):
        return kept
    if kept.attention in model.held:
        read_description(model, kept.attention)  # learned anew, or damaged: that is no answer
    return None


def sense_here(
    representations: Representations, senses: SavedSenses, occurrences: Sequence[Occurrence]
) -> tuple[NDArray[np.intp], Floats]:
    """Tell which sense each occurrence has, from 0, and its distance to the next sense's border."""
    way = evidence(representations, senses.attention)
    return judge(way.vectors(occurrences), senses.weights, senses.bias)


def judge(
    vectors: Floats, weights: Floats, bias: Floats | Sequence[float]
) -> tuple[NDArray[np.intp], Floats]:
    """Return the sense of each vector (n, d), and its distance to the border of the next sense.

    The distance is in standard deviations of one sense's occurrences; NaN where there is one sense.
    """
    scores = unit(vectors).astype(np.float64) @ weights.T + np.asarray(bias)  # (n, k)
    labels = scores.argmax(axis=1)
    if scores.shape[1] < 2:
        return labels, np.full(len(labels), np.nan)
    second = np.argsort(scores, axis=1)[:, -2]
    rows = np.arange(len(labels))
    return labels, scores[rows, labels] - scores[rows, second]
