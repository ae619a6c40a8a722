"""Collocates and keywords against scipy and counts by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctxembed.stats.association import Spread, log_likelihood, log_ratio
from tests.conftest import TEXT, Run, mentions


def test_log_likelihood_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.integers(0, 50, 2).tolist()
        size_a, size_b = rng.integers(100, 1000, 2).tolist()
        statistic = log_likelihood(np.array([float(a)]), size_a, np.array([float(b)]), size_b)[0]
        if a + b:
            table = [[a, size_a - a], [b, size_b - b]]
            expected = stats.chi2_contingency(table, False, lambda_="log-likelihood").statistic
            assert statistic == pytest.approx(expected, abs=1e-9)


def test_log_ratio_by_hand() -> None:
    ratio = log_ratio(np.array([40.0]), 1000, np.array([5.0]), 500)
    assert ratio.tolist() == [2.0]  # 4 % against 1 %


def test_expected_documents_by_simulation() -> None:
    sizes = np.array([1, 3, 8, 20, 100])
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(5), sizes)
    seen = np.mean([len(np.unique(rng.choice(owner, 7))) for _ in range(20_000)])
    assert Spread(sizes).of(7, 3) == pytest.approx(3 / seen, rel=0.01)


def test_collocates_by_hand(run: Run) -> None:
    rows = json.loads(
        run("collocates", "bank", "--min-count", "1", "--min-documents", "1", "--all", "--window",
            "1", "-f", "json").stdout
    )  # fmt: skip
    # around bank: the, money (line 4), river, quay (line 5); "the" is more frequent elsewhere
    assert {row["collocate"]: row["count"] for row in rows} == {"money": 1, "river": 1, "quay": 1}
    (money,) = (row for row in rows if row["collocate"] == "money")
    tokens = sum(len(line.split()) for line in TEXT)
    assert money["expected"] == pytest.approx(4 * 1 / tokens)
    assert money["log_ratio"] == pytest.approx(np.log2((1 / 4) / (0.5 / (tokens - 4))))
    assert (money["documents"], money["word"]) == (1, "bank")


def test_rows_of_several_words_name_the_word(run: Run, often: Path) -> None:
    command = ("collocates", "-m", str(often), "--min-documents", "1", "-f", "table")
    one, two = (
        run(*command, *words, env={"COLUMNS": "120"}) for words in (["bank"], ["bank", "juice"])
    )
    assert one.stdout.split()[0] == "collocate"
    assert {line.split()[0] for line in two.stdout.splitlines()[2:]} == {"bank", "juice"}


def test_collocates_of_senses(run: Run, often: Path) -> None:
    command = ("collocates", "bank", "--by-sense", "-m", str(often), "-f", "json")
    rows = json.loads(run(*command).stdout)
    by_sense = {
        sense: {row["collocate"] for row in rows if row["sense"] == sense} for sense in (1, 2)
    }
    assert sorted(map(sorted, by_sense.values())) == [["money"], ["quay", "river"]]


def test_words_from_a_pipe(run: Run) -> None:
    done = run("collocates", "-", "--min-count", "1", "--min-documents", "1",
               stdin="river\nzebra\nthe apple\n")  # fmt: skip
    assert {line.split("\t")[0] for line in done.stdout.splitlines()[1:]} == {"river", "the apple"}
    assert done.returncode == 4 and mentions(done.stderr, "'zebra'")


def test_keywords_by_hand(run: Run, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("pear tree\npear juice\nblue pear\nblue sky\n")
    (tmp_path / "b.txt").write_text("blue car\nred car\nblue bus\nthe car\nblue sea\n")
    command = ("keywords", "a.txt", "b.txt", "--min-count", "2", "-f", "json")
    done = run(*command, cwd=tmp_path)
    assert mentions(done.stderr, "3~of 3~rows 15.13")
    rows = json.loads(done.stdout)
    assert [(row["word"], row["key_of"], row["count_a"], row["count_b"]) for row in rows] == [
        ("pear", "a", 3, 0),
        ("car", "b", 0, 3),
        ("blue", "b", 2, 3),
    ]
    pear = rows[0]
    assert pear["per_million_a"] == pytest.approx(3e6 / 8)
    assert pear["log_ratio"] == pytest.approx(np.log2((3 / 8) / (0.5 / 10)))
    assert (pear["documents_a"], pear["documents_b"]) == (3, 0)
    # Three occurrences over four documents of equal size: 4 (1 - (3/4)^3) by chance.
    assert pear["dispersion"] == pytest.approx(3 / (4 * (1 - 0.75**3)))
    lonely = run(
        *command[:3], "--min-count", "1", "--min-documents", "1", "-f", "json", cwd=tmp_path
    )
    assert "tree" in {row["word"] for row in json.loads(lonely.stdout)}
    assert "tree" not in {row["word"] for row in rows}
    against = run("keywords", str(tiny), "a.txt", "--min-count", "1", cwd=tmp_path)
    assert against.stdout.splitlines()[1].startswith("apple\ta\t3\t0\t")
    shown = run(*command[:-1], "table", cwd=tmp_path, env={"COLUMNS": "80"})
    assert max(map(len, shown.stdout.splitlines())) <= 80
