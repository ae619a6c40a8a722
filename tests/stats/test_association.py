"""Collocates and keywords against scipy and counts by hand."""

import json
import tracemalloc
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ctxembed.stats.association import Spread, log_likelihood, log_ratio
from ctxembed.stats.many_tests import benjamini_hochberg
from ctxembed.stats.rate_test import UnitCounts
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
    places = {row["collocate"]: (row["left"], row["right"], row["position"]) for row in rows}
    assert places == {"money": (0, 1, "R1"), "river": (1, 0, "L1"), "quay": (0, 1, "R1")}
    (money,) = (row for row in rows if row["collocate"] == "money")
    tokens = sum(len(line.split()) for line in TEXT)
    assert money["expected"] == pytest.approx(4 * 1 / tokens)
    assert money["log_ratio"] == pytest.approx(np.log2((1 / 4) / (0.5 / (tokens - 4))))
    assert (money["documents"], money["word"]) == (1, "bank")
    assert money["mi"] == pytest.approx(np.log2(tokens / 4))
    assert money["t_score"] == pytest.approx(1 - 4 / tokens)
    assert money["log_dice"] == pytest.approx(14 + np.log2(2 / (2 + 1)))
    done = run("collocates", "bank", "--min-count", "1", "--min-documents", "1", "--all",
               "--position", "L1", "-f", "json")  # fmt: skip
    assert {row["collocate"] for row in json.loads(done.stdout)} == {"river", "the"}
    assert run("collocates", "bank", "--position", "M1").returncode == 2


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
    assert mentions(done.stderr, "0~of 3~rows q_value")
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
    bundled = run("keywords", "everyday", "apple.txt", cwd=tmp_path)  # both come with ctxembed
    assert mentions(bundled.stderr, "37300~documents b: 20~words"), bundled.stderr
    lonely = run(
        *command[:3], "--min-count", "1", "--min-documents", "1", "-f", "json", cwd=tmp_path
    )
    assert "tree" in {row["word"] for row in json.loads(lonely.stdout)}
    assert "tree" not in {row["word"] for row in rows}
    against = run("keywords", str(tiny), "a.txt", "--min-count", "1", cwd=tmp_path)
    assert against.stdout.splitlines()[1].startswith("apple\ta\t3\t0\t")
    shown = run(*command[:-1], "table", cwd=tmp_path, env={"COLUMNS": "80"})
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_rates_of_permuted_documents_by_hand() -> None:
    """Five documents, two of the first corpus: ten choices, each computed with fractions."""
    counts, sizes = [[4, 3, 0, 1, 0], [1, 1, 2, 1, 1]], [10, 20, 30, 20, 10]
    both = [csr_matrix(np.array(counts) * side) for side in ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1])]
    units = UnitCounts(both, np.array([[10, 20, 0, 0, 0], [0, 0, 30, 20, 10]], float))

    def score(word: list[int], first: tuple[int, ...]) -> Fraction:
        rates = [Fraction(count, size) for count, size in zip(word, sizes, strict=True)]
        a, b = ([rates[i] for i in range(5) if (i in first) == side] for side in (True, False))
        return abs(sum(a, Fraction()) / len(a) - sum(b, Fraction()) / len(b))

    expected = [
        np.mean([score(word, first) >= score(word, (0, 1)) for first in combinations(range(5), 2)])
        for word in counts
    ]
    p_values = units.p_values(5000, np.random.default_rng(1))
    assert p_values == pytest.approx(expected, abs=0.05)


def test_sizes_of_documents_make_no_difference() -> None:
    """Three documents of ten have the word once, all on the shorter side: one choice of twelve."""
    sizes = np.array([[90.0] * 5 + [0] * 5, [0.0] * 5 + [30] * 5])
    counts = csr_matrix([[0.0] * 5 + [1, 1, 1, 0, 0]])
    units = UnitCounts([counts * 0, counts], sizes)
    p_value = units.p_values(5000, np.random.default_rng(1))[0]
    assert p_value == pytest.approx(2 * 10 / 120, abs=0.04)  # 3 of 5 out of 10, on either side


