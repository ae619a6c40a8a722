"""What a word means here, told once: definition, similar words, columns and the other opinions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import ctxembed
from ctxembed.context.representation import Static
from ctxembed.context.worked_example import open_worked_example
from ctxembed.explanation.naming import (
    COMMON,
    FAMILIAR,
    SENSE_CONSTANT,
    SENSE_KINDS,
    SENSE_NEAR,
    SENSE_TEXT,
    Candidates,
)
from ctxembed.explanation.substitutes import SubstituteRanker
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.model.vocabulary import Vocabulary
from ctxembed.queries import define as queries
from ctxembed.queries.compare import compare
from ctxembed.queries.define import open_definitions, shares_part
from ctxembed.stats.vectors import unit
from ctxembed.table import Table
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.word_senses.definitions import Choice

RIVER, MONEY = "They moored the boat to the river [bank]", "She put money in the [bank]"
COLUMNS = ("definition", "sense_key", "sure", "second")


def lead(table: Table) -> list[str]:
    assert table.lead
    return list(table.lead())


def test_the_definition_comes_first() -> None:
    table = ctxembed.compare("english", [RIVER, MONEY])
    first, like, but, second, *_ = lead(table)
    assert first.startswith("1. bank: sloping land") and first.endswith(" sure")
    assert like.startswith("  like ") and "; because river 0." in like
    assert but.startswith("  but static says a financial institution")
    assert second.startswith("2. bank: a financial institution")
    assert not any(" sense " in line for line in lead(table))  # the dictionary says it


def test_the_columns_are_the_answer_of_define() -> None:
    rows = [r for r in ctxembed.compare("english", [RIVER, MONEY]).records() if r["because"]]
    for row in [row for row in rows if row["representation"] == "together"]:
        sentence = (RIVER, MONEY)[int(str(row["sentence"])) - 1]
        best, other, *_ = ctxembed.define("english", sentence).records()
        assert (row["definition"], row["sense_key"]) == (best["definition"], best["sense_key"])
        assert row["sure"] == pytest.approx(best["sure"], rel=1e-4)
        assert row["second"] == other["definition"]


def test_each_representation_has_its_own_opinion() -> None:
    rows = ctxembed.compare("english", [RIVER, MONEY]).records()
    keys = {(row["sentence"], row["representation"]): row["sense_key"] for row in rows}
    assert keys[1, "static"] == keys[2, "static"] == keys[2, "learned"] != keys[1, "learned"]
    assert keys[1, "bag"] == keys[1, "learned"]
    general = ctxembed.compare("english", RIVER, attention="general")
    assert lead(general)[0].startswith("bank: sloping land")
    assert [row["representation"] for row in general.records()][-1] == "general"


def test_a_word_without_an_entry_keeps_its_similar_words() -> None:
    (line, *_) = lead(ctxembed.compare("english", "I came [because] of the rain"))
    assert line.startswith("because: like ")
    row = ctxembed.compare("english", "I came [because] of the rain").records()[-1]
    assert [row[name] for name in COLUMNS] == [None] * 4


@pytest.mark.parametrize(
    ("words", "language", "english"),
    [
        (["The", "of", "and", "bank"], "", True),
        (["the", "of", "and", "bank"], "en", True),
        (["the", "of", "and", "bank"], "de", False),
        (["der", "von", "und", "bank"], "", False),
    ],
)
def test_only_english_models_have_definitions(
    monkeypatch: pytest.MonkeyPatch, words: Sequence[str], language: str, english: bool
) -> None:
    model = Model.from_vectors("small", words, np.eye(4, dtype=np.float32))
    model.meta["format"] = 2  # as if it came from a directory
    model.vocabulary = Vocabulary(words, Tokenizer(language=language))
    monkeypatch.setattr(queries, "MIN_WORDS", 4)
    assert queries.is_english(model) is english
    monkeypatch.setattr(queries, "MIN_WORDS", 5)
    assert not queries.is_english(model)


def test_worked_examples_have_no_definitions() -> None:
    table = compare(open_worked_example("bank"), "money [bank]")
    assert lead(table)[0].startswith("bank: like ")


def near_two_words(words: Sequence[Sequence[float]]) -> tuple[SubstituteRanker, Static]:
    """Return a ranker whose candidates are the first two words, and whose target is the third."""
    vectors = np.array(words, np.float32)
    model = Model.from_vectors("small", ["a", "b", "c"], vectors)
    model.meta["format"] = 2  # as if it came from a directory
    model.mean = np.zeros(3, np.float32)
    own = unit(vectors[2:])
    return SubstituteRanker(model, [], own, own, [np.array([0, 1])]), Static("static", vectors)


def test_similar_words_agree_with_the_sense() -> None:
    """Two words are as near to the target and its context; the one that is related wins."""
    ranker, context = near_two_words([[1, 0, 1], [0, 1, 1], [1, 1, 1]])

    def best(related: dict[int, float]) -> list[int]:
        vectors = np.ones((1, 3), np.float32)
        return Candidates.of(replace(ranker, related=[related]), 0).name([context], vectors)[0]

    assert best({0: 0.5}) == [0, 1]
    assert best({1: 0.5}) == [1, 0]


def test_words_that_explain_a_definition_by_hand() -> None:
    """Near to the target, along the definition's text, related to the sense, and familiar."""
    ranker, _ = near_two_words([[1, 0, 1], [0, 1, 1], [1, 1, 1]])
    text, half = np.array([1, 0, 0], np.float32), 2**-0.5
    near = np.sqrt(2 / 3)
    familiar = np.log(1 / ranker.model.seen_tokens / FAMILIAR)  # each word was seen once
    every = SENSE_CONSTANT + SENSE_NEAR * near + COMMON * familiar
    expected = np.array([every + SENSE_TEXT * half, every])
    scores = Candidates.of(ranker, 0).score_sense(text, 0.9)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    for weight, kind in ((1.0, 0), (0.5, 1), (0.25, 2)):
        related = Candidates.of(replace(ranker, related=[{1: 0.9 * weight}]), 0).score_sense(
            text, 0.9
        )
        assert related[1] == pytest.approx(every + SENSE_KINDS[kind], abs=1e-5)


