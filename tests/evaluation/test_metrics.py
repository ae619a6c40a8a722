"""Each metric against another implementation on random data, and against a case done by hand."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from ctxembed.evaluation.metrics import (
    Figure,
    cluster_on_sphere,
    macro_scores,
    mean_figure,
    nearest_centroid,
    nearest_neighbor,
    pair_auc,
    paired_p,
    proportion,
    resample,
    spearman,
    v_measure,
)
from ctxembed.evaluation.wic import best_threshold

SEEDS = range(8)


def random_units(rng: np.random.Generator, n: int, d: int = 5) -> "np.ndarray[tuple[int, int]]":
    x = rng.normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)  # type: ignore[no-any-return]


def repeat(weights: "np.ndarray[tuple[int, int]]") -> list["np.ndarray[tuple[int]]"]:
    """Turn weights back into the rows that were drawn."""
    return [np.repeat(np.arange(weights.shape[1]), row.astype(int)) for row in weights]


def test_draw_is_a_resample() -> None:
    weights = resample(50, np.random.default_rng(0), 200)
    assert weights.shape == (200, 50)
    assert (weights.sum(axis=1) == 50).all()
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(1 - 1 / 50, abs=0.05)  # binomial(50, 1/50)


@pytest.mark.parametrize("seed", SEEDS)
def test_spearman_agrees_with_scipy_in_every_resample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, 40).astype(float), rng.normal(size=40).round(1)
    weights = resample(40, rng, 20)
    figure = spearman(x, y, weights)
    assert figure.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    expected = [stats.spearmanr(x[rows], y[rows]).statistic for rows in repeat(weights)]
    np.testing.assert_allclose(figure.spread, expected, atol=1e-10)


def test_spearman_by_hand() -> None:
    # ranks 1 2 3 4 against 1 2 4 3: 1 - 6·(0+0+1+1) / (4·15) = 0.8
    x, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 5.0, 9.0, 7.0])
    assert spearman(x, y, resample(4, np.random.default_rng(0), 3)).value == pytest.approx(0.8)
    assert np.isnan(spearman(x[:1], y[:1], np.ones((3, 1), np.float32)).value)
    assert np.isnan(spearman(x, np.ones(4), np.ones((1, 4), np.float32)).value)


@pytest.mark.parametrize("seed", SEEDS)
def test_pair_auc_agrees_with_sklearn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units, labels = random_units(rng, 30), rng.integers(0, 3, 30)
    i, j = np.triu_indices(30, 1)
    expected = sk.roc_auc_score(labels[i] == labels[j], (units @ units.T)[i, j].round(6))
    assert pair_auc(units, labels, np.ones((1, 30), np.float32)).value == pytest.approx(expected)


def test_pair_auc_by_hand() -> None:
    # One sense lies along x, the other along y: the three pairs of one sense have cosine 1 or 1,
    # those of two senses 0, but for the last vector, which lies between them.
    units = np.array([[1, 0], [1, 0], [0, 1], [0.8, 0.6]])
    labels = np.array([0, 0, 1, 1])
    # same: cos(0,1) = 1, cos(2,3) = 0.6; different: 0, 0, 0.8, 0.8
    # 1 wins four times, 0.6 twice: 6 of 8
    assert pair_auc(units, labels, np.ones((1, 4), np.float32)).value == 0.75
    same = pair_auc(np.ones((4, 2)), labels, np.ones((1, 4), np.float32))
    assert same.value == 0.5  # all tied
    assert np.isnan(pair_auc(units, np.zeros(4, int), np.ones((1, 4), np.float32)).value)


def test_the_tangent_of_auc_gives_the_interval_of_a_real_bootstrap() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 40)
    units = random_units(rng, 80, 4) + labels[:, None]
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    weights = resample(80, rng, 400)
    i, j = np.triu_indices(80, 1)
    same, alike = labels[i] == labels[j], (units @ units.T)[i, j]
    real = [sk.roc_auc_score(same, alike, sample_weight=w[i] * w[j]) for w in weights]
    figure = pair_auc(units, labels, weights)
    assert np.std(figure.spread) == pytest.approx(np.std(real), rel=0.15)
    assert np.corrcoef(figure.spread, real)[0, 1] > 0.97


@pytest.mark.parametrize("seed", SEEDS)
def test_macro_recall_and_f1_agree_with_sklearn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, answers = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    weights = resample(60, rng, 10)
    recall, f1 = macro_scores(gold, answers, weights)
    for figure, theirs in ((recall, sk.recall_score), (f1, sk.f1_score)):
        assert figure.value == pytest.approx(theirs(gold, answers, average="macro"))
        expected = [
            theirs(gold[rows], answers[rows], average="macro", labels=np.unique(gold[rows]))
            for rows in repeat(weights)
        ]
        np.testing.assert_allclose(figure.spread, expected)


def test_macro_by_hand() -> None:
    gold, answers = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    recall, f1 = macro_scores(gold, answers, np.ones((1, 4), np.float32))
    assert recall.value == pytest.approx((2 / 3 + 1) / 2)
    assert f1.value == pytest.approx((4 / 5 + 2 / 3) / 2)  # 2·2/(3+2) and 2·1/(1+2)


@pytest.mark.parametrize("seed", SEEDS)
def test_v_measure_agrees_with_sklearn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, labels = rng.integers(0, 3, 50), rng.integers(0, 4, 50)
    weights = resample(50, rng, 10)
    figure = v_measure(gold, labels, weights)
    assert figure.value == pytest.approx(sk.v_measure_score(gold, labels))
    expected = [sk.v_measure_score(gold[rows], labels[rows]) for rows in repeat(weights)]
    np.testing.assert_allclose(figure.spread, expected, atol=1e-9)


def test_v_measure_by_hand() -> None:
    ones = np.ones((1, 4), np.float32)
    gold = np.array([0, 0, 1, 1])
    assert v_measure(gold, np.array([1, 1, 0, 0]), ones).value == pytest.approx(1)
    assert v_measure(gold, np.array([0, 1, 0, 1]), ones).value == pytest.approx(0)
    # four clusters: homogeneity 1, completeness log 2 / log 4 = 1/2, so V = 2/3
    assert v_measure(gold, np.arange(4), ones).value == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_classifiers_agree_with_sklearn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    train, test, labels = random_units(rng, 50), random_units(rng, 30), rng.integers(0, 3, 50)
    nearest = KNeighborsClassifier(1, metric="cosine").fit(train, labels).predict(test)
    np.testing.assert_array_equal(nearest_neighbor(train, labels, test), nearest)
    centres = NearestCentroid().fit(train, labels).centroids_
    theirs = sk.pairwise.cosine_similarity(test, centres).argmax(axis=1)
    np.testing.assert_array_equal(nearest_centroid(train, labels, test), theirs)


def test_classifiers_by_hand() -> None:
    train = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    labels = np.array([4, 4, 7])
    test = np.array([[0.6, 0.8]])
    # cosine with the mean of the first two (0.9, 0.3)/0.949 is 0.82, with (0, 1) it is 0.8
    assert nearest_centroid(train, labels, test).tolist() == [4]
    assert nearest_neighbor(train, labels, np.array([[0.1, 0.99]])).tolist() == [7]


def test_clusters_of_clear_groups() -> None:
    rng = np.random.default_rng(0)
    gold = np.repeat([0, 1, 2], 30)
    units = np.eye(3)[gold] + 0.1 * rng.normal(size=(90, 3))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    assert sk.v_measure_score(gold, cluster_on_sphere(units, 3, rng)) == pytest.approx(1)
    assert cluster_on_sphere(units[:2], 3, rng).shape == (2,)  # more groups than vectors


def test_proportion_interval_is_near_the_binomial() -> None:
    right = np.repeat([True, False], [80, 20])
    figure = proportion(right, resample(100, np.random.default_rng(0)))
    low, high = figure.interval()
    assert figure.value == 0.8
    expected = stats.norm.interval(0.95, 0.8, np.sqrt(0.8 * 0.2 / 100))
    assert (low, high) == pytest.approx(expected, abs=0.015)


def test_paired_test() -> None:
    rng = np.random.default_rng(0)
    weights = resample(200, rng)
    base = rng.random(200) < 0.6
    better = base | (rng.random(200) < 0.3)  # right wherever base is: pairing shows it
    one, other = proportion(better, weights), proportion(base, weights)
    assert paired_p(one, other) == pytest.approx(2 / 1001)
    assert paired_p(other, one) == paired_p(one, other)
    assert paired_p(one, one) == 1
    alike = [
        paired_p(*(proportion(rng.random(200) < 0.6, weights) for _ in range(2))) for _ in range(60)
    ]
    assert np.mean(np.array(alike) < 0.05) < 0.15  # two coins differ rarely


def test_mean_of_figures() -> None:
    mean = mean_figure([Figure(0.2, np.array([0.1, 0.3])), Figure(0.4, np.array([0.4, 0.4]))])
    assert mean.value == pytest.approx(0.3)
    np.testing.assert_allclose(mean.spread, [0.25, 0.35])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_threshold_maximises_accuracy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    alike, same = rng.random(40).round(1), rng.random(40) < 0.5
    alike[::9] = np.nan
    there = ~np.isnan(alike)
    best = max(((alike[there] > cut) == same[there]).mean() for cut in np.arange(-0.05, 1.1, 0.05))
    threshold = best_threshold(alike, same)
    assert ((alike[there] > threshold) == same[there]).mean() == pytest.approx(best)
    assert best_threshold(np.full(3, np.nan), same[:3]) == 0


def test_ties_count_the_same_in_every_resample() -> None:
    """One right of 180 against none: two thirds of the resamples have it, so p is about 0.7."""
    one, none = np.zeros(180), np.zeros(180)
    one[7] = 1
    for seed in range(6):
        weights = resample(180, np.random.default_rng(seed))
        better, worse = proportion(one, weights), proportion(none, weights)
        assert 0.6 < paired_p(better, worse) < 0.85
        assert better.interval()[0] == 0
