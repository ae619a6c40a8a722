"""A table is written to a file, in the format of its name."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run

LINE = ("neighbors", "phone", "-n", "1", "--precision", "1")
WRITTEN = {
    "a.tsv": "word\tneighbor\tcosine\trank\nphone\tlaunched\t0.8\t1\n",
    "a": "word\tneighbor\tcosine\trank\nphone\tlaunched\t0.8\t1\n",
    "a.csv": "word,neighbor,cosine,rank\nphone,launched,0.8,1\n",
    "a.jsonl": '{"word": "phone", "neighbor": "launched", "cosine": 0.8, "rank": 1}\n',
    "a.md": "| word  | neighbor | cosine | rank |\n|-------|----------|--------|------|\n"
    "| phone | launched |    0.8 |    1 |\n",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_to_a_file(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("what was there before")
    done = run(*LINE, "-o", name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / name).read_text() == WRITTEN[name]
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_the_format_option_wins_over_the_file_name(run: Run, tmp_path: Path) -> None:
    assert run(*LINE, "-o", "a.csv", "-f", "json").returncode == 0
    assert json.loads((tmp_path / "a.csv").read_text())[0]["neighbor"] == "launched"


def test_a_failure_leaves_the_old_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("old")
    assert run("neighbors", "appel", "-o", "a.tsv").returncode == 4
    assert (tmp_path / "a.tsv").read_text() == "old"
    done = run(*LINE, "-o", "no/a.tsv")
    assert (done.returncode, done.stderr) == (2, "ctxembed: -o no/a.tsv: no such directory\n")


def test_all_matrices_go_to_one_file(run: Run, tmp_path: Path) -> None:
    line = ("explain", "phone fruit", "--vectors", "phone-fruit", "--steps", "-f", "table")
    assert run(*line, "-o", "a.txt").stdout == ""
    assert (tmp_path / "a.txt").read_text() == run(*line).stdout
