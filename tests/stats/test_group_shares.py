"""Trends and differences of shares: against numpy's fit, all permutations, and null data."""

from itertools import permutations

import numpy as np
import pytest

from ctxembed.stats.group_shares import (
    difference_test,
    share_intervals,
    slopes,
    trend_test,
)

HITS = np.array([[3.0, 1], [2, 2], [4, 1], [1, 4], [0, 3], [1, 5]])
TIMES = np.array([1.0, 2, 3, 5, 8, 9])
GROUPS = np.array([0, 0, 0, 1, 1, 1])


def test_slope_is_that_of_weighted_least_squares() -> None:
    totals = HITS.sum(axis=1)
    for kind, slope in enumerate(slopes(HITS, totals, TIMES)):
        shares = HITS[:, kind] / totals
        fitted = np.polyfit(TIMES, shares, 1, w=np.sqrt(totals))  # numpy squares the weights
        assert slope == pytest.approx(fitted[0])


def test_trend_agrees_with_all_permutations() -> None:
    totals = HITS.sum(axis=1)
    expected = totals * HITS[:, 0].sum() / totals.sum()
    scores = [abs((HITS[:, 0] - expected) @ np.array(order)) for order in permutations(TIMES)]
    scores_centred = [
        abs((HITS[:, 0] - expected) @ (np.array(order) - TIMES.mean()))
        for order in permutations(TIMES)
    ]
    np.testing.assert_allclose(scores, scores_centred, atol=1e-9)  # residuals sum to 0
    exact = np.mean(np.array(scores) >= scores[0] - 1e-9)
    p_value = trend_test(HITS, totals, TIMES, np.random.default_rng(1))[0]
    assert p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 9999))


def test_difference_agrees_with_all_permutations() -> None:
    totals = HITS.sum(axis=1)

    def score(groups: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
        share, total = HITS[:, 0].sum() / totals.sum(), 0.0
        for group in (0, 1):
            size = totals[groups == group].sum()
            total += size * (HITS[groups == group, 0].sum() / size - share) ** 2
        return total

    scores = np.array([score(np.array(order)) for order in permutations(GROUPS.tolist())])
    exact = np.mean(scores >= score(GROUPS) - 1e-9)
    p_value = difference_test(HITS, totals, GROUPS, np.random.default_rng(1))[0]
    assert p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 9999))


def null_data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return hits (40, 2) and totals of clusters whose shares vary, without any trend."""
    totals = rng.integers(1, 30, 40)
    first = rng.binomial(totals, rng.beta(2, 2, 40))
    return np.stack([first, totals - first], axis=1).astype(float), totals.astype(float)


@pytest.mark.parametrize("kind", ["trend", "difference"])
def test_rate_of_false_alarms(kind: str) -> None:
    rng, found = np.random.default_rng(5), 0
    for _ in range(400):
        hits, totals = null_data(rng)
        if kind == "trend":
            p = trend_test(hits, totals, np.sort(rng.random(40)) ** 3, rng, 199)
        else:
            p = difference_test(hits, totals, np.arange(40) % 3, rng, 199)
        found += p[0] <= 0.05
    assert 0.025 <= found / 400 <= 0.08  # 0.05, and 2.7 standard errors of 400 trials


def test_interval_contains_the_share_it_estimates() -> None:
    rng, inside = np.random.default_rng(7), 0
    for _ in range(200):
        hits, totals = null_data(rng)
        interval = share_intervals(hits, totals, rng)
        assert interval is not None
        inside += interval[0, 0] <= 0.5 <= interval[0, 1]  # Beta(2, 2) has a mean of one half
    assert 0.88 <= inside / 200 <= 0.99
    assert share_intervals(HITS[:2], HITS[:2].sum(axis=1), rng) is None
