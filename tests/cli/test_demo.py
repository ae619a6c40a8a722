"""What the demo says is what its numbers say: each claim is read from the answer of its command."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxembed.cli.demo import STORY, TYPE, WORDS
from tests.conftest import EVERYDAY, ROOT, in_process

Rows = list[dict[str, Any]]
Answers = list[Rows]
STEPS = STORY.split("\n\n")


@pytest.fixture(scope="module")
def workdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demo works: what one step makes, a later one asks."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(EVERYDAY, folder / "copy")
    return folder


def ask(step: str, workdir: Path) -> Answers:
    """Run the commands of a step; return the rows of each."""
    answers = []
    for line in step.split("\n$ ")[1:]:
        arguments = shlex.split(line.format(corpora=ROOT / "corpora", **WORDS))
        env: dict[str, str | None] = {"CTXEMBED_MODEL": str(EVERYDAY)}
        done = in_process([*arguments, "-f", "json"], "", env, workdir)
        assert done.returncode == 0, done.stderr
        answers.append([*json.loads(done.stdout), {"stderr": done.stderr}])
    return answers


def properties(rows: Rows) -> dict[str, Any]:
    return {row["property"]: row["value"] for row in rows if "property" in row}


def by_representation(rows: Rows, target: str, sentence: int = 1) -> dict[str, dict[str, Any]]:
    """Return the rows of a target by representation."""
    return {
        row["representation"]: row
        for row in rows
        if (row.get("target"), row.get("sentence")) == (target, sentence)
    }


def lead(row: dict[str, Any], one: str, other: str) -> float:
    """Tell by how much one axis is nearer than the other."""
    return float(row[one] - row[other])


def noise(answers: Answers) -> None:
    assert properties(answers[0])["sentences"] == 4
    assert "too few: these vectors are noise" in answers[0][-1]["stderr"]
    lines = (ROOT / "corpora" / "apple.txt").read_text().lower().split("\n")
    assert sum("phone" in line for line in lines) == 1
    assert sum("apple" in line for line in lines) == 4


def average(answers: Answers) -> None:
    summary = properties(answers[0])
    assert summary["count"] / summary["share"] == pytest.approx(360_000, rel=0.02)
    assert summary["axis taste"] > summary["axis technology"] + 0.05
    assert "pear" in str(summary["nearest"])[:12]


def turned_round(answers: Answers) -> None:
    summary = properties(answers[1])
    assert summary["axis technology"] > summary["axis taste"] + 0.05


def in_a_sentence(answers: Answers) -> None:
    apple, orange = by_representation(answers[0], "apple"), by_representation(answers[0], "orange")
    assert lead(apple["static"], "taste", "technology") > 0.05
    for rows in (apple, orange):
        assert lead(rows["bag"], "technology", "taste") > 0.01
    assert abs(lead(apple["general"], "technology", "taste")) < 0.1
    assert lead(apple["learned"], "technology", "taste") > 0.15
    assert lead(orange["learned"], "taste", "technology") > 0.15


def word_by_word(answers: Answers) -> None:
    brings = {row["token"]: row["contribution"] for row in answers[0] if "token" in row}
    assert sum(brings[word] for word in ("apple", "launched", "a", "new", "phone")) > 0.9
    assert abs(brings["eating"]) + abs(brings["orange"]) < 0.05


def twice(answers: Answers) -> None:
    first, second = by_representation(answers[0], "apple"), by_representation(answers[0], "apple:2")
    for representation in ("static", "bag"):
        assert first[representation]["taste"] == pytest.approx(
            second[representation]["taste"], abs=1e-6
        )
    assert lead(first["learned"], "technology", "taste") > 0.1
    assert lead(second["learned"], "taste", "technology") > 0.05


def two_banks(answers: Answers) -> None:
    one, other = by_representation(answers[0], "bank", 1), by_representation(answers[0], "bank", 2)
    assert other["static"]["cos_first"] == pytest.approx(1)
    for representation in ("bag", "general", "learned"):
        assert other[representation]["cos_first"] < other[representation]["cos_random"] - 0.02
        assert one[representation]["like"] != other[representation]["like"]


def recipes(answers: Answers) -> None:
    for rows, most in zip(answers, ("money", "river"), strict=True):
        terms = [term.split() for term in rows[0]["recipe"].split(" = ")[1].split(" + ")]
        weights = {word: float(number) for number, word in terms}
        assert max(weights, key=lambda word: weights[word]) == most
        assert weights["bank"] > 0
        assert sum(weights.values()) == pytest.approx(1)


def servers(answers: Answers) -> None:
    first, second = (by_representation(rows, "server") for rows in answers)
    for result in (first, second):
        assert lead(result["static"], "computer", "restaurant") > 0.02
    assert lead(first["learned"], "restaurant", "computer") > 0.02
    assert lead(second["learned"], "computer", "restaurant") > 0.02


def a_purpose(answers: Answers) -> None:
    summary = properties(answers[0])
    assert summary["measured_on"] == "test, 260 sentences"
    assert summary["sentences"] == 2 * 260
    assert summary["accuracy"] > summary["accuracy_before"] + 0.02
    (count,) = re.findall(r"The bundled task has (\d+) idioms", (ROOT / "README.md").read_text())
    assert summary["expressions"] == int(count)


def a_cake(answers: Answers) -> None:
    rows = by_representation(answers[0], "piece of cake")
    assert abs(lead(rows["static"], "kitchen", "study")) < 0.1
    assert rows["idioms"]["kitchen"] < rows["static"]["kitchen"] - 0.3
    assert rows["idioms"]["kitchen"] < 0.15
    assert lead(rows["idioms"], "study", "kitchen") > 0.2
    assert [row["label"] for row in answers[1][:2]] == ["figurative", "literal"]


CLAIMS: list[Callable[[Answers], None]] = [
    noise, average, turned_round, in_a_sentence, word_by_word, twice, two_banks, recipes, servers,
    a_purpose, a_cake,
]  # fmt: skip


def test_every_step_makes_a_claim_that_is_tested() -> None:
    assert len(STEPS) == len(CLAIMS)


@pytest.mark.xdist_group("demo")
def test_each_claim_agrees_with_its_numbers(workdir: Path) -> None:
    for step, claim in zip(STEPS, CLAIMS, strict=True):
        claim(ask(step, workdir))


def test_the_sentences_to_type_are_answered_rightly(workdir: Path) -> None:
    """What the reader is to type, with the english model: the meaning is the right one."""
    right = [
        {"flying", "fly", "bird", "birds"},
        {"rat", "rats", "mice", "rabbit", "rabbits", "dog"},
    ]
    lines = re.findall(r"\$ ctxembed (.+)", TYPE)
    assert len(lines) == 3
    for line, words in zip(lines, right, strict=False):
        done = in_process([*shlex.split(line), "-f", "json"], "", {"CTXEMBED_MODEL": None}, workdir)
        assert done.returncode == 0, done.stderr
        rows = {row["representation"]: row for row in json.loads(done.stdout)}
        assert words & set(rows["together"]["like"]), rows["together"]
    done = in_process(shlex.split(lines[2]), "", {"CTXEMBED_MODEL": None}, workdir)
    assert done.returncode == 0, done.stderr
    assert "boats" in done.stdout
