"""Two corpora, one word: alignment, permutation and split by hand and against scipy."""

import json
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from ctxembed.ask.shift import Aligned, align, permute, rotation, split
from ctxembed.store.model import Model
from tests.conftest import WORDS, Run, write_tiny

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


def test_a_turned_copy_has_not_shifted(tmp_path: Path) -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))
    a, b = (write_tiny(tmp_path / name) for name in "ab")
    vectors = np.load(b / "vectors.npy")
    np.save(b / "vectors.npy", (vectors @ turn).astype(np.float32))
    aligned = align(Model.open(a), Model.open(b), 1)
    assert len(aligned.rows_a) == len(WORDS)
    np.testing.assert_allclose(aligned.distances, 0, atol=1e-6)
    word = aligned.place("Apple")
    one, other = (aligned.vectors(side, word, 10, np.random.default_rng(0)) for side in (0, 1))
    np.testing.assert_allclose(one, other)  # the same sentences: the same vectors


def test_the_split_is_exact_and_by_hand() -> None:
    """Senses at right angles, shares 3/4 and 1/4: all of it is shares."""
    e, f = np.eye(2)
    x, y = np.array([e, e, e, f]), np.array([e, f, f, f])
    labels = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    shares, senses, both = split(x, y, labels)
    assert (shares, senses) == pytest.approx((np.sqrt(0.5), 0))
    assert both.tolist() == [[0.75, 0.25], [0.25, 0.75]]
    # One sense that turned from e to f: all of it is the sense.
    shares, senses, _ = split(np.array([e, e]), np.array([f, f]), np.zeros(4, np.intp))
    assert (shares, senses) == pytest.approx((0, np.sqrt(2)))
    # A sense that the first corpus lacks is a matter of shares.
    shares, senses, _ = split(np.array([e, e]), np.array([e, f]), np.array([0, 0, 0, 1]))
    assert (shares, senses) == pytest.approx((np.sqrt(0.5), 0))
    # Nothing moved: nothing to split.
    assert split(x, x, np.array([0, 0, 0, 1] * 2))[:2] == (0.0, 0.0)


def test_the_parts_sum_to_the_whole() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(30, 3)) + 1
    shares, senses, _ = split(x, y, rng.integers(0, 3, 50))
    assert shares + senses == pytest.approx(np.linalg.norm(y.mean(0) - x.mean(0)))


def test_chance_without_permutations_agrees_with_it() -> None:
    """All 20 ways to deal six numbers out to two corpora: the mean of D² is what usage takes."""
    values = np.array([0.0, 1.0, 1.0, 3.0, 4.0, 9.0])
    squares = [
        (values[list(taken)].mean() - np.delete(values, taken).mean()) ** 2
        for taken in combinations(range(6), 3)
    ]
    assert np.mean(squares) == pytest.approx(values.var() * 6 / 5 * (1 / 3 + 1 / 3))


def test_p_values() -> None:
    rng = np.random.default_rng(3)
    same = rng.normal(size=(40, 4))
    distance, chance, p = permute(same[:20], same[20:] + 3, 199, rng)
    assert (distance > chance, p) == (True, 1 / 200)
    assert permute(same[:1], same[:1], 9, rng) == (0.0, 0.0, 1.0)
    p_values = [permute(one[:15], one[15:], 99, rng)[2] for one in rng.normal(size=(200, 40, 3))]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.06)  # uniform under H0


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Two models with the same vectors: apple is a fruit in a, a firm in b; bank is the same."""
    for name, text in TEXTS.items():
        write_tiny(tmp_path / name, text)
    return tmp_path


HEAD = "rank word count_a count_b static distance chance p_value from_shares from_senses"
ROWS = [
    "2 apple 8 8 0.000000 0.408438 0.166166 0.092000 0.408438 0.000000",
    "3 bank 6 6 0.000000 0.000000 0.193197 1.000000 0.000000 0.000000",
]
SHARES = [("shares_a", "shares_b"), ("25 75", "75 25"), ("50 50", "50 50")]
CELLS = [[*row.split(), *shares] for row, shares in zip([HEAD, *ROWS], SHARES, strict=True)]
TABLE = """\
rank  word   static  distance  p_value  from_shares  from_senses  shares_a  shares_b
----  -----  ------  --------  -------  -----------  -----------  --------  --------
   2  apple  0.0000    0.4084   0.0920       0.4084       0.0000  25 75     75 25
   3  bank   0.0000    0.0000   1.0000       0.0000       0.0000  50 50     50 50
