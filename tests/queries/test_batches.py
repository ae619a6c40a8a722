"""One bad line does not end a batch; other forms of words; positions as written."""

import json

import pytest

from tests.conftest import Run, mentions

LINES = "the [apple] juice\n\nthe [aple] phone\nthe [bank\nthe [bank] river\n"
TOLD = {
    3: "'aple' is not in the vocabulary; close known words: apple",
    4: "'the [bank': mark a target as [word], one pair of brackets each",
}


@pytest.mark.parametrize("command", ["compare", "explain", "ablate", "similarity", "contextualize"])
def test_bad_lines_are_named_and_the_others_answered(run: Run, command: str) -> None:
    done = run(command, "-", "-f", "json", stdin=LINES)
    assert done.returncode == 4
    for number, reason in TOLD.items():
        assert f"ctxembed: line {number}: {reason}\n" in done.stderr
    rows = json.loads(done.stdout)
    if command == "similarity":
        assert [row["word"] for row in rows] == ["the [apple] juice", "the [bank] river"]
    else:
        assert {(row["sentence"], row["target"]) for row in rows} == {(1, "apple"), (5, "bank")}


@pytest.mark.parametrize("command", ["compare", "explain", "ablate"])
def test_where_no_line_is_good_all_are_named(run: Run, command: str) -> None:
    done = run(command, "-", stdin="the [aple]\n[qq]\n")
    assert (done.returncode, done.stdout) == (4, "")
    assert "line 1: 'aple'" in done.stderr
    assert "line 2: 'qq'" in done.stderr


def test_a_line_without_a_target_is_named(run: Run) -> None:
    done = run("contextualize", "-", stdin="the apple\nthe [bank]\n")
    assert done.returncode == 4
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()[1:]] == [["2", "bank"]]
    assert mentions(done.stderr, "line~1 target --all")


def test_a_single_word_does_not_stop_a_batch_of_ablations(run: Run) -> None:
    done = run("ablate", "-", "-f", "json", stdin="[apple]\nthe [bank] river\n")
    assert done.returncode == 4
    assert mentions(done.stderr, "line~1 'apple' context word")
    assert {row["sentence"] for row in json.loads(done.stdout)} == {2}


def test_many_bad_lines_are_counted(run: Run) -> None:
    done = run("compare", "-", stdin="[apple] juice\n" + "[qq]\n" * 30)
    assert done.returncode == 4
    assert done.stderr.count("'qq' is not in the vocabulary") == 20
    assert mentions(done.stderr, "10~more lines")


@pytest.mark.parametrize(
    ("written", "other"),
    [("apples", "apple"), ("Apple's", "apple"), ("RIVERS", "river")],
)
def test_other_forms(run: Run, written: str, other: str) -> None:
    said = f"not in the vocabulary, taken in another form: {written.lower()} as {other}"
    done = run("compare", f"the [{written}] juice", "-f", "json")
    assert (done.returncode, json.loads(done.stdout)[0]["target"]) == (0, other)
    assert said in done.stderr
    same = run("compare", f"the [{other}] juice", "-f", "json").stdout
    assert same.replace('"written": null', f'"written": "{written.lower()}"') == done.stdout
    for line in (f"neighbors {written} -n 1", f"similarity {written} bank", f"show {written}"):
        done = run(*line.split())
        assert done.returncode == 0
        assert done.stdout == run(*line.replace(written, other).split()).stdout
        assert said.replace(written.lower(), written) in done.stderr


def test_an_unknown_axis_word_is_dropped(run: Run) -> None:
    for line in (
        ("compare", "the [apple] juice"),
        ("show", "apple"),
        ("similarity", "bank", "the"),
    ):
        answer = run(*line, "--axis", "taste=sweet,qqq,oranges", "-f", "json")
        plain = run(*line, "--axis", "taste=sweet,orange", "-f", "json")
        assert (answer.returncode, answer.stdout) == (0, plain.stdout)
        assert mentions(answer.stderr, "--axis taste 'qqq' vocabulary")
        assert mentions(answer.stderr, "oranges orange")
    done = run("show", "apple", "--axis", "taste=qqq")
    assert (done.returncode, done.stdout) == (4, "")


def test_positions_count_the_words_as_written(run: Run) -> None:
    text = "a ripe [apple] of the [orange juice] fell"
    for command in ("compare", "contextualize"):
        arguments = ("-",) if command == "contextualize" else (text,)
        rows = json.loads(run(command, *arguments, "-f", "json", stdin=f"{text}\n").stdout)
        assert {(row["target"], row["position"]) for row in rows} == {
            ("apple", 3),
            ("orange juice", 6),
        }
    (row, *_) = json.loads(run("ablate", "qq qq the [apple]", "-f", "json").stdout)
    assert (row["removed"], row["position"]) == ("the", 3)


def test_only_empty_words_is_an_error(run: Run) -> None:
    done = run("similarity", "", " ")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.endswith("no word was given\n")
