"""The sentence above a table, shaded: by colours, by bars, and not at all in a pipe."""

import re
from pathlib import Path

import pytest

from tests.cli.test_terminal import at_terminal
from tests.conftest import Run

LONG = (
    "the [apple] launched the phone and then the bank of the river launched the sweet orange juice"
)
LINE = ("explain", LONG, "--attention", "general", "--draw", "weight")
BARS = "▁▂▃▄▅▆▇█"


def sentence(seen: str) -> list[str]:
    """Return the lines between the title and the table."""
    return seen.split("\n\n")[0].splitlines()[1:]


@pytest.mark.posix
@pytest.mark.parametrize("columns", [80, 120])
def test_without_colours_bars_stand_under_the_words(
    tiny: Path, tmp_path: Path, columns: int
) -> None:
    line = (*LINE, "-q", "-m", str(tiny))
    seen = at_terminal(tmp_path, columns, *line, NO_COLOR="1")
    assert "\x1b" not in seen
    words, bars = sentence(seen)[::2], sentence(seen)[1::2]
    assert " ".join(words) == LONG
    assert len(words) == (2 if columns == 80 else 1)
    assert all(len(shown) <= columns for shown in (*words, *bars))
    for shown, bar in zip(words, bars, strict=True):  # each bar is as long as its word
        for match in re.finditer(f"[{BARS}]+", bar):
            word = shown[match.start() : match.end()]
            assert len(set(match[0])) == 1
            assert shown[: match.start()][-1:] in ("", " ")
            assert shown[match.end() :][:1] in ("", " ")
            assert " " not in word
    strongest = re.search("█+", bars[0])
    assert strongest is not None
    weights = [row.split() for row in seen.split("\n\n")[1].splitlines()[2:]]
    most = max((row for row in weights if len(row) == 6), key=lambda row: float(row[4]))
    assert words[0][strongest.start() : strongest.end()] == most[2]


@pytest.mark.posix
@pytest.mark.parametrize("columns", [80, 120])
def test_with_colours_the_words_have_a_background(tiny: Path, tmp_path: Path, columns: int) -> None:
    seen = at_terminal(tmp_path, columns, *LINE, "-q", "-m", str(tiny))
    lines = sentence(seen)
    assert not set(BARS) & set(seen)
    assert len(lines) == (2 if columns == 80 else 1)
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    assert all(len(line) <= columns for line in plain)
    shaded = dict(re.findall(r"\x1b\[48;5;(\d+);38;5;\d+m(\w+)\x1b\[0m", lines[0]))
    assert "39" in shaded  # the strongest of dark paper
    light = at_terminal(tmp_path, columns, *LINE, "-q", "-m", str(tiny), COLORFGBG="0;15")
    assert "\x1b[48;5;27;" in light and "\x1b[48;5;39;" not in light


@pytest.mark.posix
@pytest.mark.parametrize("more", [["--sort", "weight"], ["--head", "2"]])
def test_the_sentence_stays_a_sentence(tiny: Path, tmp_path: Path, more: list[str]) -> None:
    line = ("explain", "the [apple] juice sweet", "-q", "-m", str(tiny), *more)
    seen = at_terminal(tmp_path, 80, *line, NO_COLOR="1")
    assert seen.splitlines()[1] == "the [apple] juice sweet"
    assert seen.count("[apple]") == 1


def test_a_pipe_has_the_table_only(run: Run) -> None:
    assert run(*LINE, "-q", "-f", "table").stdout.startswith("target ")
    assert run(*LINE, "-q").stdout.startswith("target\t")
    always = run(*LINE, "-q", "-f", "table", "--color", "always").stdout
    assert always.startswith("general attention") and "\x1b[48;5;39;" in always


@pytest.mark.posix
def test_the_color_option(tiny: Path, tmp_path: Path) -> None:
    line = ("compare", "the [apple] juice", "-q", "-m", str(tiny))
    assert "\x1b" not in at_terminal(tmp_path, 80, *line, "--color", "never")
    assert "\x1b[48;5;" in at_terminal(tmp_path, 80, *line, "--color", "always", NO_COLOR="1")
    assert "\ngeneral attention: contribution\nthe [apple] " in at_terminal(
        tmp_path, 80, *line, TERM="dumb"
    )
    assert "\x1b" not in at_terminal(tmp_path, 80, *line, "-f", "tsv")


CHARTS = [
    ("explain", LONG, "--draw", "weight"),
    ("explain", LONG, "--head", "each", "--draw", "weight"),
    ("compare", "the [apple] juice", "--axis", "a=juice", "--axis", "b=phone"),
    ("compare", "the [apple] juice"),
    ("similarity", "apple", "bank", "phone", "money"),
    ("ablate", "the [apple] launched the phone"),
    ("neighbors", "apple", "-n", "4"),
    ("ladder", "apple", "bank"),
    ("positions", "--length", "40", "--dim", "20"),
]


@pytest.mark.parametrize("columns", ["20", "80", "120"])
@pytest.mark.parametrize("line", CHARTS, ids=[" ".join(line)[:40] for line in CHARTS])
def test_a_chart_fits_any_width(run: Run, line: tuple[str, ...], columns: str) -> None:
    done = run(*line, "-f", "chart", env={"COLUMNS": columns})
    assert (done.returncode, "\x1b" in done.stdout) == (0, False), done.stderr
    assert max(map(len, done.stdout.splitlines())) <= int(columns)
    assert len(done.stdout.splitlines()) > 3
    coloured = run(*line, "-f", "chart", "--color", "always", env={"COLUMNS": columns}).stdout
    plain = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert "\x1b" in coloured
    assert max(map(len, plain.splitlines())) <= int(columns)


def test_exactly(run: Run) -> None:
    env = {"COLUMNS": "40"}
    done = run("neighbors", "phone", "-n", "2", "--raw", "-f", "chart", env=env)
    assert done.stdout == (
        "nearest words\n\nphone\n"
        "launched ██████████████████████████ 0.80\n"
        "the      ████████████████▎          0.50\n"
    )
    done = run("similarity", "apple", "phone", "bank", "-f", "chart", env=env)
    assert done.stdout == (
        "cosine\n"
        "      apple phone  bank\n"
        "apple █1.00 ░0.32  0.00\n"
        "phone ░0.32 █1.00  0.00\n"
        "bank   0.00  0.00 █1.00\n"
    )
