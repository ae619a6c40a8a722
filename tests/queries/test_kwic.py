"""The concordance: exact lines of the small fixed model, in every format and order."""

import csv
import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxembed.context.hits import has_pieces
from ctxembed.output.cells import Page
from ctxembed.output.render import line_up
from ctxembed.queries.kwic import KWIC
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.train import train
from tests.conftest import Run, mentions

APPLE = [  # line, left, right: by eye from the text
    (1, "the", "juice sweet"),
    (2, "the", "orange"),
    (3, "the", "launched the phone"),
]


def test_tsv(run: Run, tiny: Path) -> None:
    done = run("kwic", "apple")
    assert done.stdout == "word\tfile\tline\tleft\thit\tright\tsense\tmargin\n" + "".join(
        f"apple\ttiny.txt\t{line}\t{left}\tapple\t{right}\t\t\n" for line, left, right in APPLE
    )
    assert done.stderr == (
        "ctxembed: this model keeps no text: bare words are shown; train again to quote as"
        " written\n"
        "ctxembed: apple: 3 occurrences in 3 documents\n"
        f"ctxembed: no senses are saved for apple: ctxembed senses apple -m {tiny} --save"
        " finds them\n"
    )


def test_other_formats(run: Run) -> None:
    assert run("kwic", "apple", "-f", "csv").stdout.splitlines()[1] == (
        "apple,tiny.txt,1,the,apple,juice sweet,,"
    )
    cells = run("kwic", "apple", "-f", "markdown").stdout.splitlines()[2].split("|")
    assert [cell.strip() for cell in cells[4:7]] == ["the", "apple", "juice sweet"]
    rows = json.loads(run("kwic", "river", "-f", "json").stdout)
    assert rows == [
        {
            "word": "river", "file": "tiny.txt", "line": 5, "left": "the", "hit": "river",
            "right": "bank quay", "sense": None, "margin": None,
        }
    ]  # fmt: skip
    assert json.loads(run("kwic", "river", "-f", "jsonl").stdout) == rows[0]


def test_aligned_on_the_word(run: Run) -> None:
    # 16 characters of other columns and 4 gaps of 2 leave 36 of 60: 18 to the left, 18 to the right
    done = run("kwic", "bank", "-f", "table", env={"COLUMNS": "60"})
    assert done.stdout == (
        "file      line                left  hit   right\n"
        "--------  ----  ------------------  ----  ------------------\n"
        "tiny.txt     4                 the  bank  money\n"
        "tiny.txt     5           the river  bank  quay\n"
    )


def test_long_contexts_are_cut_towards_the_word() -> None:
    rows = [["a/very/long/path.txt", "7", "one two three four", "key", "five six seven", "", ""]]
    head, _, line = line_up(KWIC[1:], rows, Page(width=49))
    assert line == "…ng/path.txt     7  …three four  key  five six s…\n"
    assert head.index("hit") == line.index("key")


def test_wide_letters_take_two_columns() -> None:
    rows = [["a.txt", "7", "我们去北京", "大学", "看看他们的书", "", ""]]
    *_, line = line_up(KWIC[1:], rows, Page(width=38))
    assert line == "a.txt     7   …去北京  大学  看看他们…\n"


def test_sides_and_sample(run: Run) -> None:
    assert run("kwic", "apple", "--width", "12").stdout.splitlines()[3] == (
        "apple\ttiny.txt\t3\tthe\tapple\tlaunched the\t\t"
    )
    assert run("kwic", "apple", "--width", "0").stdout.splitlines()[3] == (
        "apple\ttiny.txt\t3\t\tapple\t\t\t"
    )
    assert len(run("kwic", "the", "-n", "2").stdout.splitlines()) == 3
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
        return [line.split("\t")[5] for line in lines]

    assert rights("right") == ["juice sweet", "launched the phone", "orange"]
    assert rights("left") == [right for _, _, right in APPLE]  # all the same word: as in the text


