"""What a chapter says is what its commands print: each claim is read from their output."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxembed.lesson.chapter import Chapter, Step, load_chapter, load_chapters
from ctxembed.model.bundled import corpora_directory
from tests.conftest import Done, in_process

Rows = list[dict[str, Any]]
Answers = list[Rows]  # of each command, that of `try` last
NUMBER = re.compile(r"-?\d+\.\d{2,}")
OWN_FORM = "-f"  # a command that chooses its format prints no json


def answer(step: Step, folder: Path, *options: str) -> Done:
    """Run a command of a chapter as it is typed, in a directory that was empty before it."""
    env: dict[str, str | None] = {"CTXEMBED_MODEL": None, "COLUMNS": "80"}
    done = in_process([*step.arguments, *options], "", env, folder)
    assert done.returncode == 0, f"{step.line}\n{done.stderr}"
    return done


def printed(chapter: Chapter, folder: Path) -> list[str]:
    """Return what each command prints on a page of 80 columns."""
    outputs = []
    for step in (*chapter.steps, chapter.task):
        form = () if OWN_FORM in step.arguments else ("-f", "table")
        done = answer(step, folder, *form)
        outputs.append(done.stdout + done.stderr)
    return outputs


def read(chapter: Chapter, folder: Path) -> Answers:
    """Return the rows of each command as JSON."""
    answers = []
    for step in (*chapter.steps, chapter.task):
        arguments = [*step.arguments]
        if OWN_FORM in arguments:
            at = arguments.index(OWN_FORM)
            arguments[at : at + 2] = []
        writes = arguments[0] in ("train", "shrink") and "--pairs" not in arguments
        force = ["--force"] if writes else []  # it was written before
        done = answer(Step(shlex.join(arguments), ""), folder, *force, "-f", "json")
        answers.append(json.loads(done.stdout))
    return answers


def by(rows: Rows, key: str, **of: Any) -> dict[Any, dict[str, Any]]:
    """Return the rows that have these values, by the value of one column."""
    return {row[key]: row for row in rows if all(row[name] == value for name, value in of.items())}


def properties(rows: Rows) -> dict[str, Any]:
    return {row["property"]: row["value"] for row in rows}


def matrix(rows: Rows, step: str) -> dict[tuple[str, str], float]:
    """Return the numbers of a matrix of --steps by row and column."""
    return {
        (row["row_token"], row["column_name"]): row["value"] for row in rows if row["step"] == step
    }


def recipe(rows: Rows, target: str) -> dict[str, float]:
    """Return the weights of a recipe by word."""
    (text,) = [row["recipe"] for row in rows if row["target"] == target]
    terms = [term.split() for term in text.split(" = ")[1].split(" + ")]
    return {word: float(number) for number, word in terms}


def taste_lead(row: dict[str, Any]) -> float:
    """Return how much more taste than technology a vector of the example apple has."""
    taste, technology = row["vector"]
    return float(taste - technology)


def lead(row: dict[str, Any], one: str, other: str) -> float:
    return float(row[one]) - float(row[other])


def counting(rows: Answers) -> None:
    one_hot, bag, tfidf, pieces = rows
    assert by(one_hot, "word")["mat"] == {"word": "mat", "mat": 1, "cat": 0, "rat": 0}
    assert [list(row.values())[1:] for row in bag] == [[2, 0, 1], [0, 2, 1]]
    assert tfidf[0]["cat"] == tfidf[1]["cat"] < tfidf[0]["mat"]
    for row in tfidf:
        assert sum(row[word] ** 2 for word in ("mat", "cat", "rat")) == pytest.approx(1)
    # different words have nothing in common: the dot product of their rows is 0
    for row in one_hot:
        assert sum(row[word] for word in ("mat", "cat", "rat")) == 1
    assert [row["token"] for row in pieces][1] == "un"


def embeddings(rows: Answers) -> None:
    steps, ladder, pairs, king, queen = rows
    e, scores = matrix(steps, "E"), matrix(steps, "scores")
    assert [e["king", f"d{i}"] for i in range(1, 6)] == pytest.approx([0.6, 0.1, 1, 0, 0.9])
    assert [e["queen", f"d{i}"] for i in range(1, 6)] == pytest.approx([0.3, 0.2, 0.4, 1, 0])
    assert scores["king", "queen"] == pytest.approx(0.6 * 0.3 + 0.1 * 0.2 + 0.4)
    named = by(ladder, "representation")
    assert named["one-hot"]["cosine"] == 0 < named["static"]["cosine"]
    sentence = ["an", "apple", "a", "day", "keeps", "the", "doctor", "away"]
    assert sum(row["algorithm"] == "cbow" for row in pairs) == len(sentence)
    assert all(" " not in row["input"] for row in pairs if row["algorithm"] == "skipgram")
    for row in pairs:  # a negative may be a word of the input, never the answer
        assert row["output"] not in row["negatives"]
    assert {row["neighbor"] for row in king} == {"prince", "queen", "king's", "princess", "monarch"}
    assert queen[0]["word"] == "queen"


def averaged(rows: Answers) -> None:
    show, senses, bank = rows
    summary = properties(show)
    assert summary["axis taste"] > summary["axis technology"]
    assert summary["nearest"][0].startswith("pear ")
    assert summary["count"] / summary["share"] == pytest.approx(360_000, rel=0.02)
    assert len(senses) == 2
    assert senses[0]["share"] > senses[1]["share"] and senses[0]["mix"] > senses[1]["mix"] > 0.2
    assert "fruit" in senses[0]["markers"] and "phone" in senses[1]["markers"]
    assert {"axis money", "axis water"} <= {*properties(bank)}


def corpus(rows: Answers) -> None:
    trained, show, names, mix = rows
    assert properties(trained)["model"] == "twin"
    summary = properties(show)
    assert summary["axis technology"] > summary["axis taste"] + 0.05
    for row in names:
        assert row["association"] == pytest.approx(row["cos_a"] - row["cos_b"])
    for group, above in (("female_names", 0), ("male_names", 6)):
        leads = [row["association"] for row in names if row["group"] == group]
        assert (sum(one > 0 for one in leads), len(leads)) == (above, 8)
    assert [row["representation"] for row in mix[:3]] == ["static"] * 3
    assert [row["share"] for row in mix[:3]] == [0, 0.5, 1]
    taste, _, technology = (row["difference"] for row in mix[:3])
    assert taste > 0 > technology


def recurrent(rows: Answers) -> None:
    near, far, both = (by(rows[i], "token", reading="backward") for i in (0, 1, 3))
    before = by(rows[3], "token", reading="forward")
    assert near["river"]["left"] > max(near[word]["left"] for word in ("year", "summer"))
    at_once = by(rows[2], "token")
    others = [row["weight"] for token, row in at_once.items() if token not in ("river", "bank")]
    assert at_once["river"]["weight"] > max(others)
    assert at_once["river"]["position"] == far["river"]["position"]
    assert before["money"]["left"] > 10 * abs(both["river"]["left"])
    assert abs(far["river"]["left"]) < 0.01 < near["river"]["left"]
    assert far["river"]["position"] - far["bank"]["position"] == 14
    assert all(0 < row["kept"] < 1 for row in near.values())


def recipes(rows: Answers) -> None:
    tea, money, river, computed = rows
    assert recipe(tea, "tea") == {"milk": 0.5, "leaves": 0.2, "sugar": 0.2, "ginger": 0.1}
    assert recipe(money, "bank") == {"money": 0.25, "bank": 0.70, "grows": 0.05}
    assert recipe(river, "bank")["river"] == 0.20 and "money" not in recipe(river, "bank")
    for rows_, target in ((tea, "tea"), (money, "bank"), (river, "bank"), (computed, "bank")):
        assert sum(recipe(rows_, target).values()) == pytest.approx(1)


def similarity(rows: Answers) -> None:
    two, three, river = rows
    assert matrix(two, "scores")["phone", "fruit"] == 0
    assert matrix(two, "scores")["phone", "phone"] == 1
    scores = matrix(three, "scores")
    assert scores["bank", "money"] == pytest.approx(0.7)
    assert all(scores[a, b] == pytest.approx(scores[b, a]) for a, b in scores)
    best = {b: value for (a, b), value in matrix(river, "scores").items() if a == "river"}
    assert max(best, key=lambda word: best[word]) == "river"


def softmax(rows: Answers) -> None:
    money, both, river = rows
    words = by(money, "token")
    total = sum(row["exponential"] for row in money)
    for row in money:
        assert row["exponential"] == pytest.approx(2.718281828 ** row["score"])
        assert row["weight"] == pytest.approx(row["exponential"] / total)
    assert words["bank"]["weight"] == max(row["weight"] for row in money)
    first, second = (by(both, "representation", sentence=number) for number in (1, 2))
    assert first["general"]["like"] == ["money", "grows"]
    assert second["general"]["like"] == ["river", "flows"]
    assert second["static"]["cos_first"] == pytest.approx(1)
    assert second["general"]["cos_first"] < 0.9
    assert [row["weight"] for row in river] == pytest.approx([row["weight"] for row in money])


def unknowable(rows: Answers) -> None:
    word_by_word, idiom, task, _, fitted, labels, leg = rows
    assert recipe(word_by_word, "کیک")["cake"] > 0.9 < recipe(word_by_word, "ٹکڑا")["piece"]
    assert all(abs(w - 1 / 3) < 0.01 for w in recipe(idiom, "آسان").values())
    weights = recipe(task, "آسان")
    assert min(weights["piece"], weights["cake"]) > 3 * weights["of"]
    found = properties(fitted)
    assert found["accuracy"] > found["accuracy_before"] + 0.02
    assert (found["sentences"], found["expressions"]) == (520, 13)
    assert [row["label"] for row in labels] == ["figurative", "literal"]
    assert labels[0]["gloss"] == "راز فاش کر دینا"  # to tell a secret
    weights = recipe(leg, "کامیابی")
    assert max(weights, key=lambda word: weights[word]) == "leg"


def lookup(rows: Answers) -> None:
    steps, two = rows
    v, weights, output = (matrix(steps, name) for name in ("V", "weights", "output"))
    assert [v[word, "d1"] for word in "abc"] == [1, 2, 3]
    mixed = sum(weights["a", word] * v[word, "d1"] for word in "abc")
    assert output["a", "d1"] == pytest.approx(mixed)
    assert 1 < mixed < 1.1
    assert output["b", "d1"] == pytest.approx(2) and matrix(two, "output")["b", "d1"] < 1.995


def matrices(rows: Answers) -> None:
    scaling, rotation, numbers, roles, company, health = rows
    w_q = matrix(numbers, "W_Q")
    asked = 0.9 * w_q["d1", "d1"] + 0.3 * w_q["d2", "d1"]
    assert by(roles, "token")["apple"]["q"][0] == pytest.approx(asked, abs=1e-5)
    for answer_, wanted in ((scaling, [2, 0]), (rotation, [0, 1])):
        v = matrix(answer_, "V")
        assert [v["phone", "d1"], v["phone", "d2"]] == pytest.approx(wanted)
    words = by(roles, "token")
    heaviest = sorted(words, key=lambda word: -words[word]["weight"])
    assert heaviest[:2] == ["phone", "launched"]
    assert words["orange"]["weight"] < 0.1
    static, given = (by(company, "representation")[name] for name in ("static", "given"))
    assert taste_lead(static) > 0.5
    assert taste_lead(given) < -0.4
    assert taste_lead(by(health, "representation")["given"]) > 0.5


def root_of_d(rows: Answers) -> None:
    without, with_, king = (by(answer_, "token") for answer_ in rows)
    assert (without["apple"]["scale"], with_["apple"]["scale"]) == (1, 0.125)
    assert without["apple"]["weight"] > 0.8 > 0.2 > with_["apple"]["weight"]
    for word in without:
        assert without[word]["score"] == pytest.approx(with_[word]["score"])
    assert with_["phone"]["weight"] > 5 * without["phone"]["weight"]
    assert king["king"]["weight"] > 0.999
    powers = [2.718281828**9, 2.718281828**6]
    assert [round(p / sum(powers), 2) for p in powers] == [0.95, 0.05]  # in the text


def training(rows: Answers) -> None:
    epochs, untrained, trained, other = rows
    for run in (epochs, other):
        assert run[-1]["loss"] < 0.05 * run[0]["loss"]
    phone = ["apple", "launched", "a", "new", "phone"].index("phone")
    assert epochs[-1]["weights"][phone] > 3 * epochs[0]["weights"][phone]
    before, after = (by(answer_, "representation") for answer_ in (untrained, trained))
    for name in ("static", "bag", "general"):
        assert before[name]["vector"] == after[name]["vector"]
    assert max(before["given"]["vector"]) < 0.2
    assert taste_lead(after["given"]) < -0.4


def order(rows: Answers) -> None:
    reverse, waves, curves, steps, products, moved = rows
    words, elsewhere = by(reverse, "token"), by(moved, "token")
    scores = {"money": 0.7, "bank": 0.98, "grows": 0.35}  # of chapter 8
    total = sum(2.718281828**score for score in scores.values())
    for word, score in scores.items():
        assert words[word]["weight"] == pytest.approx(2.718281828**score / total)
    assert abs(matrix(steps, "weights")["bank", "money"] - elsewhere["money"]["weight"]) > 0.05
    signs = [row["wave_1"] >= 0 for row in waves]
    assert True in signs and False in signs  # up and down within 6 positions
    assert [row["wave_3"] for row in waves] == sorted(row["wave_3"] for row in waves)
    for row in waves:
        assert row["sum"] == pytest.approx(row["wave_1"] + row["wave_2"] + row["wave_3"])
    assert len({round(row["sum"], 6) for row in curves}) == len(curves)  # different everywhere
    e, p, x = (matrix(steps, name) for name in ("E", "P", "X"))
    assert all(x[key] == pytest.approx(e[key] + p[key]) for key in x)
    first = [products[0][f"p{i}"] for i in range(6)]
    assert first == sorted(first, reverse=True)


def several_heads(rows: Answers) -> None:
    heads, second, whole, both, twice = rows
    article = by(whole, "token")["a"]
    assert article["weight"] > 0.2 > 0.01 > abs(article["contribution"])
    named = by(heads, "head")
    looks = [named[head]["looks_at"] for head in "1234"]
    assert looks[:3] == ["near words", "content words", "similar words"]
    for head in "1234":
        assert named[head]["clause"] > named["even"]["clause"] + 0.2
    assert named["4"]["part"] < 0.05 and named["4"]["looks_at"] == "*"
    words = by(second, "token")
    assert words["launched"]["weight"] > 0.8 and words["orange"]["weight"] < 0.0001
    assert words["orange"]["wall"] < 10 * words["launched"]["wall"]
    apple, orange = (by(both, "representation", target=word) for word in ("apple", "orange"))
    assert lead(apple["static"], "taste", "technology") > 0.05
    assert lead(orange["bag"], "technology", "taste") > 0.01
    assert lead(apple["learned"], "technology", "taste") > 0.15
    assert lead(orange["learned"], "taste", "technology") > 0.15
    one, other = (by(twice, "representation", target=word) for word in ("apple", "apple:2"))
    assert lead(one["learned"], "technology", "taste") > 0.1
    assert lead(other["learned"], "taste", "technology") > 0.05


def transformer(rows: Answers) -> None:
    causal, cross, block, how = rows
    weights, words = matrix(causal, "weights"), ["میں", "ٹھیک", "ہوں"]
    for at, word in enumerate(words):
        assert all(weights[word, later] == 0 for later in words[at + 1 :])
    assert weights["میں", "میں"] == 1
    for mine, theirs in (("میں", "i"), ("ٹھیک", "good"), ("ہوں", "am")):
        mixed = recipe(cross, mine)
        assert max(mixed, key=lambda word: mixed[word]) == theirs
    assert sum(row["weight"] for row in block) == pytest.approx(1)
    assert len(how) == 2


def own_corpus(rows: Answers) -> None:
    trained, show, both, near = rows
    assert properties(trained)["model"] == "mine"
    assert properties(show)["axis taste"] > properties(show)["axis technology"]
    first, second = (by(both, "representation", sentence=number) for number in (1, 2))
    assert first["static"]["taste"] == pytest.approx(second["static"]["taste"])
    assert lead(first["general"], "technology", "taste") > 0
    assert lead(second["general"], "taste", "technology") > 0
    assert len(near) == 5


CLAIMS: list[Callable[[Answers], None]] = [
    counting, embeddings, averaged, corpus, recurrent, recipes, similarity, softmax, unknowable,
    lookup, matrices, root_of_d, training, order, several_heads, transformer, own_corpus,
]  # fmt: skip


@pytest.mark.parametrize(("name", "sense"), [("fruit", "fruit"), ("technology", "technology")])
def test_about_three_of_four_apples_of_a_bundled_text(name: str, sense: str) -> None:
    """Each apple of everyday.txt has a label; what only technology.txt has is about the company."""
    lines, labels = (
        (corpora_directory() / file).read_text(encoding="utf-8").splitlines()
        for file in ("everyday.txt", "everyday.senses.tsv")
    )
    rows = [label.split("\t") for label in labels if "\tapple\t" in label]
    known = {lines[int(line) - 1]: label for line, _, _, label in rows}
    text = (corpora_directory() / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    apples = [known.get(line, "technology") for line in text if "apple" in line.lower().split()]
    assert len(apples) > 500
    assert apples.count(sense) / len(apples) == pytest.approx(0.75, abs=0.05)


def test_every_chapter_makes_claims_that_are_tested() -> None:
    assert len(load_chapters()) == len(CLAIMS) == 17


@pytest.mark.parametrize("number", range(1, len(CLAIMS) + 1))
def test_each_claim_agrees_with_its_numbers(number: int, tmp_path: Path) -> None:
    chapter = load_chapter(number)
    outputs = printed(chapter, tmp_path)
    for step, output in zip(chapter.steps, outputs, strict=False):
        shown = [float(found) for found in NUMBER.findall(output)]
        for said in map(float, NUMBER.findall(step.look)):
            assert any(abs(said - number) < 2e-4 for number in shown), (step.line, said)
    CLAIMS[number - 1](read(chapter, tmp_path))


@pytest.mark.parametrize("number", range(1, len(CLAIMS) + 1))
def test_a_chapter_is_short_and_its_commands_work_anywhere(number: int) -> None:
    chapter = load_chapter(number)
    assert 3 <= len(re.findall(r"[.?!](?: |$)", re.sub(r"\d\.\d", "", chapter.text))) <= 9
    for step in (*chapter.steps, chapter.task):
        named = {"-m", "--vectors", "--weights", "--pairs"} & {*step.arguments}
        assert named or step.arguments[0] in ("vectorize", "train", "mix", "positions"), step.line
        assert step.look
