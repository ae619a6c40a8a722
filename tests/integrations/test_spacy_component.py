"""The component `ctxembed` in a spaCy pipeline."""

from typing import Any

import numpy as np
import pytest

import ctxembed

spacy = pytest.importorskip("spacy")
TEXT = "The bank of the river was grassy. I don't know: the bank raised its interest rates."


@pytest.fixture(scope="module")
def nlp() -> Any:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("ctxembed", config={"model": "everyday"})
    return pipeline


def test_vectors_are_those_of_contextualize_in_each_sentence(nlp: Any) -> None:
    doc = nlp(TEXT)
    banks = [token for token in doc if token.text == "bank"]
    expected = ctxembed.contextualize(
        "everyday",
        [
            "The [bank] of the river was grassy.",
            "I don't know: the [bank] raised its interest rates.",
        ],
    )["vector"]
    for token, vector in zip(banks, expected, strict=True):
        np.testing.assert_allclose(token._.ctx_vector, vector, rtol=1e-4, atol=1e-5)


def test_senses_of_two_banks_differ(nlp: Any) -> None:
    river, money = (token._.sense for token in nlp(TEXT) if token.text == "bank")
    assert "river" in river
    assert "money" in money
    assert [token._.sense for token in nlp(TEXT) if token.text == "the"] == [None, None]


def test_punctuation_and_unknown_words_have_none_and_parts_share(nlp: Any) -> None:
    doc = nlp("The qwrtzy don't fall [apple].")
    vectors = {token.text: token._.ctx_vector for token in doc}
    assert vectors["."] is vectors["qwrtzy"] is vectors["["] is None
    np.testing.assert_array_equal(vectors["do"], vectors["n't"])
    assert vectors["apple"].shape == (64,)


def test_pipe_and_a_pipeline_from_disk_give_the_same(nlp: Any, tmp_path: Any) -> None:
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    texts = [TEXT, "", "qwrtzy", "An apple a day."] * 3
    for one, other in zip(nlp.pipe(texts), map(loaded, texts), strict=True):
        for a, b in zip(one, other, strict=True):
            assert (a._.ctx_vector is None) == (b._.ctx_vector is None)
            if a._.ctx_vector is not None:
                np.testing.assert_allclose(a._.ctx_vector, b._.ctx_vector, rtol=1e-4, atol=1e-5)


def test_without_sentences_the_document_is_one() -> None:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("ctxembed", config={"model": "everyday", "attention": "static"})
    (apple,) = (token for token in pipeline("An apple fell") if token.text == "apple")
    np.testing.assert_allclose(apple._.ctx_vector, ctxembed.open("everyday")["apple"], rtol=1e-5)
