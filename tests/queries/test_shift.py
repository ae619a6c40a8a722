"""Two corpora, one word: alignment, permutation and split by hand and against scipy."""

import json
import re
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from ctxembed.context.occurrences import corpus_of
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.queries.shift import split_distance
from ctxembed.stats.permutation_test import (
    benjamini_hochberg,
    bootstrap_interval,
    permutation_test,
    sum_by_document,
)
from ctxembed.stats.vectors import unit
from ctxembed.word_senses.alignment import Aligned, align, rotation
from tests.conftest import WORDS, Run, mentions, write_tiny

SMALL = ["--min-count", "1"]
WIDE = {"COLUMNS": "120"}
BANK = ["the bank money", "the river bank"] * 3
FRUIT = ["the apple juice sweet", "the apple orange sweet"]
FIRM = ["apple launched the phone", "the phone apple launched"]
TEXTS = {"a": [*FRUIT * 3, *FIRM, *BANK], "b": [*FRUIT, *FIRM * 3, *BANK]}


def test_rotation_agrees_with_scipy() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(30, 5)), rng.normal(size=(30, 5))
    np.testing.assert_allclose(rotation(x, y), linalg.orthogonal_procrustes(x, y)[0])


def test_a_rotated_copy_has_not_shifted(tmp_path: Path) -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))
    a, b = (write_tiny(tmp_path / name) for name in "ab")
    vectors = np.load(b / "vectors.npy")
    np.save(b / "vectors.npy", (vectors @ turn).astype(np.float32))
    aligned = align(Model.open(a), Model.open(b), 1)
    assert len(aligned.rows_a) == len(WORDS)
    np.testing.assert_allclose(aligned.distances, 0, atol=1e-6)
    word = aligned.find("Apple")
    one, other = (aligned.vectors(side, word, 10, np.random.default_rng(0))[0] for side in (0, 1))
    np.testing.assert_allclose(one, other)  # the same sentences: the same vectors


def test_ready_vectors_need_no_alignment(run: Run, tmp_path: Path) -> None:
    """Two corpora on one ready model: its own attention, its own rows, no rotation."""
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text("\n\n".join(text * 4) + "\n")
        assert run("index", f"{name}.txt", "-m", "everyday", "-o", name).returncode == 0
    a, b = (Model.open(tmp_path / name) for name in "ab")
    aligned = align(a, b, 1)
    assert aligned.common is not None and aligned.common.name == "learned"
    np.testing.assert_array_equal(aligned.distances.round(6), 0)
    word = aligned.find("apple")
    vectors, _ = aligned.vectors(0, word, 1000, np.random.default_rng(1))
    positions = corpus_of(a).positions(a.vocabulary.row("apple"))
    direct = vectors_at(a, Representations.of(a).get("learned"), positions)
    np.testing.assert_allclose(vectors, unit(direct))
    done = run("shift", "a", "b", "apple", "bank", "--min-count", "1")
    assert mentions(done.stderr, "same vectors learned attention")
    apple, bank = (line.split("\t") for line in done.stdout.splitlines()[1:])
    assert float(apple[12]) < 0.01 < 0.05 < float(bank[12])  # p_value
    shutil.rmtree(tmp_path / "b" / "attention")  # then what both have is general attention
    assert align(a, Model.open(tmp_path / "b"), 1).common.name == "general"  # type: ignore[union-attr]


def test_the_split_is_exact_and_by_hand() -> None:
    """Senses at right angles, shares 3/4 and 1/4: all of it is shares."""
    e, f = np.eye(2)
    x, y = np.array([e, e, e, f]), np.array([e, f, f, f])
    labels = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    parts = split_distance(x, y, labels)
    assert (parts.from_shares, parts.from_senses) == pytest.approx((np.sqrt(0.5), 0))
    assert parts.shares.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    # One sense that turned from e to f: all of it is the sense.
    parts = split_distance(np.array([e, e]), np.array([f, f]), np.zeros(4, np.intp))
    assert (parts.from_shares, parts.from_senses) == pytest.approx((0, np.sqrt(2)))
    # A sense that the first corpus lacks is a matter of shares.
    parts = split_distance(np.array([e, e]), np.array([e, f]), np.array([0, 0, 0, 1]))
    assert (parts.from_shares, parts.from_senses) == pytest.approx((np.sqrt(0.5), 0))
    # Nothing moved: nothing to split.
    parts = split_distance(x, x, np.array([0, 0, 0, 1] * 2))
    assert (parts.from_shares, parts.from_senses) == (0.0, 0.0)


