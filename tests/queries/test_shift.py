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
from ctxembed.context.sides import sides_of
from ctxembed.model.model import Model
from ctxembed.queries.shift import ShiftResult, find_background
from ctxembed.stats.many_tests import (
    benjamini_hochberg,
    compare_with_matched,
    probability_bounds,
)
from ctxembed.stats.permutation_test import (
    PermutationResult,
    bootstrap_interval,
    permutation_test,
    sum_by_unit,
)
from ctxembed.stats.vectors import unit
from ctxembed.word_senses.alignment import Aligned, align, rotation
from ctxembed.word_senses.sense_shares import split_distance
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
    direct = vectors_at(a, Representations.of(a).get("together"), positions)
    np.testing.assert_allclose(vectors, unit(direct))
    drawn = aligned.positions(0, word, 1000, np.random.default_rng(1))
    learned = vectors_at(a, Representations.of(a).get("learned"), drawn)
    np.testing.assert_allclose(aligned.embed(0, word, drawn, aligned.common), unit(learned))
    done = run("shift", "a", "b", "apple", "bank", "--min-count", "1")
    assert mentions(done.stderr, "same vectors learned attention encoder together")
    apple, bank = (line.split("\t") for line in done.stdout.splitlines()[1:])
    assert float(apple[12]) < 0.01 < 0.05 < float(bank[12])  # p_value
    shutil.rmtree(tmp_path / "b" / "attention")  # then what both have is general attention
    other = align(a, Model.open(tmp_path / "b"), 1)
    assert other.common is not None and other.common.name == "general"
    assert other.compared is other.common


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
    test = sum_by_unit(x, np.array(documents[:6]), y, np.array(documents[6:]))
    assert (test.first, test.counts.tolist()) == (3, [[3, 2, 1, 0, 0, 0], [0, 0, 0, 2, 1, 3]])
    tested = permutation_test(x, y, test, 4000, np.random.default_rng(1))
    assert tested.p_value == pytest.approx(by_hand(values, documents, 3), abs=0.03)
    assert tested.distance == pytest.approx(y.mean() - x.mean())
    # Single occurrences would be far too sure.
    alone = sum_by_unit(x, np.arange(6), y, np.arange(6, 12))
    assert permutation_test(x, y, alone, 999, np.random.default_rng(1)).p_value < tested.p_value / 5


def documents_of_one(rng: np.random.Generator, moved: float = 0.0) -> tuple[np.ndarray, ...]:
    """Two corpora of twenty documents, five occurrences each, that share what their document is."""
    documents = []
    for side in (0, 1):
        topics = np.repeat(rng.normal(size=(20, 3)), 5, axis=0)
        documents += [
            topics + 0.5 * rng.normal(size=(100, 3)) + moved * side,
            np.repeat(np.arange(20) + 20 * side, 5),
        ]
    return tuple(documents)


def test_the_false_alarm_rate_is_the_level() -> None:
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(200):
        x, of_x, y, of_y = documents_of_one(rng)
        p_values.append(permutation_test(x, y, sum_by_unit(x, of_x, y, of_y), 99, rng).p_value)
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.06)


def test_an_effect_and_its_interval() -> None:
    rng = np.random.default_rng(7)
    x, of_x, y, of_y = documents_of_one(rng, moved=2.0)
    test = sum_by_unit(x, of_x, y, of_y)
    tested = permutation_test(x, y, test, 999, rng)
    assert tested.p_value == pytest.approx(1 / 1000)
    expected = 2 * np.sqrt(3) / np.sqrt(3 * (1 + 0.25))  # distance over the spread, as made above
    assert tested.effect == pytest.approx(expected, rel=0.25)
    low, high = bootstrap_interval(test, tested, rng)
    assert low < tested.effect < high
    assert low < expected < high
    nothing = documents_of_one(rng)
    same = sum_by_unit(*nothing)
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
    " p_value q_value background excess excess_q from_shares from_senses shares_a shares_b change"
)
LABELS = ("word", "shares_a", "shares_b", "change")
EMPTY = ("background", "excess", "excess_q", "change")  # too few words to compare with


@pytest.mark.parametrize("form", ["tsv", "csv", "table", "markdown", "json", "jsonl"])
def test_output(run: Run, pair: Path, form: str) -> None:
    two = ["--senses", "2", "--precision", "6"]
    command = ["shift", "a", "b", "Apple", "bank", *two, *SMALL]
    plain = run(*command)
    assert (plain.returncode, plain.stderr.count("\n")) == (0, 3)
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
            {
                n: (c or None) if n in LABELS else json.loads(c or "null")
                for n, c in zip(cells[0], row, strict=True)
            }
            for row in cells[1:]
        ]


