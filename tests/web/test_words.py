"""Sentences as the page splits them: no character is lost."""

from pathlib import Path
from typing import Any

import pytest

from ctxembed.model.model import Model
from ctxembed.web.words import read_words


def read(model: Model, sentence: str) -> list[dict[str, Any]]:
    return read_words(model, sentence).records()


def test_a_sentence_as_it_was_written(model: Model) -> None:
    rows = read(model, "“The [Apple], launched” an iPhone!")
    assert [row["before"] + row["written"] for row in rows] == [
        "“The", " Apple", ", launched", "” an", " iPhone", "!",
    ]  # fmt: skip
    assert [row["word"] for row in rows] == ["the", "apple", "launched", "an", "iphone", ""]
    assert [row["known"] for row in rows] == [1, 1, 1, 0, 0, 0]
    assert [row["content"] for row in rows] == [0, 1, 1, 0, 0, 0]
    assert [row["target"] for row in rows] == [0, 1, 0, 0, 0, 0]


def test_a_span_is_one_word(model: Model) -> None:
    rows = read(model, "the [orange juice] bank")
    assert [row["written"] for row in rows] == ["the", "orange juice", "bank"]
    assert [row["target"] for row in rows] == [0, 1, 0]


@pytest.mark.parametrize("sentence", ["[App", "apple] the", "[[apple]]", "[] apple", "", "[", "…"])
def test_half_typed(sentence: str, model: Model) -> None:
    rows = read(model, sentence)
    text = "".join(row["before"] + row["written"] for row in rows)
    assert text == sentence.replace("[", "").replace("]", "")


def test_marked_again(tiny: Path, model: Model) -> None:
    rows = read(model, "The Apple, launched the phone.")
    assert rows[1]["marked"] == "The [Apple], launched the phone"
    assert rows[0]["together"] == "[The] [Apple], [launched] the [phone]"
    rows = read_words(model, "The Apple, launched the phone.", gone=[0, 2]).records()
    assert rows[1]["marked"] == "[Apple] the phone" and rows[2]["marked"] == ""
