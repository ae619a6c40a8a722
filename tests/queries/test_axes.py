"""Axes suggested for a word: from its senses in the dictionary, or saved in the model."""

import ctxembed
from ctxembed.queries.axes import suggest_axes


def words_of(model: str, word: str) -> list[set[str]]:
    rows = suggest_axes(ctxembed.open(model), word).records()
    for row in rows:
        assert row["axis"] in row["words"] and len(row["words"]) == 3
    return [set(row["words"]) for row in rows]


def test_an_english_word_has_two_senses_of_the_dictionary() -> None:
    one, other = words_of("english", "bank")
    assert "riverbank" in one | other and "money" in one | other and not one & other
    fruit, company = words_of("english", "apple")
    assert "fruit" in fruit and "company" in company


def test_another_model_has_its_saved_senses() -> None:
    one, other = words_of("everyday", "bank")
    assert "money" in one and "river" in other


def test_the_axes_tell_the_senses_apart() -> None:
    """Each sentence lies nearer to the axis of its own sense."""
    axes = {row["axis"]: row["words"] for row in suggest_axes(ctxembed.open("everyday"), "bank")}
    sentences = {"river": "we sat on the [bank] of the river", "money": "the [bank] lent us money"}
    for name, sentence in sentences.items():
        row = ctxembed.compare("everyday", sentence, axes=axes).records()[-1]
        assert max(axes, key=lambda axis: row[axis]) == name


def test_a_word_of_one_sense_has_none() -> None:
    assert words_of("english", "zebra") == [] == words_of("everyday", "phone")
    assert words_of("english", "qqzz") == []
