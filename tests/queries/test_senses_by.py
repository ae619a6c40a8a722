"""Senses over time: a trend that was planted, groups without a difference, clusters."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctxembed.model.model import Model
from ctxembed.queries.kwic import kwic
from ctxembed.queries.senses_by import senses_by
from ctxembed.text.corpus import Corpus
from ctxembed.training.index_ import index
from tests.conftest import Run

MONEY = [
    "The bank lends money and takes interest on loans.", "The bank pays interest on money.",
    "Loans from the bank cost money and interest.", "Money is in the bank as loans.",
]  # fmt: skip
RIVER = [
    "Boats on the river lie along the bank by the water.", "The river bank is under water.",
    "We swim from the bank in the water of the river.", "The bank of the river is in the water.",
]  # fmt: skip


@pytest.fixture(scope="module")
def speeches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of a model over 50 speeches: the bank of rivers falls from 90 to 10 %, evenly."""
    folder, rng = tmp_path_factory.mktemp("speeches"), np.random.default_rng(2)
    (folder / "in").mkdir()
    rows = ["file,year,day,speaker,party"]
    for number in range(50):
        year = 1900 + 2 * number
        lines = [
            (RIVER if rng.random() < 0.9 - 0.8 * number / 49 else MONEY)[rng.integers(4)]
            for _ in range(8)
        ]
        (folder / "in" / f"s{number}.txt").write_text("\n".join(lines) + "\n")
        party = "Red" if number % 2 else "Blue"
        rows.append(f"s{number},{year},{year}-03-04,S{number // 5},{party}")
    (folder / "meta.csv").write_text("\n".join(rows) + "\n")
    corpus = Corpus([str(folder / "in")])
    corpus.describe_files(str(folder / "meta.csv"))
    index("everyday", corpus, folder / "model")
    return folder / "model"


def test_planted_trend(speeches: Path) -> None:
    table = senses_by(speeches, "bank", "year", bin=20, k=2)
    assert list(dict.fromkeys(table["period"])) == [
        f"{year}-{year + 19}" for year in range(1900, 2000, 20)
    ]
    rows = table.records()
    assert [row["documents"] for row in rows] == 10 * [10]
    assert [row["count"] for row in rows] == 10 * [80]
    for row in rows:
        assert row["low"] <= row["share"] <= row["high"]
        assert row["per_million"] == pytest.approx(1e6 * row["count"] / row["words"])
    first = [row for row in rows if row["start"] == 1900]
    river = max(first, key=lambda row: float(row["share"]))["sense"]
    shares = [row["share"] for row in rows if row["sense"] == river]
    assert shares[0] > 0.7 and shares[-1] < 0.3
    one = next(row for row in rows if row["sense"] == river)
    assert one["trend"] == pytest.approx(-0.8, abs=0.15) and one["q_value"] <= 0.001


def test_shares_are_those_of_kwic(speeches: Path, tmp_path: Path) -> None:
    import shutil

    from ctxembed.queries.senses import senses

    folder = shutil.copytree(speeches, tmp_path / "m")
    senses(folder, "bank", k=2, save=True, names={1: "one", 2: "two"})
    lines = kwic(folder, "bank").records()
    table = senses_by(folder, "bank", "party")
    for row in table:
        mine = [line for line in lines if line["party"] == row["period"]]
        labels = [line["sense"] for line in mine]
        assert row["share"] == labels.count(row["sense"]) / len(labels)
        assert (row["count"], row["name"]) == (len(labels), ["one", "two"][row["sense"] - 1])
        assert row["start"] is row["trend"] is None
        assert row["p_value"] > 0.05  # parties alternate
    part = senses_by(folder, "bank", "party", cluster="speaker")
    assert set(part["share"]) == set(table["share"])


def test_clusters_and_dates(speeches: Path) -> None:
    table = senses_by(speeches, "bank", "day", bin=50, cluster="speaker", k=2)
    assert set(table["start"]) == {1900, 1950}
    assert all(row["low"] is not None for row in table)  # five speakers each
    assert max(table["p_value"]) < 0.01
    alone = senses_by(speeches, "bank", "year", bin=10, cluster="speaker", k=2)
    assert set(alone["low"]) == {None}  # one speaker in each decade
    where = json.loads(json.dumps(alone.records()))
    assert {row["documents"] for row in where} == {5}


def test_a_selection(speeches: Path) -> None:
    from ctxembed.model.selection import select

    table = senses_by(select(Model.open(speeches), "year<1940"), "bank", "year", bin=20, k=2)
    assert set(table["period"]) == {"1900-1919", "1920-1939"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "mood"], "no column 'mood'"),
        (["--by", "party", "--bin", "2"], "party holds texts"),
        (["--bin", "2"], "--bin and --cluster need --by COLUMN"),
        (["--by", "year", "--save"], "--save cannot be used with --by"),
    ],
)
def test_refusals(run: Run, speeches: Path, options: list[str], message: str) -> None:
    done = run("senses", "bank", *options, "-m", str(speeches))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_table_fits_a_terminal(run: Run, speeches: Path) -> None:
    line = ("senses", "bank", "--by", "year", "--bin", "20", "--k", "2", "-m", str(speeches))
    shown = run(*line, "-f", "table", env={"COLUMNS": "80"}).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    assert {"words", "documents", "per_million"} < {*run(*line).stdout.splitlines()[0].split("\t")}


def test_picture(run: Run, speeches: Path, tmp_path: Path) -> None:
    file = tmp_path / "bank.svg"
    for by, *size in (("year", "--bin", "20"), ("party",)):
        run("senses", "bank", "--by", by, *size, "--k", "2", "-m", str(speeches), "-o", str(file))
        drawn = file.read_text(encoding="utf-8")
        assert f"share of each sense by {by}" in drawn
        assert (' opacity="0.16"' in drawn) == (by == "year")  # a band around the lines
