"""The table of all benchmarks: its rows, and that no benchmark is forgotten."""

import pytest

from bench.all import ALONE, BEGIN, BENCHES, END, Line, replace_rows
from bench.growth import exponent
from tests.conftest import ROOT


def test_every_benchmark_is_in_the_table_or_named_beside_it() -> None:
    files = {path.stem for path in (ROOT / "bench").glob("*.py")} - {"all"}
    measured = {"pipes"}  # in bench/all.py itself
    assert set(BENCHES) - measured | set(ALONE) == files
    assert not set(BENCHES) & set(ALONE)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        (
            Line("a", "3 ms", "2 ms", 1.5, 1.3),
            ["a", "3 ms", "2 ms", "1.50", "at most 1.3", "**no**"],
        ),
        (Line("a", "2", "1", 2.0, 1.5, least=True), ["a", "2", "1", "2.00", "at least 1.5", "yes"]),
        (Line("a", "1 ms", aim=2.0, value=1.0), ["a", "1 ms", "", "", "at most 2", "yes"]),
        (Line("a", "9", "8", 1.125), ["a", "9", "8", "1.12", "", ""]),
    ],
)
def test_an_aim_is_met_or_not(line: Line, cells: list[str]) -> None:
    assert line.cells() == cells


def test_rows_of_benchmarks_that_were_not_run_stay() -> None:
    text = f"before\n{BEGIN}\n{END}\nafter\n"
    first = replace_rows(
        text, [["learn", "x", "1", "", "", "", ""], ["start", "y", "2", "3", "0.67", "", ""]]
    )
    assert first.splitlines()[4:6] == [
        "| start | y | 2 | 3 | 0.67 |  |  |",
        "| learn | x | 1 |  |  |  |  |",
    ]
    second = replace_rows(first, [["start", "z", "4", "", "", "", ""]])
    lines = second.splitlines()
    assert lines[0] == "before" and lines[-1] == "after"
    assert lines[4:6] == ["| start | z | 4 |  |  |  |  |", "| learn | x | 1 |  |  |  |  |"]


def test_the_exponent_of_growth() -> None:
    assert exponent([1, 4, 16], [2, 8, 32]) == pytest.approx(1)
    assert exponent([1, 4, 16], [5, 10, 20]) == pytest.approx(0.5)
    assert exponent([1, 4], [3, 3]) == pytest.approx(0)
