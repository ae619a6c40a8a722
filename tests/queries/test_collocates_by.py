"""The company of a word in two groups of documents: counts and permutations by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Run, mentions

LINES = {"A": "The tax bank lends money.", "B": "The river bank is wet."}


@pytest.fixture
def speeches(tmp_path: Path, run: Run) -> Path:
    """Twelve speeches of two parties, six of each; every speaker has spoken for both."""
    (tmp_path / "texts").mkdir()
    rows = ["file\tparty\tspeaker"]
    for number in range(12):
        party = "AB"[number % 2]
        text = f"{LINES[party]} We met near the bank.\n" * 4
        (tmp_path / "texts" / f"{number}.txt").write_text(text)
        rows.append(f"{number}.txt\t{party}\ts{number // 2}")
    (tmp_path / "meta.tsv").write_text("\n".join(rows))
    train = ["train", "texts", "--meta", "meta.tsv", "-o", "m", "--static-only", "--dim", "3"]
    assert run(*train, "--min-count", "1", "--epochs", "1").returncode == 0
    return tmp_path


def test_collocates_of_two_groups(run: Run, speeches: Path) -> None:
    command = ["collocates", "bank", "-m", "m", "-f", "json"]
    done = run(*command, "--by", "party=A,B")
    rows = {row["collocate"]: row for row in json.loads(done.stdout)}
    assert set(rows) == {"tax", "lends", "money", "river", "wet"}
    tax, river = rows["tax"], rows["river"]
    assert (tax["count_a"], tax["count_b"], tax["documents_a"], tax["documents_b"]) == (24, 0, 6, 0)
    assert tax["log_dice_a"] == pytest.approx(14 + np.log2(2 * 24 / (48 + 24)))
    assert (tax["log_dice_b"], river["log_dice_a"]) == (None, None)
    # All six speeches of a party have it: 2 of the 924 choices of six are as extreme.
    assert tax["p_value"] == pytest.approx(2 / 924, abs=0.0015)
    assert tax["low"] > 0 > river["high"] and tax["log_ratio"] > 1 > -1 > river["log_ratio"]
    assert mentions(done.stderr, "48~in A 48~in B 12~documents 6~values --cluster speaker")
    # Each speaker has both: the two sides are exchanged in half of the permutations.
    clustered = json.loads(run(*command, "--by", "party", "--cluster", "speaker").stdout)
    assert clustered[0]["p_value"] == pytest.approx(2 / 64, abs=0.02)
    picture = run(*command[:-1], "svg", "--by", "party=A,B").stdout
    assert "river" in picture and "log2 of the ratio" in picture
    (left,) = json.loads(run(*command, "--by", "party", "--position", "L1", "-n", "1").stdout)[:1]
    assert left["collocate"] == "tax"


def test_two_models(run: Run, speeches: Path) -> None:
    one, other = (
        json.loads(run("collocates", "bank", *more, "-f", "json").stdout)
        for more in (["-m", "m", "--against", "m"], ["-m", "m", "--by", "party=A,B"])
    )
    assert one == []  # nothing differs, so nothing is on either side
    assert other


def test_words_nearest_to_the_mean_of_each_group(run: Run, speeches: Path) -> None:
    command = ["collocates", "bank", "-m", "m", "--by", "party=A,B", "--nearest", "-f", "json"]
    rows = json.loads(run(*command, "-n", "3", "--min-count", "1").stdout)
    assert rows and {row["word"] for row in rows} == {"bank"}
    ratios = [row["ratio"] for row in rows]
    assert ratios == sorted(ratios, reverse=True)
    for row in rows:
        expected = max(row["cosine_a"], 0.01) / max(row["cosine_b"], 0.01)
        assert row["ratio"] == pytest.approx(expected)
        assert 0 < row["ratio_p"] <= row["ratio_q"] <= 1


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--nearest"], "--nearest --by", 2),
        (["--cluster", "speaker"], "--cluster --by", 2),
        (["--by", "party", "--by-sense"], "--by-sense", 2),
        (["--by", "party", "--against", "m"], "two~models", 2),
        (["--by", "party=A,X"], "party=X", 2),
        (["--against", "none"], "none", 3),
    ],
)
def test_errors(run: Run, speeches: Path, options: list[str], message: str, code: int) -> None:
    done = run("collocates", "bank", "-m", "m", *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)
    unknown = run("collocates", "zebra", "-m", "m", "--by", "party")
    assert unknown.returncode == 4


@pytest.mark.parametrize("options", [[], ["--nearest"]])
def test_a_small_corpus_with_many_vectors(run: Run, speeches: Path, options: list[str]) -> None:
    """Each word of a few short files is frequent there, however many words have vectors."""
    indexed = run("index", "texts", "--meta", "meta.tsv", "-m", "everyday", "-o", "own")
    assert indexed.returncode == 0
    command = ["collocates", "bank", "-m", "own", "--by", "party=A,B", "-f", "json"]
    done = run(*command, "--cluster", "speaker", *options, "--min-count", "1")
    rows = json.loads(done.stdout)
    if options:
        assert "met" in {row["neighbor"] for row in rows}
    else:
        assert {"tax", "money", "river", "wet"} <= {row["collocate"] for row in rows}
    none = run(*command, "--nearest", "--min-count", "1000")
    assert "fewer than 5" not in none.stderr