def test_the_parts_sum_to_the_whole() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(30, 3)) + 1
    parts = split_distance(x, y, rng.integers(0, 3, 50))
    assert parts.from_shares + parts.from_senses == pytest.approx(
        np.linalg.norm(y.mean(0) - x.mean(0))
    )


def by_hand(values: list[float], documents: list[int], first: int) -> float:
    """Deal out every way there is: the share that is at least as far apart as the truth."""
    each = {d: [v for v, of in zip(values, documents, strict=True) if of == d] for d in documents}

    def score(taken: tuple[int, ...]) -> float:
        a = [v for d in taken for v in each[d]]
        b = [v for d in each if d not in taken for v in each[d]]
        return float((np.mean(a) - np.mean(b)) ** 2 / (1 / len(a) + 1 / len(b)))

    truth = score(tuple(range(first)))
    deals = [score(taken) for taken in combinations(range(len(each)), first)]
    return float(np.mean([deal >= truth - 1e-9 for deal in deals]))


def test_whole_documents_are_permuted() -> None:
    """Six documents, three a corpus: 20 deals. Within a document all say nearly the same."""
    documents = [0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 5]
    values = [1.0, 1.1, 0.9, 2.0, 2.1, 0.0, 3.0, 3.1, 2.5, 4.0, 4.1, 4.2]
    x, y = np.array(values)[:6, None], np.array(values)[6:, None]
    test = sum_by_document(x, np.array(documents[:6]), y, np.array(documents[6:]))
    assert (test.first, test.counts.tolist()) == (3, [3, 2, 1, 2, 1, 3])
    tested = permutation_test(x, y, test, 4000, np.random.default_rng(1))
    assert tested.p_value == pytest.approx(by_hand(values, documents, 3), abs=0.03)
    assert tested.distance == pytest.approx(y.mean() - x.mean())
    # Single occurrences would be far too sure.
    alone = sum_by_document(x, np.arange(6), y, np.arange(6))
    assert permutation_test(x, y, alone, 999, np.random.default_rng(1)).p_value < tested.p_value / 5


def documents_of_one(rng: np.random.Generator, moved: float = 0.0) -> tuple[np.ndarray, ...]:
    """Two corpora of twenty documents, five occurrences each, that share what their document is."""
    documents = []
    for side in (0, 1):
        topics = np.repeat(rng.normal(size=(20, 3)), 5, axis=0)
        documents += [
            topics + 0.5 * rng.normal(size=(100, 3)) + moved * side,
            np.repeat(np.arange(20), 5),
        ]
    return tuple(documents)


def test_the_false_alarm_rate_is_the_level() -> None:
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(200):
        x, of_x, y, of_y = documents_of_one(rng)
        p_values.append(permutation_test(x, y, sum_by_document(x, of_x, y, of_y), 99, rng).p_value)
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.06)


def test_an_effect_and_its_interval() -> None:
    rng = np.random.default_rng(4)
    x, of_x, y, of_y = documents_of_one(rng, moved=2.0)
    test = sum_by_document(x, of_x, y, of_y)
    tested = permutation_test(x, y, test, 99, rng)
    assert tested.p_value == pytest.approx(1 / 10_000)  # more deals where it is small
    expected = 2 * np.sqrt(3) / np.sqrt(3 * (1 + 0.25))  # distance over the spread, as made above
    assert tested.effect == pytest.approx(expected, rel=0.25)
    low, high = bootstrap_interval(test, tested, rng)
    assert low < tested.effect < high
    assert low < expected < high
    nothing = documents_of_one(rng)
    same = sum_by_document(*nothing)
    assert (
        bootstrap_interval(same, permutation_test(nothing[0], nothing[2], same, 99, rng), rng)[0]
        == 0
    )


