"""info --heads: what each head looks at."""

import json
from pathlib import Path

import pytest

from tests.conftest import EVERYDAY, Run, write_tiny

SENTENCE = "the apple juice sweet orange phone"


def test_even_weights_by_hand(run: Run, tmp_path: Path) -> None:
    """Six words and six more after them: a head without preference sees eleven others."""
    model = write_tiny(tmp_path / "six", [SENTENCE] * 3)
    done = run("info", "--heads", "-m", str(model), "--attention", "general", "-f", "json")
    assert done.returncode == 0, done.stderr
    *heads, even = json.loads(done.stdout)
    assert even["head"] == "even"
    within_two = [2, 3, 4, 4, 4, 4]  # words at most two away, by position
    assert even["near"] == pytest.approx(sum(within_two) / 6 / 11)
    assert even["clause"] == pytest.approx(5 / 11)
    # Of eleven other words, five are more similar than the median one, or fewer if it is tied.
    assert even["similar"] <= 5 / 11 + 1e-9
    # In general attention the decay by distance grows from head to head.
    assert [row["near"] for row in heads] == sorted(row["near"] for row in heads)


def test_heads_of_the_bundled_model(run: Run) -> None:
    done = run("info", "--heads", "-m", str(EVERYDAY), "-f", "json")
    *heads, even = json.loads(done.stdout)
    for row in heads:
        assert row["clause"] > even["clause"]
        for name in ("near", "clause", "similar", "content"):
            assert 0 <= row[name] <= 1
    names = {"near words": "near", "content words": "content", "similar words": "similar"}
    for row in heads:
        if row["looks_at"] in names:
            column = names[row["looks_at"]]
            assert row[column] == max(other[column] for other in heads)
    assert sum(row["part"] for row in heads) < 1  # the rest is the word itself


def test_a_corpus_of_short_sentences_is_refused(run: Run) -> None:
    done = run("info", "--heads", "--attention", "general")
    assert done.returncode == 2
    assert "no sentence" in done.stderr
    assert run("info", "--attention", "general").returncode == 2
    assert run("info", "--heads", "--check").returncode == 2