def test_fits_a_terminal(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", *SMALL, "-f", "table", env={"COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.splitlines()[0].split() == [
        "rank", "word", "effect", "p_value", "q_value", "shares_a", "shares_b",
    ]  # fmt: skip


def test_senses_are_counted_as_senses_does(tmp_path: Path, run: Run) -> None:
    """Thirty times each: two clear groups in bank, one in sweet, which has one sentence."""
    for name, fruit, money in (("a", 10, 30), ("b", 20, 10)):
        text = ["the bank money", "the apple sweet"] * money + ["the river bank quay"] * fruit
        write_tiny(tmp_path / name, text)
    done = run("shift", "a", "b", "bank", "sweet", *SMALL)
    bank, sweet = (line.split("\t") for line in done.stdout.splitlines()[1:])
    assert bank[-3:-1] == ["75 25", "33 67"]
    assert float(bank[17]) == pytest.approx(float(bank[7]), abs=1e-6)  # all of it is shares
    assert sweet[-3:-1] == ["100", "100"]


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
    static = run("shift", "a", "b", "-n", "1", "--sort", "static", *SMALL, "--no-header")
    assert static.stdout.split("\t")[:2] == ["1", "the"]
    rare = run("shift", "a", "b", "orange", *SMALL)
    assert rare.stdout.splitlines()[1].split("\t")[7:] == [""] * 15
    assert mentions(rare.stderr, "5~occurrences 2~documents corpus orange")


def test_one_unknown_word_among_many(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", "-", *SMALL, stdin="apple\nquay\n")
    assert done.returncode == 4
    assert done.stdout.count("\n") == 2
    assert mentions(done.stderr, "'quay' vocabulary")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["a"], "two~models --by", 2),
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
    aligned = Aligned(sides_of(a, b), rows, other)
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
    test = sum_by_unit(same, np.arange(8), same, np.arange(8, 16))
    assert permutation_test(same, same, test, 999, np.random.default_rng(1)).p_value == 1


def test_a_cluster_in_both_corpora_keeps_its_sides_apart() -> None:
    """Two authors a side and one of both: six choices of the first side, twice for the pair."""
    sums = {0: (5.0, None), 1: (4.0, None), 2: (None, 1.0), 3: (None, 2.0), 4: (6.0, 0.0)}
    x = np.array([[5.0], [4.0], [6.0]])
    y = np.array([[1.0], [2.0], [0.0]])
    units = sum_by_unit(x, np.array([0, 1, 4]), y, np.array([2, 3, 4]))
    assert (units.first, units.second, units.number) == (2, 2, 5)
    distances = []
    for first in combinations(range(4), 2):
        for side in (0, 1):
            own = [next(v for v in sums[unit] if v is not None) for unit in range(4)]
            a = [own[unit] for unit in first] + [(6.0, 0.0)[side]]
            b = [own[unit] for unit in range(4) if unit not in first] + [(0.0, 6.0)[side]]
            distances.append(abs(np.mean(a) - np.mean(b)))
    expected = np.mean(np.array(distances) >= abs(x.mean() - y.mean()) - 1e-9)
    tested = permutation_test(x, y, units, 3000, np.random.default_rng(1))
    assert tested.p_value == pytest.approx(expected, abs=0.05)
    assert tested.chance == pytest.approx(np.sqrt(np.mean(np.square(distances))), rel=0.2)


def test_bounds_of_a_p_value_hold() -> None:
    stats = pytest.importorskip("scipy.stats")
    hits, draws = np.array([0.0, 3, 10, 400]), np.array([999.0, 999, 50, 999])
    low, high = probability_bounds(hits, draws)
    np.testing.assert_allclose(high[0], 1 - 1e-4 ** (1 / 999), rtol=1e-6)
    assert (stats.binom.cdf(hits, draws, high) <= 1e-4 + 1e-9).all()
    assert (stats.binom.sf(hits - 1, draws, low) <= 1e-4 + 1e-9)[1:].all() and low[0] == 0
    assert (low <= hits / draws).all() and (hits / draws <= high).all()


def test_a_word_among_words_that_move_as_far() -> None:
    """Squares of normal vectors, as chance makes them, with a common shift: one word has more."""
    rng = np.random.default_rng(8)
    chances = rng.uniform(0.01, 0.2, 600)
    each = np.sqrt(chances / 30)[:, None] * rng.normal(size=(600, 30))
    each[:, 0] += 0.5
    each[7, 0] += 2
    found = compare_with_matched((each**2).sum(axis=1), chances, np.ones(600))
    assert found is not None
    assert found.effects == pytest.approx(0.5, abs=0.12)
    others = np.delete(found.p_values, 7)
    assert np.mean(others <= 0.05) == pytest.approx(0.05, abs=0.03)
    q_values = benjamini_hochberg(found.p_values)
    assert q_values[7] < 0.001 < 0.05 < np.delete(q_values, 7).min()
    assert compare_with_matched(chances[:9], chances[:9], np.ones(9)) is None


def test_a_new_sense_is_named_with_examples(tmp_path: Path, run: Run) -> None:
    write_tiny(tmp_path / "a", [*FRUIT, "the money", "the river bank"] * 30)
    write_tiny(tmp_path / "b", [*FRUIT, "the river bank", "the bank money"] * 20)
    two = ["shift", "a", "b", "bank", *SMALL, "--senses", "2", "-f", "json"]
    (row,) = json.loads(run(*two).stdout)
    assert row["change"].startswith("new: money")
    river, money = json.loads(run(*two, "--by-sense").stdout)
    assert (river["sense_count_a"], river["sense_count_b"], river["sense_change"]) == (30, 20, None)
    assert (money["share_a"], money["share_b"], money["sense_change"]) == (0, 0.5, "new")
    assert (money["examples_a"], money["examples_b"]) == ([], ["the [bank] money"])
    assert "[bank]" in river["examples_a"][0] and river["examples_b"]


def test_numbers_are_left_out(tmp_path: Path, run: Run) -> None:
    """Numbers of years differ between any two periods."""
    text = "In 1970 the apple fell. In 1970 it rained.\n" * 40
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(text)
        few = ["--static-only", "--dim", "2", "--min-count", "1", "--epochs", "1"]
        assert run("train", f"{name}.txt", "-o", name, *few).returncode == 0
    plain, every = (
        run("shift", "a", "b", "-n", "50", "--permutations", "9", *more, "-f", "json")
        for more in ([], ["--function-words"])
    )
    words = {row["word"] for row in json.loads(plain.stdout)}
    assert "apple" in words and not words & {"1970", "the"}
    assert {"1970", "the"} <= {row["word"] for row in json.loads(every.stdout)}


def test_one_space_for_two_texts(tmp_path: Path, run: Run) -> None:
    for name, line in (("a", "The river bank is wet."), ("b", "The bank lends money.")):
        (tmp_path / f"{name}.txt").write_text(f"{line}\n\n" * 60)
    joint = ["shift", "a.txt", "b.txt", "bank", "--joint", "--save", "kept", "-f", "json"]
    done = run(*joint)
    assert done.returncode == 0, done.stderr
    assert mentions(done.stderr, "one~space 540~words")
    (row,) = json.loads(done.stdout)
    assert (row["count_a"], row["count_b"], row["documents_a"]) == (60, 60, 60)
    assert row["static"] == pytest.approx(0, abs=1e-6)
    assert row["p_value"] < 0.05
    assert Model.open(tmp_path / "kept").tokens == 60 * 9
    assert run(*joint).returncode == 2  # it exists
    assert run(*joint, "--force").returncode == 0
    assert run("shift", "kept", "kept", "--save", "x").returncode == 2
    assert run("shift", "none.txt", "b.txt", "--joint").returncode == 5


def write_speeches(folder: Path) -> None:
    """Two parties of four speakers with three speeches each; a speaker has one habit."""
    (folder / "speeches").mkdir()
    rows = ["file\tparty\tspeaker"]
    for number in range(24):
        speaker = number // 3
        habit = ("The tax bank is money.", "The river bank is wet.")[speaker % 4 > 1]
        (folder / "speeches" / f"{number}.txt").write_text(f"{habit} We met.\n" * 5)
        rows.append(f"{number}.txt\t{'AB'[speaker // 4]}\ts{speaker}")
    (folder / "meta.tsv").write_text("\n".join(rows) + "\n")


def test_groups_of_one_model_and_clusters(tmp_path: Path, run: Run) -> None:
    """Both parties have two speakers of each habit: nothing differs, documents or speakers."""
    write_speeches(tmp_path)
    train = ["train", "speeches", "--meta", "meta.tsv", "-o", "m", "--static-only", "--dim", "4"]
    assert run(*train, "--min-count", "1", "--epochs", "1").returncode == 0
    plain = run("shift", "m", "--by", "party=A,B", "bank", "-f", "json", *SMALL)
    (row,) = json.loads(plain.stdout)
    assert (row["documents_a"], row["documents_b"]) == (12, 12)
    assert row["distance"] == pytest.approx(0, abs=1e-6)
    assert mentions(plain.stderr, "24~documents 8~values speaker --cluster")
    clustered = ["shift", "m", "--by", "party", "--cluster", "speaker", "-f", "json", *SMALL]
    done = run(*clustered, "bank")
    (row,) = json.loads(done.stdout)
    assert (row["documents_a"], row["documents_b"], row["p_value"]) == (4, 4, 1)
    assert "p-values are too small" not in done.stderr
    unlike = run("shift", "m", "--by", "speaker=s0,s2", "bank", "-f", "json", *SMALL)
    assert json.loads(unlike.stdout)[0]["distance"] > 0.02
    for wrong, message in (
        (["--by", "party=A,C"], "party=C"), (["--by", "party=A"], "two~values"),
        (["--by", "speaker"], "two~values"), (["--by", "colour=red,blue"], "'colour' speaker"),
        (["--by", "party=A,B", "--cluster", "colour"], "'colour'"),
        (["--by", "party<B"], "party<B year=1900..1949"),
        (["--by", "party=A,*"], "both"), (["--cluster", "party"], "two~models"),
    ):  # fmt: skip
        failed = run("shift", "m", *wrong)
        assert (failed.returncode, failed.stdout) == (2, ""), wrong
        assert mentions(failed.stderr, message)


def test_saved_senses_are_the_senses_of_two_groups(tmp_path: Path, run: Run) -> None:
    write_speeches(tmp_path)
    index = ["index", "speeches", "--meta", "meta.tsv", "-m", "everyday", "-o", "m"]
    assert run(*index).returncode == 0
    assert run("senses", "bank", "-m", "m", "--k", "2", "--save", "--names", "x,y").returncode == 0
    group = ["--by", "speaker=s0,s2", "bank", "-f", "json", *SMALL]
    (row,) = json.loads(run("shift", "m", *group).stdout)
    counts = [
        run("kwic", "bank", "-m", "m", "--no-header", "--where", f"speaker={s} and sense=x")
        .stdout.count("\n")
        for s in ("s0", "s2")
    ]  # fmt: skip
    assert sorted(counts) == [0, 15]  # speakers of different habits
    shares = sorted([row["shares_a"], row["shares_b"]])
    assert shares == ["x 0 y 100", "x 100 y 0"]
    (other,) = json.loads(run("shift", "m", *group, "--senses", "1").stdout)
    assert (other["shares_a"], other["shares_b"]) == ("100", "100")


def test_a_word_that_may_not_differ_has_no_excess() -> None:
    """Its 40 matches do not differ at all: it lies above them, though its q-value is 0.4."""

    still, far = (
        PermutationResult(distance, distance**2, 1.0, 100, beyond, 1.0)
        for distance, beyond in ((0.1, 99), (1.0, 40))
    )
    tests = dict.fromkeys(range(40), still) | {40: far}
    backgrounds, excess_q = find_background(tests, {}, {40: 0.4} | dict.fromkeys(range(40), 1.0))
    assert (backgrounds[40], excess_q[40]) == (0, 0.4)
    row = ShiftResult("w", (9, 9), 0.0, 1, test=far, background=0.0)
    assert row.excess == pytest.approx(0.99**0.5)  # 1 less chance, which is 0.01


def test_words_that_have_not_moved_are_not_above_others() -> None:
    rng = np.random.default_rng(4)
    rounding = 1e-15 * rng.random(60)
    for squares in (rounding, np.full(60, 0.001)):  # 0 but for rounding; below chance
        compared = compare_with_matched(squares, np.full(60, 0.01), np.ones(60))
        assert compared is not None
        np.testing.assert_array_equal(compared.p_values, 1)
    still = compare_with_matched(rounding, np.zeros(60), np.ones(60))
    assert still is not None and still.p_values.min() == 1


def test_all_arrangements_of_three_and_three_documents() -> None:
    """Two of the twenty are as extreme, however the ties are rounded."""
    rng, documents = np.random.default_rng(5), np.arange(3)
    x = np.array([[0.1, 0.7]] * 3, np.float32) + 1e-7 * rng.random((3, 2))
    y = np.array([[0.3, 0.7]] * 3, np.float32) + 1e-7 * rng.random((3, 2))
    test = permutation_test(x, y, sum_by_unit(x, documents, y, documents + 3), 99, rng)
    assert test.p_value == pytest.approx(0.1)
    assert not test.measurable and test.effect == 0  # of a spread that is rounding