@pytest.mark.parametrize(
    ("scores", "named"),
    [((1.0, 2.0), [1, 0]), ((0.1, -0.1), [0, 1]), ((-1.2, -0.1), [1]), ((-1.2, -1.3), [])],
)
def test_words_are_named_where_they_are_likely_to_be_good(
    monkeypatch: pytest.MonkeyPatch, scores: tuple[float, float], named: list[int]
) -> None:
    ranker, _ = near_two_words([[1, 0, 1], [0, 1, 1], [1, 1, 1]])
    monkeypatch.setattr(Candidates, "score_sense", lambda *_: np.array(scores))
    assert list(Candidates.of(ranker, 0).name_sense(np.ones(3), 1.0)) == named


def test_a_proper_noun_explains_no_common_noun() -> None:
    model = open_model("english")
    (state, *_) = ctxembed.define("english", "Ohio became the first [state] to ban it").records()
    senses = [s for s in open_definitions(model).senses("state") if s.key == state["sense_key"]]
    assert shares_part(model, "province", [Choice(senses[0], 1.0)])
    assert not shares_part(model, "yunnan", [Choice(senses[0], 1.0)])


def test_words_far_from_the_target_are_not_named() -> None:
    """What only fits the context is no word like the target, unless a dictionary relates it."""
    ranker, context = near_two_words([[-0.1, 1, 0], [1, 1, 0], [1, 0, 0]])
    fits = np.array([0, 1, 0], np.float32)
    both = [context, context, None]
    names = Candidates.of(ranker, 0).name(both, np.stack([fits, -fits, fits]))
    assert names == [[1], [], [1, 0]]  # nothing fits the second; without context all are named
    candidates = Candidates.of(replace(ranker, related=[{0: 0.4}]), 0)
    (related,) = candidates.name([context], fits[None])
    assert sorted(related) == [0, 1]


def test_similar_words_have_the_part_of_speech_decided() -> None:
    model = open_model("english")
    senses = open_definitions(model).senses("apple", "n")
    choices = [Choice(sense, 1 / len(senses)) for sense in senses]
    assert shares_part(model, "pear", choices)
    assert not shares_part(model, "every", choices)  # an adjective
    assert shares_part(model, "every", [])
    assert shares_part(model, "because", choices)  # it has no entry
