"""The concordance: exact lines of the small fixed model, in every format and order."""

import json
import shutil
from pathlib import Path

import pytest

from ctxembed.output.concordance import line_up
from ctxembed.output.page import Page
from tests.conftest import Run

APPLE = [  # line, left, right: by eye from the text
    (1, "the", "juice sweet"),
    (2, "the", "orange"),
    (3, "the", "launched the phone"),
]


def test_tsv(run: Run) -> None:
    done = run("kwic", "apple")
    assert done.stdout == "file\tline\tleft\tword\tright\tsense\tmargin\n" + "".join(
        f"tiny.txt\t{line}\t{left}\tapple\t{right}\t\t\n" for line, left, right in APPLE
    )
    assert done.stderr == (
        "ctxembed: no senses are saved for apple: ctxembed senses apple --save finds them\n"
    )


def test_other_formats(run: Run) -> None:
    assert run("kwic", "apple", "-f", "csv").stdout.splitlines()[1] == (
        "tiny.txt,1,the,apple,juice sweet,,"
    )
    cells = run("kwic", "apple", "-f", "markdown").stdout.splitlines()[2].split("|")
    assert [cell.strip() for cell in cells[3:6]] == ["the", "apple", "juice sweet"]
    rows = json.loads(run("kwic", "river", "-f", "json").stdout)
    assert rows == [
        {
            "file": "tiny.txt", "line": 5, "left": "the", "word": "river", "right": "bank quay",
            "sense": None, "margin": None,
        }
    ]  # fmt: skip
    assert json.loads(run("kwic", "river", "-f", "jsonl").stdout) == rows[0]


def test_aligned_on_the_word(run: Run) -> None:
    # 27 characters of other columns and 6 gaps of 2 leave 21 of 60: 10 to the left, 11 to the right
    done = run("kwic", "bank", "-f", "table", env={"COLUMNS": "60"})
    assert done.stdout == (
        "file      line        left  word  right        sense  margin\n"
        "--------  ----  ----------  ----  -----------  -----  ------\n"
        "tiny.txt     4         the  bank  money\n"
        "tiny.txt     5   the river  bank  quay\n"
    )


def test_long_contexts_are_cut_towards_the_word() -> None:
    rows = [["a/very/long/path.txt", "7", "one two three four", "key", "five six seven", "", ""]]
    columns = ("file", "line", "left", "word", "right", "sense", "margin")
    head, _, line = line_up(columns, rows, "word", Page(width=64))
    assert line == "…ng/path.txt     7  …hree four  key   five six s…\n"
    assert head.index("word") == line.index("key")


def test_sides_and_sample(run: Run) -> None:
    assert run("kwic", "apple", "--side", "1").stdout.splitlines()[3] == (
        "tiny.txt\t3\tthe\tapple\tlaunched …\t\t"
    )
    one, two = (run("kwic", "the", "--max", "2", "--seed", "4").stdout for _ in "ab")
    assert one == two and len(one.splitlines()) == 3


def test_axes(run: Run) -> None:
    rows = json.loads(
        run("kwic", "apple", "--axis", "taste=orange", "--axis", "tech=phone", "-f", "json").stdout
    )
    fruit, phone = rows[1], rows[2]
    assert fruit["taste"] > phone["taste"] and fruit["tech"] < phone["tech"]


def test_order(run: Run) -> None:
    def rights(sort: str) -> list[str]:
        lines = run("kwic", "apple", "--sort", sort).stdout.splitlines()[1:]
        return [line.split("\t")[4] for line in lines]

    assert rights("right") == ["juice sweet", "launched the phone", "orange"]
    assert rights("left") == [right for _, _, right in APPLE]  # all the same word: as in the text


def test_senses(run: Run, often: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(often, place)
    at = ("-m", str(place))
    found = run("kwic", "bank", "--sort", "margin", *at)
    assert "2 senses found in 30 occurrences" in found.stderr
    run("senses", "bank", "--k", "2", "--save", *at)
    rows = json.loads(run("kwic", "bank", "-f", "json", *at).stdout)
    assert len(rows) == 30
    assert len({(row["sense"], row["right"]) for row in rows}) == 2  # money is one, quay the other
    assert all(row["margin"] > 0 for row in rows)
    one = json.loads(run("kwic", "bank", "--sense", "2", "-f", "json", *at).stdout)
    assert one == [row for row in rows if row["sense"] == 2]
    senses = [
        line.split("\t")[5]
        for line in run("kwic", "bank", "--sort", "sense", *at).stdout.split("\n")[1:-1]
    ]
    assert senses == ["1"] * 15 + ["2"] * 15
    wrong = run("kwic", "bank", "--sense", "3", *at)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--sense 3: bank has 2 here" in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["zebra"], 4, "'zebra' is not in the vocabulary"),
        (["apple", "--sense", "1"], 1, "'apple' occurs 3 times: too few"),
        (["apple", "--sort", "size"], 2, "'size' is not one of"),
        (["apple", "--axis", "taste"], 2, "write NAME=WORD"),
        (["apple", "--axis", "x=zebra"], 4, "--axis x: 'zebra'"),
    ],
)
def test_errors(run: Run, arguments: list[str], code: int, message: str) -> None:
    done = run("kwic", *arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
