"""Lexical substitution: figures of a few items by hand, rows, intervals, bad files."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctxembed.evaluation.substitution import average_precision
from tests.conftest import Run, mentions, write_tiny

DATA = (
    "apple.n\t1\t1\tthe apple juice sweet\n"
    "apple.n\t2\t1\tthe apples launched the phone\n"
    "bank.n\t3\t1\tthe bank money\n"
    "bank.n\t4\t1\tthe bank river\n"  # nobody gave a substitute of one word
    "nosuch.v\t5\t0\tnosuch the river\n"
)
GOLD = (
    "apple.n 1 :: orange 3;sweet thing 2;juice 1;\n"
    "apple.n 2 :: phone 2;\n"
    "bank.n 3 :: money 1;river 1;\n"
    "bank.n 4 :: side of a river 3;\n"
    "nosuch.v 5 :: river 1;\n"
)
CANDIDATES = "apple.n::orange;phone;juice;apple;sweet thing;quince\nbank.n::money;river;sweet\n"
METRICS = ["gap", "p_at_1", "p_at_3", "r_at_10", "best", "oot"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in (("d.txt", DATA), ("g.txt", GOLD)):
        (tmp_path / name).write_text(text)
    (tmp_path / "c.txt").write_bytes(CANDIDATES.encode() + b"cent.n::\xa2;penny\n")
    return [str(tmp_path / name) for name in ("d.txt", "g.txt", "c.txt")]


def test_generalised_average_precision_by_hand() -> None:
    # weights 1, 0, 3: 1/1 and 4/3; at best 3/1 and 4/2
    assert average_precision([1, 0, 3], [3, 1]) == pytest.approx((1 + 4 / 3) / 5)
    assert average_precision([3, 1, 0], [3, 1]) == 1
    assert average_precision([0, 0], [3]) == 0
    assert average_precision([], [3]) == 0


def test_figures_by_hand(run: Run, files: list[str]) -> None:
    data, gold, candidates = files
    done = run("evaluate", "substitution", data, gold, "--candidates", candidates, "-f", "json")
    rows = {(r["metric"], r["representation"]): r for r in json.loads(done.stdout)}
    assert {metric for metric, _ in rows} == set(METRICS)
    representations = [
        "random",
        "static",
        "bag",
        "general",
        "substitutes",
    ]  # no output vectors: no balAdd
    assert [representation for metric, representation in rows if metric == "gap"] == representations
    static = rows["gap", "static"]
    assert (static["items"], static["missing"]) == (4, 1)
    # static apple: orange .949, juice .759, phone .316, quince unknown; bank: money .8, river .6
    one = 1.0  # orange 3, juice 1 in this order
    two = average_precision([0, 0, 2], [2])
    assert static["value"] == pytest.approx(np.mean([one, two, 1.0, 0.0]))
    # nearest to apple: orange, sweet, juice ...; to bank: money, then launched or river
    assert rows["p_at_1", "static"]["value"] == pytest.approx(np.mean([1, 0, 1, 0]))
    assert rows["best", "static"]["value"] == pytest.approx(np.mean([3 / 4, 0, 1 / 2, 0]))
    assert rows["r_at_10", "static"]["value"] == pytest.approx(np.mean([1, 1, 1, 0]))
    assert rows["oot", "static"]["value"] == pytest.approx(np.mean([1, 1, 1, 0]))
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows.values())
    assert "over static, paired" in done.stderr


def test_without_candidates_there_is_no_gap(run: Run, files: list[str]) -> None:
    done = run("evaluate", "substitution", *files[:2], "-f", "json", "--published")
    rows = json.loads(done.stdout)
    assert "gap" not in {row["metric"] for row in rows if row["source"] == "measured here"}
    assert [r["value"] for r in rows if r["representation"] == "XLNet + embeddings"] == [
        0.596,
        0.556,
    ]


def test_bal_add_needs_output_vectors(run: Run, files: list[str], tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "m")
    vectors = np.load(folder / "vectors.npy")
    np.save(folder / "output.npy", vectors)
    done = run("evaluate", "substitution", *files[:2], "-f", "json", "-m", str(folder))
    assert "balAdd" in {row["representation"] for row in json.loads(done.stdout)}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.txt", "apple.n 1 1 the apple\n", "d.txt line~1 target.pos"),
        ("d.txt", "apple.n\t1\t9\tthe apple\n", "d.txt line~1 target.pos"),
        ("g.txt", "apple.n :: x 1\n", "g.txt line~1 target.pos substitute"),
        ("g.txt", "apple.n 1 :: x y\n", "g.txt line~1 target.pos substitute"),
        ("g.txt", "pear.n 9 :: quince 1\n", "word substitute"),
        ("c.txt", "apple.n a;b\n", "c.txt line~1 expected 'target.pos::a;b;c'"),
    ],
)
def test_bad_files(run: Run, files: list[str], name: str, text: str, message: str) -> None:
    next(Path(file) for file in files if file.endswith(name)).write_text(text)
    done = run("evaluate", "substitution", *files[:2], "--candidates", files[2])
    assert (done.returncode, done.stdout) == (5, "")
    assert mentions(done.stderr, message)


def test_candidates_are_for_substitution_only(run: Run, files: list[str]) -> None:
    done = run("evaluate", "wic", *files[:2], "--candidates", files[2])
    assert done.returncode == 2
    assert mentions(done.stderr, "--candidates substitution")
