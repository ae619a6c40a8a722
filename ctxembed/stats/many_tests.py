"""Test many words together: q-values, which tests are settled, and an effect beside its like."""

from dataclasses import dataclass

import numpy as np

from ctxembed.stats.permutation_test import Bools
from ctxembed.stats.vectors import Floats

SIGNIFICANT = 0.05  # q-value up to which a difference counts
SURE = 1e-4  # probability that the bound of a p-value is wrong
MATCHED = 100  # words with which a word is compared
MIN_MATCHED = 30
NO_EFFECT = 1e-9  # squared effect up to which a word has not moved
FREEDOM = 37  # degrees of freedom of a spread that is the median deviation of 100 words


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Return Benjamini and Hochberg's q-values: expected false alarms up to each p-value.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * len(p_values) / np.arange(1, len(p_values) + 1)
    q_values = np.empty(len(p_values))
    q_values[order] = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1)
    return q_values


def are_settled(beyond: Floats, done: Floats, level: float) -> Bools:
    """Return (n,) whether more permutations could not move a word's q-value across a level.

    beyond (n,) of done (n,) permutations have at least the difference of the word. A p-value lies
    between bounds that fail once in 10,000 (Chernoff); a word is settled if q-values of all lower
    bounds and of all upper bounds decide the same (as Gandy and Hahn 2014 do).

    >>> counts = np.array([0.0, 0, 0]), np.array([999.0, 999, 99])
    >>> are_settled(*counts, 0.05).tolist(), are_settled(*counts, 0.01).tolist()
    ([True, True, False], [False, False, False])
    """
    lower, upper = probability_bounds(beyond, done)
    certain, possible = (benjamini_hochberg(bound) <= level for bound in (upper, lower))
    return np.asarray(certain | ~possible)


def probability_bounds(hits: Floats, draws: Floats) -> tuple[Floats, Floats]:
    """Return bounds (n,) of probabilities of which hits (n,) in draws (n,) were seen.

    >>> [bound.round(4).tolist() for bound in probability_bounds(np.zeros(1), np.array([999.0]))]
    [[0.0], [0.0092]]
    """
    rate = hits / np.maximum(1, draws)
    bounds = []
    for outer in (0.0, 1.0):
        inside, outside = rate.copy(), np.full(len(rate), outer)
        for _ in range(50):  # bisection
            middle = (inside + outside) / 2
            near = draws * _divergence(rate, middle) <= -np.log(SURE)
            inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
        bounds.append(inside)
    return bounds[0], bounds[1]


def _divergence(rate: Floats, other: Floats) -> Floats:
    """Return the Kullback-Leibler divergence (n,) of a coin from another one."""
    total = np.zeros(len(rate))
    for p, q in ((rate, other), (1 - rate, 1 - other)):
        with np.errstate(divide="ignore", invalid="ignore"):
            total += np.where(p > 0, p * np.log(p / q), 0.0)
    return total


@dataclass(frozen=True)
class Background:
    """The effects of words beside the words that are about as frequent."""

    effects: Floats  # (n,) median effect of the words matched with each
    p_values: Floats  # (n,) how seldom a matched word lies so far above them


def compare_with_matched(squares: Floats, chances: Floats, spreads: Floats) -> Background | None:
    """Return the background of n words, or None if there are too few words to compare with.

    squares: (n,) |D|²; chances: (n,) its mean over the permutations; spreads: (n,) of an
    occurrence. Words match whose spread² / chance, their number of independent occurrences, is
    about the same. Each match lends its effect: with the word's own chance added, it is a square
    that the word might have had. The cube root of a sum of squares is nearly normal (Wilson and
    Hilferty 1931), so a word is judged by how many median deviations its root lies above them.
    """
    number = len(squares)
    if number <= MIN_MATCHED:
        return None
    from scipy.special import stdtr

    units = np.where(spreads > 0, spreads, 1) ** 2
    chances = np.maximum(chances / units, 1e-300)
    effects = squares / units - chances  # squared, and below 0 where chance was larger
    order = np.argsort(chances, kind="stable")
    size = min(MATCHED, number - 1)
    middles, p_values = np.empty(number), np.empty(number)
    for place, word in enumerate(order.tolist()):
        first = min(max(0, place - size // 2), number - size - 1)
        matched = order[first : first + size + 1]
        matched = matched[matched != word]
        own, roots = np.cbrt(squares[word] / units[word]), np.cbrt(effects[matched] + chances[word])
        median = float(np.median(roots))
        spread = 1.4826 * float(np.median(np.abs(roots - median))) or 1e-12
        middles[word] = np.sqrt(max(0.0, float(np.median(effects[matched]))))
        moved = effects[word] > NO_EFFECT  # else it lies above others by rounding only
        p_values[word] = stdtr(FREEDOM, -(own - median) / spread) if moved else 1.0
    return Background(middles, p_values)