"""
NOTES = """\
ctxembed: aligned on 10 shared words; rank is among them
ctxembed: 2 words were tested: by chance alone 0.1 of them have a p_value under 0.05
"""


@pytest.mark.parametrize("form", ["tsv", "csv", "table", "markdown", "json", "jsonl"])
def test_output(run: Run, pair: Path, form: str) -> None:
    json_too = ["--precision", "6"] if form == "csv" or "json" in form else []
    two = ["--senses", "2"]
    done = run("shift", "a", "b", "Apple", "bank", *two, *SMALL, "-f", form, *json_too, env=WIDE)
    assert (done.returncode, done.stderr) == (0, NOTES)
    if form in ("tsv", "csv"):
        mark = "\t" if form == "tsv" else ","
        assert done.stdout == "".join(mark.join(row) + "\n" for row in CELLS)
    elif form == "table":
        assert done.stdout == TABLE
    elif form == "markdown":
        cells = [[c.strip() for c in row.split("|")[1:-1]] for row in done.stdout.splitlines()]
        rounded = [[f"{float(c):.4f}" if "." in c else c for c in row] for row in CELLS]
        assert [cells[0], *cells[2:]] == rounded
    else:
        text = done.stdout if form == "json" else f"[{','.join(done.stdout.splitlines())}]"
        assert json.loads(text) == [
            {n: c if n in ("word", "shares_a", "shares_b") else json.loads(c) for n, c in pairs}
            for pairs in (list(zip(CELLS[0], row, strict=True)) for row in CELLS[1:])
        ]


def test_fits_a_terminal(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", *SMALL, "-f", "table", env={"COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.splitlines()[0].split() == [
        "rank", "word", "static", "distance", "p_value", "from_", "from_", "shares_a", "shares_b",
    ]  # fmt: skip


def test_senses_are_counted_as_senses_does(tmp_path: Path, run: Run) -> None:
    """Thirty times each: two clear groups in bank, one in sweet, which has one sentence."""
    for name, fruit, money in (("a", 10, 30), ("b", 20, 10)):
        text = ["the bank money", "the apple sweet"] * money + ["the river bank quay"] * fruit
        write_tiny(tmp_path / name, text)
    done = run("shift", "a", "b", "bank", "sweet", *SMALL)
    bank, sweet = (line.split("\t") for line in done.stdout.splitlines()[1:])
    assert bank[-2:] == ["75 25", "33 67"]
    assert float(bank[8]) == pytest.approx(float(bank[5]), abs=1e-6)  # all of it is shares
    assert sweet[-2:] == ["100", "100"]


def test_ranked_list(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", "-n", "3", *SMALL, "--no-header")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[:2] for row in rows] == [["1", "the"], ["2", "apple"], ["3", "bank"]]
    assert "--by usage ranks by how words are used" in done.stderr
    used = run("shift", "a", "b", "-n", "1", "--by", "usage", *SMALL, "--no-header")
    assert used.stdout.split("\t")[:2] == ["1", "apple"]
    assert "--by usage" not in used.stderr
    rare = run("shift", "a", "b", "orange", *SMALL)
    assert rare.stdout.splitlines()[1].split("\t")[5:] == [""] * 7
    assert "fewer than 5 occurrences, nothing to say of senses: orange" in rare.stderr


def test_one_unknown_word_among_many(run: Run, pair: Path) -> None:
    done = run("shift", "a", "b", "-", *SMALL, stdin="apple\nquay\n")
    assert done.returncode == 4
    assert done.stdout.count("\n") == 2
    assert "a: 'quay' is not in the vocabulary" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["a"], "Missing argument 'MODEL_B'", 2),
        (["a", "none"], "none: no such model", 3),
        (["a", "bare"], "bare has no corpus", 3),
        (["bare", "a"], "bare has no corpus", 3),
        (["a", "flat"], "a has 4 dimensions and flat 3; train both with the same --dim", 3),
        (["a", "b", "--min-count", "7"], "a and b share 2 words that occur 7 times in both", 3),
        (["a", "b", "quay", *SMALL], "a: 'quay' is not in the vocabulary", 4),
        (["a", "b", "sweet", "--min-count", "3"], "'sweet' does not occur 3 times in both", 4),
        (["a", "b", "--senses", "0"], "--senses 0: give a number from 1 to 50, or auto", 2),
        (["a", "b", "-", *SMALL], "nothing to do: stdin was empty", 2),
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
    assert message in done.stderr


def test_words_only_one_corpus_has_are_not_looked_at(pair: Path) -> None:
    """bank is rare, so `the river bank` must come out like `the river`."""
    a, b = (Model.open(pair / name) for name in "ab")
    rows = np.array([a.row(word) for word in WORDS if word != "bank"], np.intp)
    other = np.array([b.row(a.vocab[row]) for row in rows], np.intp)
    aligned = Aligned(a, b, rows, other)
    river = aligned.vectors(0, aligned.place("river"), 9, np.random.default_rng(1))
    np.testing.assert_allclose(river, np.broadcast_to(river[0], river.shape))
    assert "bank" not in aligned.places