def test_q_values_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    p_values = np.random.default_rng(6).random(50) ** 2
    np.testing.assert_allclose(
        benjamini_hochberg(p_values), stats.false_discovery_control(p_values)
    )


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Two models with the same vectors: apple is a fruit in a, a firm in b; bank is the same."""
    for name, text in TEXTS.items():
        write_tiny(tmp_path / name, text)
    return tmp_path


HEAD = (
    "rank word count_a count_b documents_a documents_b static distance chance effect low high"
    " p_value q_value from_shares from_senses shares_a shares_b"
)
LABELS = ("word", "shares_a", "shares_b")


@pytest.mark.parametrize("form", ["tsv", "csv", "table", "markdown", "json", "jsonl"])
def test_output(run: Run, pair: Path, form: str) -> None:
    two = ["--senses", "2", "--precision", "6"]
    command = ["shift", "a", "b", "Apple", "bank", *two, *SMALL]
    plain = run(*command)
    assert (plain.returncode, plain.stderr.count("\n")) == (0, 2)
    assert mentions(plain.stderr, "2~words documents")
    cells = [line.split("\t") for line in plain.stdout.splitlines()]
    assert cells[0] == HEAD.split()
    apple, bank = (dict(zip(cells[0], row, strict=True)) for row in cells[1:])
    assert [apple["rank"], apple["word"], apple["documents_a"]] == ["1", "apple", "8"]  # lines
    assert (apple["shares_a"], apple["shares_b"]) == ("75 25", "25 75")
    assert (float(apple["distance"]), float(apple["from_senses"])) == pytest.approx((0.408438, 0))
    assert (bank["distance"], bank["p_value"], bank["effect"]) == (
        "0.000000",
        "1.000000",
        "0.000000",
    )
    p, q = float(apple["p_value"]), float(apple["q_value"])
    assert q == pytest.approx(min(2 * p, 1))
    assert float(apple["low"]) <= float(apple["effect"]) <= float(apple["high"])
    done = run(*command, "-f", form, env=WIDE)
    if form in ("tsv", "csv"):
        mark = "\t" if form == "tsv" else ","
        assert done.stdout == "".join(mark.join(row) + "\n" for row in cells)
    elif form == "table":
        assert [line.split()[1] for line in done.stdout.splitlines()[-2:]] == ["apple", "bank"]
    elif form == "markdown":
        result = [[c.strip() for c in row.split("|")[1:-1]] for row in done.stdout.splitlines()]
        assert [result[0], *result[2:]] == cells
    else:
        text = done.stdout if form == "json" else f"[{','.join(done.stdout.splitlines())}]"
        assert json.loads(text) == [
            {n: c if n in LABELS else json.loads(c) for n, c in zip(cells[0], row, strict=True)}
            for row in cells[1:]
        ]


def test_fits_a_terminal(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", *SMALL, "-f", "table", env={"COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.splitlines()[0].split() == [
        "rank", "word", "effect", "low", "high", "p_value", "q_value", "shares_a", "shares_b",
    ]  # fmt: skip


def test_senses_are_counted_as_senses_does(tmp_path: Path, run: Run) -> None:
    """Thirty times each: two clear groups in bank, one in sweet, which has one sentence."""
    for name, fruit, money in (("a", 10, 30), ("b", 20, 10)):
        text = ["the bank money", "the apple sweet"] * money + ["the river bank quay"] * fruit
        write_tiny(tmp_path / name, text)
    done = run("shift", "a", "b", "bank", "sweet", *SMALL)
    bank, sweet = (line.split("\t") for line in done.stdout.splitlines()[1:])
    assert bank[-2:] == ["75 25", "33 67"]
    assert float(bank[14]) == pytest.approx(float(bank[7]), abs=1e-6)  # all of it is shares
    assert sweet[-2:] == ["100", "100"]


def test_names_of_senses(tmp_path: Path, run: Run) -> None:
    """The first model has named the senses of bank; its names stand before the shares."""
    one, other = (str(write_tiny(tmp_path / name, TEXTS[name] * 8)) for name in "ab")
    done = run("senses", "bank", "--k", "2", "--save", "-m", one, "-f", "json")
    order = [row["markers"][0] for row in json.loads(done.stdout)]
    names = [f"--name={number}=by {marker}" for number, marker in enumerate(order, 1)]
    assert run("senses", "bank", *names, "-m", one).returncode == 0
    done = run("shift", one, other, "bank", *SMALL, "--senses", "2", "-f", "json")
    (row,) = json.loads(done.stdout)
    assert set(re.findall("by [a-z]+ 50", row["shares_a"])) == {"by river 50", "by money 50"}
    picture = run("shift", one, other, "bank", *SMALL, "--senses", "2", "-f", "svg").stdout
    assert "by river" in picture


def test_ranked_list(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", "-n", "3", *SMALL, "--no-header")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert "the" not in {row[1] for row in rows}
    everything = run("shift", "a", "b", "-n", "30", *SMALL, "--no-header").stdout
    assert "\tthe\t" not in everything
    assert "\tthe\t" in run("shift", "a", "b", "--function-words", *SMALL).stdout
    static = run("shift", "a", "b", "-n", "1", "--by", "static", *SMALL, "--no-header")
    assert static.stdout.split("\t")[:2] == ["1", "the"]
    rare = run("shift", "a", "b", "orange", *SMALL)
    assert rare.stdout.splitlines()[1].split("\t")[7:] == [""] * 11
    assert mentions(rare.stderr, "5~occurrences 2~documents corpus orange")


def test_one_unknown_word_among_many(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", "-", *SMALL, stdin="apple\nquay\n")
    assert done.returncode == 4
    assert done.stdout.count("\n") == 2
    assert mentions(done.stderr, "'quay' vocabulary")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["a"], "Missing argument 'MODEL_B'", 2),
        (["a", "none"], "model", 3),
        (["a", "bare"], "corpus bare", 3),
        (["bare", "a"], "corpus bare", 3),
        (["a", "flat"], "4~dimensions 3 --dim", 3),
        (["a", "b", "--min-count", "7"], "share 2~words 7~times", 3),
        (["a", "b", "quay", *SMALL], "'quay' vocabulary", 4),
        (["a", "b", "sweet", "--min-count", "3"], "'sweet' 3~times", 4),
        (["a", "b", "--senses", "0"], "--senses 0 1~to~50", 2),
        (["a", "b", "-", *SMALL], "stdin empty", 2),
    ],
)
def test_errors(run: Run, pair: Path, arguments: list[str], message: str, code: int) -> None:
    shutil.copytree(pair / "a", pair / "bare")
    shutil.rmtree(pair / "bare" / "index")
    flat = pair / "flat"
    shutil.copytree(pair / "a", flat)
    np.save(flat / "vectors.npy", np.load(flat / "vectors.npy")[:, :3])
    meta = json.loads((flat / "model.json").read_text())
    (flat / "model.json").write_text(json.dumps({**meta, "dim": 3}))
    done = run("shift", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)


def test_words_only_one_corpus_has_are_not_looked_at(pair: Path) -> None:
    """bank is rare, so `the river bank` must come out like `the river`."""
    a, b = (Model.open(pair / name) for name in "ab")
    rows = np.array([a.vocabulary.row(word) for word in WORDS if word != "bank"], np.intp)
    other = np.array([b.vocabulary.row(a.vocabulary.words[row]) for row in rows], np.intp)
    aligned = Aligned(a, b, rows, other)
    river, _ = aligned.vectors(0, aligned.find("river"), 9, np.random.default_rng(1))
    np.testing.assert_allclose(river, np.broadcast_to(river[0], river.shape))
    assert aligned.shared[0][a.vocabulary.row("bank")] == -1


def test_rare_words_are_no_context(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """the, apple, bank are frequent in both; river is not: no context, but itself."""
    a, b = (Model.open(pair / name) for name in "ab")
    assert align(a, b, 1).known.all()  # the most frequent thousand always are
    monkeypatch.setattr("ctxembed.word_senses.alignment.MIN_CONTEXT_WORDS", 2)
    monkeypatch.setattr("ctxembed.word_senses.alignment.MIN_CONTEXT_COUNT", 6)
    aligned = align(a, b, 1)
    assert {a.vocabulary.words[row] for row in aligned.rows_a[aligned.known]} == {
        "the", "apple", "bank",
    }  # fmt: skip
    bank, _ = aligned.vectors(0, aligned.find("bank"), 9, np.random.default_rng(1))
    np.testing.assert_allclose(bank, np.broadcast_to(bank[0], bank.shape))  # money or river: alike
    river, _ = aligned.vectors(0, aligned.find("river"), 9, np.random.default_rng(1))
    own = aligned.attention.inputs[aligned.find("river")]
    assert (river @ own > 0.3).all()


def test_rare_words_are_tested_on_request(tmp_path: Path, run: Run) -> None:
    for name in "ab":
        write_tiny(tmp_path / name, ["the bank money", "the river bank"] * 15 + FRUIT * 3)
    command = ["shift", "a", "b", "--no-header", "-n", "30"]
    some, every = run(*command), run(*command, "--min-count", "5")
    assert [line.split("\t")[1] for line in some.stdout.splitlines()] == ["bank"]
    assert mentions(some.stderr, "corpus 20~times")
    assert "apple" in {line.split("\t")[1] for line in every.stdout.splitlines()}
    assert run("shift", "a", "b", "apple", "--no-header").stdout.split("\t")[1] == "apple"


def test_permutations_stop_after_twenty_as_large_effects() -> None:
    """Every deal of equal documents is as far: twenty deals are enough, and p is 1."""
    same = np.ones((8, 2))
    test = sum_by_document(same, np.arange(8), same, np.arange(8))
    assert permutation_test(same, same, test, 999, np.random.default_rng(1)).p_value == 1
