"""What a person used to gensim or sentence-transformers types first."""

from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.errors import UnknownWordError
from ctxembed.model.model import Model
from tests.conftest import WORDS

LINES = ["the apple juice", "the [apple] launched", "quay"]


@pytest.fixture
def model(tiny: Path) -> Model:
    return ctxembed.open(tiny)


def test_words_and_their_vectors(model: Model) -> None:
    assert "apple" in model and "Apple" in model and "appel" not in model
    assert len(model) == 10 and set(model) == set(WORDS)
    np.testing.assert_allclose(model["apple"], WORDS["apple"])
    np.testing.assert_allclose(model[["apple", "bank"]], [WORDS["apple"], WORDS["bank"]])
    with pytest.raises(UnknownWordError, match="close known words: apple"):
        model["appel"]
    assert repr(model) == "<Model tiny: 10 words, 4 dimensions>"


def test_similar_words(model: Model) -> None:
    best = model.most_similar("apple", topn=2)
    rows = ctxembed.neighbors(model, "apple", 2)
    assert best == [(row["neighbor"], row["cosine"]) for row in rows]
    assert model.most_similar("apple", 1, raw=True)[0][0] == "orange"
    with pytest.raises(UnknownWordError, match="appel"):
        model.most_similar(["apple", "appel"])
    assert model.similarity("orange", "sweet") == pytest.approx(1)


def test_words_are_added_and_subtracted(model: Model) -> None:
    """As gensim: the cosines with the sum of unit vectors; the words asked with are left out."""
    words = ["apple", "juice", "bank"]
    apple, juice, bank = (np.array(WORDS[word]) / np.linalg.norm(WORDS[word]) for word in words)
    wanted = apple + juice - bank
    cosines = {
        word: float(np.dot(wanted, v) / np.linalg.norm(wanted) / np.linalg.norm(v))
        for word, v in WORDS.items() if word not in words
    }  # fmt: skip
    best = model.most_similar(["apple", "juice"], 3, negative="bank", raw=True)
    assert [cosine for _, cosine in best] == pytest.approx(sorted(cosines.values())[:-4:-1])
    assert dict(best) == pytest.approx({word: cosines[word] for word, _ in best})
    rows = ctxembed.analogy(model, "juice", "bank", "apple", 3)
    pairs = [(row["word"], row["cosine"]) for row in rows]
    assert model.most_similar(["bank", "apple"], 3, negative=["juice"]) == pairs


def test_sentences_as_vectors(model: Model) -> None:
    vectors = model.encode(LINES)
    assert vectors.shape == (3, 4) and vectors.dtype == np.float32
    means = ctxembed.vectorize(LINES[0], "general", model=model)
    np.testing.assert_allclose(vectors[0], means[0]["vector"])
    (target,) = ctxembed.contextualize(model, LINES[1])
    np.testing.assert_allclose(vectors[1], target["vector"])
    assert np.isnan(vectors[2]).all()  # no known word
    np.testing.assert_array_equal(model.encode(LINES[0]), vectors[0])
    static = model.encode(["apple juice"], attention="static")
    np.testing.assert_allclose(static, [np.mean([WORDS["apple"], WORDS["juice"]], axis=0)])
    assert model.encode([]).shape == (0, 4)