def test_intervals_of_ratios_and_clusters() -> None:
    """Equal documents have no spread; a cluster of both corpora moves as one."""
    a = csr_matrix([[2.0, 2, 2, 0, 0, 0, 3]])
    b = csr_matrix([[0.0, 0, 0, 1, 1, 1, 1]])
    sizes = np.array([[10.0, 10, 10, 0, 0, 0, 10], [0, 0, 0, 10, 10, 10, 10]])
    units = UnitCounts([a[:, :6], b[:, :6]], sizes[:, :6])
    low, high = units.intervals(np.array([0]), np.random.default_rng(1))
    assert (low.tolist(), high.tolist()) == ([1.0], [1.0])
    assert units.testable and UnitCounts([a, b], sizes).testable
    # 20 choices of three documents, of which two are as far apart as this one.
    assert units.p_values(5000, np.random.default_rng(1))[0] == pytest.approx(2 / 20, abs=0.03)
    # With the cluster: its sides are exchanged in half of the permutations.
    paired = UnitCounts([a, b], sizes).p_values(5000, np.random.default_rng(1))[0]
    assert paired == pytest.approx(2 / 40, abs=0.02)


def test_intervals_are_computed_in_little_memory() -> None:
    """All weights of 40,000 documents at once are 320 MB; the ends are those of all at once."""
    rng = np.random.default_rng(3)
    counts = [
        csr_matrix(rng.poisson(0.01, (2, 40_000)) * half) for half in np.eye(2)[:, [0, 1] * 20_000]
    ]
    sizes = np.array([[100.0, 0], [0, 100.0]])[:, [0, 1] * 20_000]
    units = UnitCounts(counts, sizes)
    tracemalloc.start()
    low, high = units.intervals(np.array([0, 1]), np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
    rng = np.random.default_rng(1)  # the first corpus is drawn first
    drawn = [rng.multinomial(20_000, np.full(20_000, 1 / 20_000), 999) for _ in range(2)]
    a, b = (
        side[:, which::2] @ some.T
        for which, (side, some) in enumerate(zip(counts, drawn, strict=True))
    )
    expected = np.quantile(log_ratio(a, 2e6, b, 2e6), [0.025, 0.975], axis=1)
    np.testing.assert_allclose([low, high], expected)


def test_random_halves_have_few_keywords() -> None:
    """Words gather in documents: 5 % have a p-value up to 0.05, and none a q-value."""
    rng = np.random.default_rng(2)
    rates = rng.gamma(0.2, 5, (300, 80))  # the topics of documents
    counts = csr_matrix(rng.poisson(rates).astype(float))
    first = np.arange(80) < 40
    sizes = np.full(80, 500.0)
    units = UnitCounts([counts.multiply(side).tocsr() for side in (first, ~first)],
                       np.array([sizes * first, sizes * ~first]))  # fmt: skip
    p_values = units.p_values(999, rng)
    assert np.mean(p_values <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert benjamini_hochberg(p_values).min() > 0.05


def test_keywords_of_two_groups(run: Run, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    rows = ["file\tparty\tspeaker"]
    for number in range(12):
        word = ("tax", "river")[number % 2]
        (tmp_path / "texts" / f"{number}.txt").write_text(f"The {word} is near the bank.\n" * 4)
        rows.append(f"{number}.txt\t{'AB'[number % 2]}\ts{number // 2}")
    (tmp_path / "meta.tsv").write_text("\n".join(rows))
    train = ["train", "texts", "--meta", "meta.tsv", "-o", "m", "--static-only", "--dim", "2"]
    assert run(*train, "--min-count", "1", "--epochs", "1").returncode == 0
    done = run("keywords", "m", "--by", "party=A,B", "-f", "json")
    tax, river = json.loads(done.stdout)
    assert (tax["word"], tax["key_of"], tax["count_a"], tax["count_b"]) == ("tax", "a", 24, 0)
    assert tax["p_value"] < 0.01 and tax["low"] > 0 > river["high"]
    assert mentions(done.stderr, "12~documents 6~values speaker --cluster")
    clustered = run("keywords", "m", "--by", "party", "--cluster", "speaker", "-f", "json")
    # Every speaker has both, so half of the permutations exchange each: 2 of 64 are as extreme.
    assert json.loads(clustered.stdout)[0]["p_value"] == pytest.approx(2 / 64, abs=0.02)
    assert run("keywords", "m").returncode == run("keywords", "m", "m", "--by", "party").returncode
    assert run("keywords", "m", "--by", "colour").returncode == 2
    (tmp_path / "plain.txt").write_text("One line.\n")
    assert run("keywords", "plain.txt", "--by", "party").returncode == 2
