"""Words that the bundled dictionary relates to a target in its sentence."""

from pathlib import Path

from ctxembed.context.parse import parse
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.queries.define import find_related, list_written
from tests.conftest import TEXT, write_tiny


def related(model: Model, sentence: str) -> dict[str, float]:
    (target,) = list_written(parse(model, sentence))
    (rows,) = find_related(model, [target.item])
    return {model.vocabulary.words[row]: sure for row, sure in rows.items()}


def test_synonyms_weigh_more_than_hyponyms() -> None:
    words = related(open_model("english"), "The [car] stopped at the lights.")
    assert words["automobile"] > words["taxi"] > 0
    assert words["automobile"] == words["auto"]
    assert all(0 < sure <= 1.0001 for sure in words.values())


def test_the_sense_depends_on_the_sentence() -> None:
    model = open_model("english")
    river = related(model, "We walked along the muddy [bank] of the river.")
    money = related(model, "The [bank] raised the interest rate of the loan.")
    assert river["slope"] > money.get("slope", 0)


def test_a_small_model_has_none(tmp_path: Path) -> None:
    assert related(Model.open(write_tiny(tmp_path / "m", TEXT)), "the [apple] phone") == {}
