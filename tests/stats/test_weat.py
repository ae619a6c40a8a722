"""The association test against a brute-force computation and against known cases."""

from itertools import combinations

import numpy as np
import pytest

from ctxembed.stats.vectors import unit
from ctxembed.stats.weat import MAX_EXACT, association, weat

RNG = np.random.default_rng(3)


def test_association_is_the_difference_of_mean_cosines() -> None:
    targets, a, b = (unit(RNG.normal(size=(n, 5))) for n in (4, 3, 2))
    expected = [np.mean([t @ v for v in a]) - np.mean([t @ v for v in b]) for t in targets]
    np.testing.assert_allclose(association(targets, a, b), expected, atol=1e-12)


def test_the_p_value_counts_every_partition() -> None:
    x, y = RNG.normal(0.5, 1, 5), RNG.normal(0, 1, 4)
    both = np.concatenate([x, y])
    differences = []
    for group in combinations(range(9), 5):
        rest = [i for i in range(9) if i not in group]
        differences.append(both[list(group)].mean() - both[rest].mean())
    observed = x.mean() - y.mean()
    result = weat(x, y, 10, RNG)
    assert result.p_value == np.mean(np.array(differences) >= observed - 1e-12)
    assert (result.partitions, result.exact) == (126, True)
    assert result.effect == pytest.approx(observed / np.sqrt(both.var(ddof=1)))


def test_random_partitions_agree_with_all_of_them() -> None:
    x, y = RNG.normal(0.6, 1, 10), RNG.normal(0, 1, 10)  # 184,756 partitions
    both = np.concatenate([x, y])
    groups = np.array(list(combinations(range(20), 10)))
    assert len(groups) > MAX_EXACT
    exact = np.mean(both[groups].sum(axis=1) >= x.sum() - 1e-9)
    result = weat(x, y, 20_000, RNG)
    assert not result.exact
    assert result.p_value == pytest.approx(exact, abs=0.01)


def test_equal_targets_have_no_effect() -> None:
    result = weat(np.ones(3), np.ones(3), 10, RNG)
    assert (result.effect, result.p_value) == (0.0, 1.0)
