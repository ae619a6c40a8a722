"""Where static is enough and where context pays: accuracies by hand, tests by counting."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.errors import UsageError
from ctxembed.evaluation.decide import _decide, _holds, _sentence
from ctxembed.evaluation.metrics import proportion, resample
from ctxembed.evaluation.tfidf import TfIdf
from tests.conftest import Run, mentions

FRUIT = "i ate a sweet [apple] and drank juice number {}"
PHONE = "the [apple] phone has a new screen number {}"


def labelled(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def figures(**right: list[int]) -> dict[str, object]:
    weights = resample(100, np.random.default_rng(1))
    return {
        name: proportion(np.repeat([1, 0], [some[0], 100 - some[0]]), weights)
        for name, some in right.items()
    }


def test_a_dearer_one_must_be_surely_better() -> None:
    made = figures(static=[50], bag=[90], learned=[91])
    item = _decide("word", 100, made, np.nan)  # type: ignore[arg-type]
    assert item.chosen == "bag"  # one sentence in a hundred more is less than 0.02
    verdicts = [item.verdict(name) for name in made]
    assert verdicts == ["worse", "enough", "no better"]
    better = _decide("word", 100, figures(static=[50], bag=[60], learned=[95]), np.nan)  # type: ignore[arg-type]
    assert better.chosen == "learned" and better.verdict("bag") == "worse"


def test_the_cheapest_that_no_dearer_one_beats() -> None:
    made = figures(static=[50], bag=[80], general=[89], together=[90])
    item = _decide("word", 100, made, np.nan)  # type: ignore[arg-type]
    assert item.chosen == "general" and item.verdict("together") == "no better"
    close = _decide("word", 100, figures(static=[50], bag=[90], learned=[89]), np.nan)  # type: ignore[arg-type]
    assert close.chosen == "bag" and close.verdict("learned") == "lower, not significantly"


def test_one_sense_needs_one_vector() -> None:
    made = figures(static=[50], bag=[90])
    assert _decide("word", 100, made, 0.2).chosen == "static"  # type: ignore[arg-type]
    assert _decide("word", 100, made, 0.8).chosen == "bag"  # type: ignore[arg-type]


def test_the_verdict_in_one_sentence() -> None:
    made = figures(static=[50], bag=[90], learned=[97])
    one = _decide("seal", 100, made, np.nan)  # type: ignore[arg-type]
    other = _decide("river", 100, made, 0.1)  # type: ignore[arg-type]
    assert _sentence([other]) == "For river, static is enough."
    both = _sentence([one, other, _decide("all words", 200, made, np.nan)])  # type: ignore[arg-type]
    first, mean = both.split(". ")
    assert first == "Of 2 words, static is enough for 1 (river); learned pays for 1 (seal)"
    assert mean == "On their mean, learned pays."


def test_conditions() -> None:
    item = _decide("word", 100, figures(static=[50], bag=[90], learned=[70]), np.nan)  # type: ignore[arg-type]
    assert _holds(item, "learned", "<", "bag") and _holds(item, "learned", "<=", "bag")
    assert not _holds(item, "bag", "<", "learned") and not _holds(item, "bag", "<=", "learned")
    equal = _decide("word", 100, figures(static=[50], bag=[90], learned=[90]), np.nan)  # type: ignore[arg-type]
    assert _holds(equal, "learned", "<=", "bag") and not _holds(equal, "learned", "<", "bag")
    assert _holds(item, "learned", "<", 0.71) and not _holds(item, "learned", "<", 0.7)
    assert _holds(item, "learned", "<=", 0.7)


def test_tfidf_is_that_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    from ctxembed.context.parse import Occurrence

    ids = [[3, 9, 4, 4], [3, 4, 5], [3, 5, 6, 7, 7]]  # 3 is the target
    items = [Occurrence(np.array(row, np.int32), range(0, 1)) for row in ids]
    expected = TfidfVectorizer(norm=None, token_pattern=r"\S+").fit_transform(
        [" ".join(f"{i:02d}" for i in row[1:]) for row in ids]
    )
    np.testing.assert_allclose(TfIdf().vectors(items), expected.toarray(), rtol=1e-6)


def test_labels(run: Run, tmp_path: Path) -> None:
    lines = [f"fruit\t{FRUIT.format(i)}" for i in range(20)]
    lines += [f"phone\t{PHONE.format(i)}" for i in range(15)]
    file = labelled(tmp_path / "apple.tsv", lines)
    done = run("decide", "--labelled", file, "-m", "everyday", "-f", "json")
    rows = {row["representation"]: row for row in json.loads(done.stdout)}
    assert {row["word"] for row in rows.values()} == {"apple"}
    assert rows["static"]["accuracy"] == pytest.approx(20 / 35)  # the most frequent label
    assert rows["bag"]["accuracy"] == rows["tfidf"]["accuracy"] == 1
    assert rows["bag"]["verdict"] == "enough" and rows["static"]["verdict"] == "worse"
    assert rows["learned"]["verdict"] == "no better"
    assert rows["bag"]["p"] == pytest.approx(0.002, abs=1e-3)  # no resample changes the sign
    assert all(row["milliseconds"] > 0 and row["megabytes"] > 0 for row in rows.values())
    shown = run("decide", "--labelled", file, "-m", "everyday", "-f", "table").stdout
    assert shown.startswith("For apple, bag is enough.\n")


def test_words_of_one_file(run: Run, tmp_path: Path) -> None:
    lines = [f"fruit\t{FRUIT.format(i)}" for i in range(10)]
    lines += [f"phone\t{PHONE.format(i)}" for i in range(10)]
    lines += [f"x\tthe [river] was wide {i}" for i in range(12)] + ["x\ta [lake]"]
    file = labelled(tmp_path / "all.tsv", lines)
    done = run("decide", "--labelled", file, "-m", "everyday", "-f", "json")
    chosen = {
        row["word"]: row["representation"]
        for row in json.loads(done.stdout) if row["verdict"] == "enough"
    }  # fmt: skip
    assert chosen["apple"] == "bag" and chosen["river"] == "static" and "all words" in chosen
    assert done.returncode == 4 and mentions(done.stderr, "fewer than 10")
    only = run("decide", "river", "--labelled", file, "-m", "everyday", "-f", "json")
    assert {row["word"] for row in json.loads(only.stdout)} == {"river"}
    assert only.returncode == 0


def test_words_without_labels(run: Run) -> None:
    done = run("decide", "bank", "river", "--by-word", "-m", "everyday", "-f", "json")
    rows = json.loads(done.stdout)
    chosen = {row["word"]: row["representation"] for row in rows if row["verdict"] == "enough"}
    senses = {
        row["word"]: row["senses"] for row in ctxembed.ambiguity("everyday", ["bank", "river"])
    }
    for word, number in senses.items():
        assert (chosen[word] == "static") == (number == 1)
    alone = json.loads(run("decide", "bank", "-m", "everyday", "-f", "json").stdout)
    brief = json.loads(run("decide", "bank", "river", "-m", "everyday", "-f", "json").stdout)
    assert [row["word"] for row in brief[:2]] == ["bank", "river"]
    assert {row["word"] for row in brief[2:]} == {"all words"}
    together = [row for row in rows if row["word"] == "bank"]
    for one, other in zip(alone, together, strict=True):
        for key in one.keys() - {"milliseconds"}:
            figure = isinstance(one[key], float)
            assert other[key] == (pytest.approx(one[key], rel=1e-6) if figure else one[key])


@pytest.mark.parametrize(
    ("condition", "code"),
    [("bag<0.1", 0), ("static<bag", 1), ("bag<static", 0), ("bag<=static", 0)],
)
def test_exit_code(run: Run, tmp_path: Path, condition: str, code: int) -> None:
    lines = [f"fruit\t{FRUIT.format(i)}" for i in range(20)]
    lines += [f"phone\t{PHONE.format(i)}" for i in range(20)]
    file = labelled(tmp_path / "apple.tsv", lines)
    done = run("decide", "--labelled", file, "-m", "everyday", "--fail-if", condition)
    assert done.returncode == code
    assert mentions(done.stderr, "--fail-if for apple") == bool(code)
    assert done.stdout.count("\n") > 5  # the table is printed all the same


@pytest.mark.parametrize(
    "condition",
    ["", "learned", "learned>bag", "learned<nothing", "x<bag", "bag<nan", "bag<80", "bag<-1"],
)
def test_wrong_conditions(condition: str) -> None:
    with pytest.raises(UsageError, match="--fail-if"):
        ctxembed.decide("everyday", "bank", fail_if=condition)


def test_words_keep_their_order_and_rare_ones_are_named(run: Run) -> None:
    model = ctxembed.open("everyday")
    rare = model.vocabulary.words[-1]
    done = run("decide", "water", rare, "bank", "-m", "everyday", "-f", "json")
    assert [row["word"] for row in json.loads(done.stdout)][:2] == ["water", "bank"]
    assert done.returncode == 4 and mentions(done.stderr, f"'{rare}' too rarely")


def test_nothing_to_decide(run: Run, tmp_path: Path) -> None:
    assert run("decide", "-m", "everyday").returncode == 2
    assert run("decide", "zzzzz", "-m", "everyday").returncode == 4
    no_text = run("decide", "bank", "-m", "english")
    assert no_text.returncode == 3 and mentions(no_text.stderr, "no corpus --labelled")
    empty = labelled(tmp_path / "a.tsv", [])
    assert run("decide", "--labelled", empty, "-m", "everyday").returncode == 5


def test_the_page_runs(tmp_path: Path) -> None:
    """Run the script of docs/decide.md as a process of its own."""
    text = (Path(__file__).parents[2] / "docs" / "decide.md").read_text(encoding="utf-8")
    script = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "decide_ten.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "decide_ten.py"], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    verdict, *words = done.stdout.splitlines()
    assert verdict.startswith("Of 10 words") and len(words) == 10
