"""k-means against scikit-learn's, and against all groupings of a few points."""

import warnings
from itertools import product

import numpy as np
import pytest

from ctxembed.stats.k_means import find_centres, k_means, nearest
from ctxembed.stats.vectors import unit


def spread(x: np.ndarray, centres: np.ndarray) -> float:
    return float(((x[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum())


@pytest.mark.parametrize("k", range(2, 7))
@pytest.mark.parametrize("apart", [0, 2])
def test_centres_agree_with_scikit_learn(k: int, apart: int) -> None:
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(k)
    for number in (20, 300):
        x = (
            rng.normal(size=(number, 10))
            + apart * rng.normal(size=(k, 10))[rng.integers(k, size=number)]
        )
        sets, seeds = np.array([x, 2 * x, x[::-1], x + 3]), (0, 1, 2, 3)
        for some, seed, centres in zip(sets, seeds, find_centres(sets, k, seeds), strict=True):
            theirs = KMeans(k, n_init=1, random_state=seed).fit(some).cluster_centers_
            np.testing.assert_allclose(centres, theirs, atol=1e-9)


def test_the_best_of_all_groupings_of_eight_points() -> None:
    x = np.random.default_rng(3).normal(size=(8, 2))
    least = np.inf
    for labels in product(range(3), repeat=8):
        groups = [x[np.array(labels) == g] for g in set(labels)]
        least = min(least, sum(((g - g.mean(axis=0)) ** 2).sum() for g in groups))
    runs = find_centres(np.array([x] * 20), 3, range(20))
    assert min(spread(x, centres) for centres in runs) == pytest.approx(least)


def test_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(4)
    x, weights = rng.normal(size=(30, 3)), rng.integers(1, 5, 30)
    begin = x[:4]
    np.testing.assert_allclose(
        k_means(x, begin, weights=weights.astype(float)),
        k_means(np.repeat(x, weights, axis=0), begin),
    )


def test_on_the_sphere_centres_have_length_one() -> None:
    x = unit(np.random.default_rng(5).normal(size=(60, 4)).astype(np.float32))
    centres = k_means(x, x[:3], sphere=True)
    assert centres.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 1, rtol=1e-6)
    labels = nearest(x, centres)
    assert (labels == (x @ centres.T).argmax(axis=1)).all()
    for group in range(3):
        np.testing.assert_allclose(unit(x[labels == group].sum(axis=0)), centres[group], atol=1e-6)


def test_fewer_different_points_than_centres() -> None:
    x = np.repeat(np.eye(2), 5, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (centres,) = find_centres(x[None], 4, [0])
    assert spread(x, centres) == 0
    assert len(np.unique(nearest(x, centres))) == 2
