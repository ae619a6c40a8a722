"""Every step of one head, each from those above it by plain arithmetic."""

import math
from typing import Any

import pytest

import ctxembed
from ctxembed.errors import UsageError
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.queries.reweigh import reweigh
from ctxembed.queries.unfold import sum_contributions, unfold
from ctxembed.word_senses.sense_map import word_map

SENTENCE = "[Apple] launched a new phone while I was eating an orange"


def dot(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("attention", ["learned", "general"])
@pytest.mark.parametrize("head", ["1", "3"])
def test_each_step_from_those_above(attention: str, head: str) -> None:
    rows = unfold(bundled_model("everyday"), SENTENCE, attention=attention, head=head).records()
    steps: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        steps.setdefault(str(row["step"]), []).append(row)
    ((q,), scores) = (steps["q"], [row["value"] for row in steps["score"]])
    terms = set(steps) - {
        "x", "q", "k", "dot", "scale", "score", "weight", "v", "own", "output",
    }  # fmt: skip
    assert "distance" in terms
    for i, key in enumerate(steps["k"]):
        product = steps["dot"][i]["value"]
        assert dot(q["vector"], key["vector"]) == pytest.approx(product, abs=2e-3)
        added = math.fsum(steps[name][i]["value"] for name in terms)
        assert scores[i] == pytest.approx(product * steps["scale"][i]["value"] + added, abs=1e-5)
    total = math.fsum(math.exp(score) for score in scores)
    for row, score in zip(steps["weight"], scores, strict=True):
        assert row["value"] == pytest.approx(math.exp(score) / total, abs=1e-6)


def test_all_heads_and_the_word_make_the_output() -> None:
    output = None
    summed: list[float] = []
    for head in "1234":
        rows = unfold(bundled_model("everyday"), SENTENCE, head=head).records()
        weights = {r["position"]: r["value"] for r in rows if r["step"] == "weight"}
        for row in rows:
            vector: Any = row["vector"]
            if row["step"] == "v":
                part = [weights[row["position"]] * n for n in vector]
                summed = [a + b for a, b in zip(summed or [0.0] * len(part), part, strict=True)]
            elif row["step"] == "own":
                own = vector
            elif row["step"] == "output":
                output = vector
    assert [a + b for a, b in zip(summed, own, strict=True)] == pytest.approx(output, abs=2e-3)


def test_contributions_of_heads_and_the_word_sum_to_one() -> None:
    model = ctxembed.open(bundled_model("everyday"))
    heads = sum_contributions(model, SENTENCE)
    rows = ctxembed.explain(model, SENTENCE, head="each").records()
    (own,) = (row["contribution"] for row in rows if row["head"] == "own")
    assert [*heads] == ["1", "2", "3", "4"]
    assert math.fsum(heads.values()) + own == pytest.approx(1)
    for head, total in heads.items():
        parts = [row["contribution"] or 0.0 for row in rows if row["head"] == head]
        assert total == pytest.approx(math.fsum(parts))


def test_weights_by_hand(model: Model) -> None:
    """apple = [.9 .3 0 0] among orange [1 0 0 0] and phone [0 1 0 0]: half phone, half orange."""
    axes = {"taste": ["orange"], "technology": ["phone"]}
    table = reweigh(model, "orange [apple] phone", {1: 0.5, 3: 0.5}, axes=axes)
    computed, by_hand = table.records()
    assert computed["cos_computed"] == pytest.approx(1)
    assert by_hand["representation"] == "by hand"
    vector = [0.3 * n for n in (0.9 / 0.9**0.5, 0.3 / 0.9**0.5)]
    vector = [vector[0] + 0.35, vector[1] + 0.35]
    assert by_hand["taste"] == pytest.approx(vector[0] / math.hypot(*vector), abs=1e-5)
    # apple is half of its own vector along the new one, orange and phone the other half
    shares = {one["word"]: one["share"] for one in by_hand["because"]}
    along = [0.35 * vector[i] / math.hypot(*vector) ** 2 for i in (0, 1)]
    assert shares == {
        "orange": pytest.approx(along[0], abs=1e-4),
        "phone": pytest.approx(along[1], abs=1e-4),
    }
    assert by_hand["technology"] == pytest.approx(vector[1] / math.hypot(*vector), abs=1e-5)
    with pytest.raises(UsageError, match="a weight for word 9"):
        reweigh(model, "orange [apple] phone", {9: 0.5})


def test_a_map_has_two_clouds_and_the_sentence_in_the_right_one() -> None:
    model = ctxembed.open(bundled_model("everyday"))
    result = word_map(model, "bank")
    points, legend = result.drawn().records(), result.legend().records()
    assert len(points) == sum(int(str(row["count"])) for row in legend)
    river = next(row["sense"] for row in legend if "river" in str(row["markers"]))
    for sentence, there in (
        ("they sat on the [bank] of the river", True),
        ("the [bank] lent money", False),
    ):
        (row,) = result.project(model, sentence).records()
        assert (row["sense"] == river) is there
    few = result.thinned(100)
    assert len(few.drawn().records()) == 100
    assert few.notes[-1] == f"100 of {len(points)} points are drawn, to keep the page small"
