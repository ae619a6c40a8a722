"""Which context words tell one sense of a word from the others?"""

from collections.abc import Sequence

import numpy as np

from ctxembed.context.occurrences import Places, read
from ctxembed.model.model import Model
from ctxembed.stats.k_means import Labels
from ctxembed.stats.vectors import Floats
from ctxembed.text.function_words import MANY, is_content

REACH = 10  # words to either side that may mark a sense


def mark(
    model: Model, places: Places, size: int, labels: Labels, own: Sequence[int], number: int
) -> list[list[str]]:
    """Find the context words that tell each sense from the others and from the whole corpus.

    Ranked by the log-odds ratio with the corpus as prior (Monroe et al. 2008), times the same in
    standard errors: by the weaker of the two comparisons.
    """
    senses = int(labels.max()) + 1
    keys = [
        (labels[batch.rows, None] * len(model.vocabulary) + batch.ids)[batch.mask]
        for batch in read(model, places, reach=REACH, size=size)
    ]
    found = np.bincount(np.concatenate(keys), minlength=senses * len(model.vocabulary))
    counts = found.reshape(senses, -1).astype(np.float64)
    counts[:, list(own)] = 0
    known = np.maximum(model.counts, 1)  # ready vectors may know words that the corpus lacks
    prior = 100 * known / known.sum()
    share = model.counts / max(1, model.tokens) * (len(model.vocabulary) > MANY)
    marks = []
    for mine in counts:
        score = _stands_out(mine, model.counts, prior)
        if senses > 1:
            score = np.minimum(score, _stands_out(mine, counts.sum(axis=0) - mine, prior))
        score[mine < 2] = -np.inf
        best = np.argsort(-score, kind="stable")[: number + 200]
        words = [
            i
            for i in best
            if score[i] > 0 and _may_mark(model.vocabulary.words[i], float(share[i]))
        ]
        marks.append([model.vocabulary.words[i] for i in words[:number]])
    return marks


def _stands_out(mine: Floats, rest: Floats, prior: Floats) -> Floats:
    """Compare counts (V,): log-odds ratio times the same in standard errors, with its sign."""
    mine, rest = mine + prior, rest + prior
    odds = np.log(mine / (mine.sum() - mine)) - np.log(rest / (rest.sum() - rest))
    return np.asarray(odds * np.abs(odds) / np.sqrt(1 / mine + 1 / rest))


def _may_mark(word: str, share: float) -> bool:
    """Tell whether a word may stand for a sense: content, and neither a number nor a letter."""
    return is_content(word, share) and sum(map(str.isalpha, word)) > 1
