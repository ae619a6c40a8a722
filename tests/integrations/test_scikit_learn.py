"""ContextVectorizer in scikit-learn: its own estimator checks, pipelines and grid searches."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted, validate_data

import ctxembed
from ctxembed import ContextVectorizer, UnknownWordError, UsageError

BANKS = [
    ("they walked along the [bank] of the river", "river"),
    ("reeds grew on the [bank] of the stream", "river"),
    ("the boat reached the far [bank] of the river", "river"),
    ("ducks sat on the [bank] near the water", "river"),
    ("she put her money in the [bank]", "money"),
    ("the [bank] raised its interest rates", "money"),
    ("he asked the [bank] for a loan", "money"),
    ("she opened an account at the [bank]", "money"),
]
SENTENCES, LABELS = map(list, zip(*BANKS, strict=True))


class OfNumbers(ContextVectorizer):
    """The same for a matrix, whose rows are written as sentences: scikit-learn checks matrices."""

    def fit(self, X: Any, y: Any = None) -> "OfNumbers":
        super().fit(write_sentences(validate_data(self, X)))
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return super().transform(write_sentences(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = False, True
        tags.no_validation = False
        return tags


def write_sentences(matrix: Any) -> list[str]:
    """Return a sentence for each row: its words are chosen by the numbers."""
    words = ("apple", "bank", "river", "money", "phone", "juice", "water", "sweet")
    chosen = np.floor(np.abs(matrix) * 7).astype(int) % len(words)
    return [f"the [{words[row[0]]}] {' '.join(words[i] for i in row[1:6])}" for row in chosen]


ORDER = "check_methods_sample_order_invariance"  # to 1e-9; vectors of 32 bits differ by 4e-8


def name_of(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


CHECKS = [
    pair for pair in estimator_checks_generator(OfNumbers("everyday")) if name_of(pair[1]) != ORDER
]
WITHOUT_DATA = [  # of an estimator whose input is text
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_mixin_order,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
]


def test_the_checks_of_scikit_learn_are_many() -> None:
    assert len(CHECKS) > 40


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[name_of(check) for _, check in CHECKS]
)
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", WITHOUT_DATA, ids=name_of)
def test_the_checks_without_data(check: Any) -> None:
    check("ContextVectorizer", ContextVectorizer("everyday"))


def test_each_row_is_the_vector_that_contextualize_prints() -> None:
    vectors = ContextVectorizer("everyday", attention="general").fit_transform(SENTENCES)
    rows = ctxembed.contextualize("everyday", SENTENCES, attention="general")
    np.testing.assert_allclose(vectors, rows["vector"], rtol=1e-5, atol=1e-6)


def test_the_order_of_sentences_does_not_matter() -> None:
    vectorizer = ContextVectorizer("everyday").fit(SENTENCES)
    backwards = vectorizer.transform(SENTENCES[::-1])
    np.testing.assert_allclose(vectorizer.transform(SENTENCES)[::-1], backwards, atol=1e-6)


def test_pipeline_and_grid_search_tell_the_two_banks_apart() -> None:
    pipeline = make_pipeline(ContextVectorizer("everyday"), LogisticRegression(C=100))
    grid = {"contextvectorizer__attention": ["static", "learned"]}
    search = GridSearchCV(pipeline, grid, cv=4, n_jobs=1).fit(SENTENCES, LABELS)
    assert search.best_params_ == {"contextvectorizer__attention": "learned"}
    static, learned = search.cv_results_["mean_test_score"]
    assert static <= 0.5 < learned  # one vector for every bank cannot tell them apart
    assert list(search.predict(["the [bank] lent him money"])) == ["money"]


def test_a_fitted_one_can_be_pickled_and_cloned() -> None:
    fitted = ContextVectorizer("everyday", attention="bag").fit(SENTENCES)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(SENTENCES), fitted.transform(SENTENCES))
    assert clone(fitted).get_params() == fitted.get_params()
    opened = ContextVectorizer(ctxembed.open("everyday"))
    assert clone(opened).fit_transform(SENTENCES).shape == (8, 64)


def test_data_frames_in_and_out() -> None:
    pandas = pytest.importorskip("pandas")
    vectorizer = ContextVectorizer("everyday").set_output(transform="pandas")
    frame = pandas.DataFrame({"text": SENTENCES}, index=range(10, 18))
    out = vectorizer.fit_transform(frame["text"])
    assert list(out.columns[:2]) == ["d1", "d2"]
    assert out.shape == (8, 64)


def test_unknown_targets() -> None:
    lines = ["the [bank]", "the [qwrtzy] bank"]
    zeros = ContextVectorizer("everyday").fit_transform(lines)
    assert zeros[0].any()
    assert not zeros[1].any()
    strict = ContextVectorizer("everyday", unknown="error").fit(lines)
    with pytest.raises(UnknownWordError, match="sentence 2"):
        strict.transform(lines)
    with pytest.raises(UsageError, match="zeros or error"):
        ContextVectorizer("everyday", unknown="drop").fit(lines)
    wrongs: list[Any] = ["one string", [1, 2]]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="Give a list of sentences"):
            ContextVectorizer("everyday").fit(wrong)
