"""One table, six formats."""

import csv
import io
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxembed.output.render import FORMATS, render
from ctxembed.table import Column, Table, round_to_total
from tests.conftest import stream

ODD = Table(
    ("word", "n", "score"),
    [("中文", 1, 0.5), ("a|b\nc", None, float("nan")), ('say "hi", ok', 2, -1e-7)],
)


def text(table: Table, form: str, **options: object) -> str:
    return "".join(render(table, form, **options))  # type: ignore[arg-type]


def test_table_counts_wide_characters_and_joins_lines() -> None:
    assert text(ODD, "table") == (
        "word          n   score\n"
        "------------  -  ------\n"
        "中文          1  0.5000\n"
        "a|b c\n"
        'say "hi", ok  2  0.0000\n'
    )


def test_tsv_has_one_line_a_row() -> None:
    assert text(ODD, "tsv") == (
        'word\tn\tscore\n中文\t1\t0.500000\na|b c\t\t\n"say ""hi"", ok"\t2\t0.000000\n'
    )


def test_csv_reads_back() -> None:
    rows = list(csv.reader(io.StringIO(text(ODD, "csv"))))
    assert rows == [
        ["word", "n", "score"],
        ["中文", "1", "0.5"],
        ["a|b\nc", "", ""],
        ['say "hi", ok', "2", "-1e-07"],
    ]


def test_lists_of_words() -> None:
    """They stay lists in JSON, and are text elsewhere."""
    listed = Table((Column("a", between=" | "), "b"), [(["x", "y z"], ["p", "q"])])
    assert json.loads(text(listed, "json")) == [{"a": ["x", "y z"], "b": ["p", "q"]}]
    assert json.loads(text(listed, "json", precision=2))[0]["b"] == ["p", "q"]
    assert text(listed, "tsv") == "a\tb\nx | y z\tp q\n"


def test_json_reads_back_in_full_precision() -> None:
    expected = [
        {"word": "中文", "n": 1, "score": 0.5},
        {"word": "a|b\nc", "n": None, "score": None},
        {"word": 'say "hi", ok', "n": 2, "score": -1e-7},
    ]
    assert json.loads(text(ODD, "json")) == expected
    assert [json.loads(line) for line in text(ODD, "jsonl").splitlines()] == expected
    assert json.loads(text(ODD, "json", precision=1))[0]["score"] == 0.5
    assert json.loads(text(Table(("a",), [(math.inf,)]), "json")) == [{"a": None}]


def test_markdown_escapes_the_bar() -> None:
    assert text(Table(("a",), [("x|y",)]), "markdown") == "| a    |\n|------|\n| x\\|y |\n"
    assert text(Table(("a",), [("x",)]), "markdown", header=False) == "| x |\n"


@pytest.mark.parametrize("form", FORMATS)
def test_no_rows(form: str) -> None:
    empty = Table(("a", "b"), [])
    nothing = "".join(render(empty, form, header=False)).strip()
    assert nothing in ("", "[]") or form == "latex"
    if form in ("tsv", "csv"):
        assert text(empty, form).strip() in ("a\tb", "a,b")


def test_rows_are_a_stream() -> None:
    """A line is printed before the next row is asked for."""
    numbers: list[int] = []
    lines = render(Table(("n",), stream(numbers)), "jsonl")
    assert next(lines) == '{"n": 0}\n'
    assert numbers == [0]


def test_a_narrow_terminal_shortens_the_widest_text() -> None:
    table = Table(("word", "value"), [("apple", "x" * 100), ("pear", "short")])
    lines = text(table, "table", width=40).splitlines()
    assert max(map(len, lines)) <= 40
    assert lines[2].endswith("x…")
    assert lines[3] == "pear   short"


def test_bold_header_only_on_request() -> None:
    table = Table(("a",), [(1,)])
    assert text(table, "table", bold=True).startswith("\x1b[1m")
    assert "\x1b" not in text(table, "table")


def test_shares_add_up_in_each_group() -> None:
    third = 1 / 3
    table = Table(
        ("target", Column("weight", role="share", group=("target",))),
        [("a", third), ("a", third), ("a", third), ("b", 0.126), ("b", 0.874)],
    )
    assert text(table, "tsv", precision=2) == (
        "target\tweight\na\t0.34\na\t0.33\na\t0.33\nb\t0.13\nb\t0.87\n"
    )
    assert json.loads(text(table, "json"))[0]["weight"] == third


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a machine that does much else
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 6))
def test_round_to_total(values: list[float], digits: int) -> None:
    rounded = [float(text) for text in round_to_total(values, digits)]
    unit = 10**digits
    assert abs(sum(rounded) - sum(values)) * unit <= 0.5 + 1e-6  # a tie may go either way
    for before, after in zip(values, rounded, strict=True):
        assert abs(before - after) < 1 / unit + 1e-9


def test_a_column_that_is_empty_throughout_takes_no_room() -> None:
    table = Table(("word", "random", "cosine"), [("pear", None, 0.5), ("plum", None, 0.25)])
    assert text(table, "table") == ("word  cosine\n----  ------\npear  0.5000\nplum  0.2500\n")
    assert text(table, "tsv").splitlines()[0] == "word\trandom\tcosine"


def test_a_word_longer_than_the_room_is_broken_not_the_table() -> None:
    long = [Column(name, role="long") for name in ("near", "marks", "quotes")]
    rows = [("parameters", "definition " * 3, f"{'x' * 40} " * 3)]
    printed = text(Table(long, rows), "table", width=60)
    assert max(map(len, printed.splitlines())) == 60
    assert "parameters" in printed and "definition" in printed