def test_senses(run: Run, often: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(often, folder)
    at = ("-m", str(folder))
    result = run("kwic", "bank", "--sort", "margin", *at)
    assert mentions(result.stderr, "2~senses 30~occurrences")
    run("senses", "bank", "--k", "2", "--save", *at)
    rows = json.loads(run("kwic", "bank", "-f", "json", *at).stdout)
    assert len(rows) == 30
    assert len({(row["sense"], row["right"]) for row in rows}) == 2  # money is one, quay the other
    assert all(row["margin"] > 0 for row in rows)
    one = json.loads(run("kwic", "bank", "--where", "sense=2", "-f", "json", *at).stdout)
    assert one == [row for row in rows if row["sense"] == 2]
    senses = [
        line.split("\t")[6]
        for line in run("kwic", "bank", "--sort", "sense", *at).stdout.split("\n")[1:-1]
    ]
    assert senses == ["1"] * 15 + ["2"] * 15
    wrong = run("kwic", "bank", "--where", "sense=3", *at)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert mentions(wrong.stderr, "--where sense=3 senses 1~to~2")


def hits(run: Run, *arguments: str) -> list[tuple[str, int, str]]:
    rows = json.loads(run("kwic", *arguments, "-f", "json").stdout)
    return [(row["left"], row["line"], row["hit"]) for row in rows]


def test_words_in_a_row_and_patterns(run: Run) -> None:
    assert hits(run, "The Apple") == [("", line, "the apple") for line in (1, 2, 3)]
    assert hits(run, "orange juice") == [("", 6, "orange juice")]  # 2 and 3 meet at a border only
    assert hits(run, "*an* *") == [
        ("the", 4, "bank money"),
        ("the river", 5, "bank quay"),
        ("", 6, "orange juice"),
    ]
    assert hits(run, "quay") == [("the river bank", 5, "quay")]  # too rare for a vector
    assert hits(run, "qu*y") == hits(run, "quay")
    assert hits(run, "bank qu*") == [("the river", 5, "bank quay")]


def test_words_from_a_pipe(run: Run) -> None:
    done = run("kwic", "-", stdin="river\nzebra\nthe phone\n")
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [
        "word",
        "river",
        "the phone",
    ]
    assert done.returncode == 4 and mentions(done.stderr, "'zebra' vocabulary")


def test_conditions(run: Run) -> None:
    assert hits(run, "apple", "--where", "right=phone") == [("the", 3, "apple")]
    assert hits(run, "the", "--where", "left=apple", "--where", "file=t*.txt") == [
        ("the apple launched", 3, "the")
    ]
    assert (
        "matches none of the 6 documents: file is tiny.txt"
        in run("kwic", "the", "--where", "file=other.txt").stderr
    )


WRITTEN = """Work at U.S. Bank began.  The New\tYork "Bank" is not a river-bank,
says Ms Roe: banks of New York are closed!

BANK of Œuvre.
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a text with capitals and punctuation."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "a.txt").write_text(WRITTEN, encoding="utf-8")
    train(folder / "a.txt", folder / "model", attention=False, epochs=1, dim=2, min_count=1)
    return folder / "model"


def test_quoted_as_it_was_written(run: Run, written: Path) -> None:
    text = run("kwic", "bank", "-m", str(written)).stdout.splitlines()[1:]
    rows = [row[2:6] for row in csv.reader(text, delimiter="\t")]
    assert rows == [
        [
            "1",
            "Work at U.S.",
            "Bank",
            'began. The New York "Bank" is not a river-bank, says Ms Roe:',
        ],
        [
            "1",
            'Work at U.S. Bank began. The New York "',
            "Bank",
            '" is not a river-bank, says Ms Roe: banks of New York are',
        ],
        ["4", "", "BANK", "of Œuvre."],
    ]
    text = run("kwic", "new york", "-m", str(written), "--width", "8").stdout.splitlines()
    rows = [row[3:6] for row in csv.reader(text, delimiter="\t")]
    assert rows[1:] == [["The", "New York", '"Bank"'], ["banks of", "New York", "are"]]
    shown = run("show", "œuvre", "-m", str(written)).stdout.splitlines()[-1]
    assert shown == "œuvre\toccurrence\tBANK of [Œuvre]."


def test_a_moved_or_changed_source_is_reported(run: Run, written: Path, tmp_path: Path) -> None:
    shutil.copytree(written.parent, tmp_path / "copy")
    folder, source = tmp_path / "copy" / "model", written.parent / "a.txt"
    command = ("kwic", "œuvre", "-m", str(folder))
    before = run(*command)
    assert "a.txt" not in before.stderr
    source.write_text(WRITTEN.replace("BANK", "bank"), encoding="utf-8")
    os.utime(source, (2**32, 2**32))  # a checksum is taken of what is newer than the model only
    changed = run(*command)
    assert f"{source} has changed since: the text as it was read is shown" in changed.stderr
    source.unlink()
    moved = run(*command)
    assert f"{source} is no longer there: the text as it was read is shown" in moved.stderr
    assert before.stdout == changed.stdout == moved.stdout
    source.write_text(WRITTEN, encoding="utf-8")
    os.utime(source, (2**32, 2**32))  # as it was, only newer
    assert run(*command).stderr == before.stderr


def test_a_final_star_matches_any_word(run: Run) -> None:
    rows = run("kwic", "the *", "-m", "everyday", "-n", "3", "--no-header").stdout.splitlines()
    hits = [row.split("\t")[4].split() for row in rows]
    assert all(len(hit) == 2 and hit[0] == "the" for hit in hits) and len(hits) == 3


def test_patterns_of_many_stars_end_soon(run: Run, tmp_path: Path) -> None:
    # backtracking would try some 10^12 ways to split the letters among the stars
    text = f"{'a' * 90} {'a' * 89}b banana\n"
    (tmp_path / "a.txt").write_text(text * 5)
    train(tmp_path / "a.txt", tmp_path / "m", attention=False, epochs=1, dim=2, min_count=1)
    at = ("-m", str(tmp_path / "m"))
    begun = time.process_time()
    assert [hit for _, _, hit in hits(run, "a*" * 40 + "b", *at)] == ["a" * 89 + "b"] * 5
    assert run("kwic", "a*" * 40 + "c", *at).returncode == 4
    assert time.process_time() - begun < 5
    assert [hit for _, _, hit in hits(run, "b*an*a", *at)] == ["banana"] * 5
    assert run("kwic", "banan*nana", *at).returncode == 4  # two pieces do not share letters
    many = run("kwic", " ".join(f"{number}*" for number in range(30)), *at)
    assert many.returncode == 2 and "at most 1,000 words and 20 patterns" in many.stderr


@given(st.text("ab*", min_size=1, max_size=8), st.text("ab", max_size=8))
def test_stars_match_as_a_regular_expression(pattern: str, word: str) -> None:
    expected = re.fullmatch(pattern.replace("*", ".*"), word) is not None
    assert "*" not in pattern or has_pieces(word, pattern.split("*")) == expected


def test_both_spellings_of_a_word_are_one_word(run: Run, tmp_path: Path) -> None:
    text = "the café is open and the cafe\u0301 is full\n"
    (tmp_path / "a.txt").write_text(text * 5)
    options = {"attention": False, "epochs": 1, "dim": 2, "min_count": 1}
    for rules in (2, 3):
        tokenizer, model = Tokenizer(rules=rules), str(tmp_path / f"m{rules}")
        train(tmp_path / "a.txt", model, tokenizer=tokenizer, **options)
        stored = json.loads((tmp_path / f"m{rules}" / "model.json").read_text())["tokenizer"]
        assert stored["rules"] == rules
        queries = ("café", "cafe\u0301", "caf\u00e9*", "cafe\u0301*", "the café", "the cafe\u0301")
        found = [len(hits(run, query, "-m", model)) for query in queries]
        assert found == ([10] * 6 if rules == 3 else [5, 5, 10, 10, 5, 5])
        assert run("compare", "[Cafe\u0301] is open", "-m", model).returncode == 0
    # a model with only one of both spellings answers the other
    (tmp_path / "b.txt").write_text("the café is open\n" * 5)
    train(tmp_path / "b.txt", tmp_path / "b", tokenizer=Tokenizer(rules=2), **options)
    assert run("show", "cafe\u0301", "-m", str(tmp_path / "b")).returncode == 0
    assert run("compare", "[Cafe\u0301] is open", "-m", str(tmp_path / "b")).returncode == 0
