"""Arguments: text, names, numbers, encodings, stdin; closed streams; escapes."""

import gzip
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from ctxembed.output.safe import safe
from tests.cli.terminal import in_terminal
from tests.conftest import ROOT, Run, mentions, write_tiny

BAD = "caf\udce9"  # how Python hands over a byte that is no UTF-8


def test_every_number_has_a_range_that_ends() -> None:
    for name in COMMANDS:
        for param in load_command(name).params:
            if isinstance(param.type, type(click.INT) | type(click.FLOAT)):
                assert getattr(param.type, "min", None) is not None, (name, param.name)
                assert getattr(param.type, "max", None) is not None, (name, param.name)


@pytest.mark.parametrize(
    "line, message",
    [
        ("train c.txt --epochs 1000000000", "1000000000 1~to~1,000"),
        ("train c.txt --sample nan", "0~to~1 number"),
        ("learn --minutes inf", "0 to~1,440"),
        ("train c.txt --dim " + "9" * 5000, "9" * 40 + "… is not a whole number from 1 to 10,000."),
        ("neighbors apple -n one", "1~to~2,147,483,648 number"),
    ],
)
def test_the_range_is_in_the_message(line: str, message: str, run: Run) -> None:
    done = run(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert mentions(done.stderr, message)


@pytest.mark.parametrize(
    "line",
    [
        "show *",
        "compare *",
        "neighbors apple --axis *",
        "explain * --word x",
        "fit x -m m --name *",
    ],
)
def test_text_that_is_no_utf_8(line: str, run: Run) -> None:
    done = run(*(BAD if part == "*" else part for part in line.split()))
    assert (done.returncode, done.stdout) == (2, "")
    if "--axis" not in line:
        assert mentions(done.stderr, "b'caf\\xe9' UTF-8 text")


@pytest.mark.linux
def test_a_name_may_be_any_bytes(spawn: Run, tmp_path: Path) -> None:
    text = Path(os.fsdecode(os.fsencode(tmp_path) + b"/c\xe9.txt"))
    text.write_text("an apple a day\n" * 30)
    done = spawn("train", text.name, "-o", f"m{BAD}", "--epochs", "1", "--static-only")
    assert done.returncode == 0, done.stderr
    assert spawn("show", "--vector", "apple", "-m", f"m{BAD}").returncode == 0
    assert spawn("export", f"v{BAD}.txt", "-m", f"m{BAD}").returncode == 0


@pytest.mark.parametrize(
    "name", ["hex", "rot13", "zlib", "base64", "bz2", "idna", "undefined", "x\0"]
)
def test_only_text_has_an_encoding(name: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("an apple a day\n")
    for line in (
        ["train", "c.txt"],
        ["tokenize", "c.txt"],
        ["import", "c.txt"],
        ["vectorize", "c.txt"],
    ):
        done = run(*line, "--encoding", name)
        assert done.returncode in (2, 5), (line, done.stderr)
        assert "encoding" in done.stderr


@pytest.mark.parametrize("line", ["show - -", "compare - apple -", "train - -", "evaluate wic - -"])
def test_stdin_is_read_once(line: str, run: Run) -> None:
    done = run(*line.split(), stdin="apple\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert mentions(done.stderr, "twice stdin")


CLOSED = {  # what is closed, and the code
    "show apple >&-": 1,
    "show apple <&-": 0,
    "show apple 2>&-": 0,
    "show apple >&- 2>&- <&-": 1,
    "show apple -o x.tsv >&-": 0,
    "export - >&-": 1,
    "--help >&-": 1,
    "nope 2>&-": 2,
    "show - <&-": 2,
    "tokenize - --unit subword <&-": 0,
    "show apple >x 2>/dev/full": 0,
    "show xyzzy 2>/dev/full": 4,
    "show apple >/dev/full": 1,
    "show xyzzy 2>&- >&-": 4,
}


@pytest.mark.linux
@pytest.mark.parametrize("line", CLOSED)
def test_closed_streams_end_quietly(line: str, tiny: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m ctxembed {line}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CTXEMBED_MODEL": str(tiny)},
    )
    assert done.returncode == CLOSED[line], done.stderr
    assert "Traceback" not in done.stderr
    assert "apple" not in done.stderr
    lost = CLOSED[line] == 1 and line.endswith(">&-")
    assert (done.stderr == "ctxembed: stdout is closed; the output is lost\n") == lost


@pytest.mark.posix
def test_a_corpus_cannot_rewrite_the_screen(tmp_path: Path) -> None:
    evil = "the \x1b[2Japple\x1b]0;x\x07 \x9b31m\u202e orange"
    (tmp_path / "evil\x1b[2J.txt").write_text(f"{evil}\n" * 20, encoding="utf-8")
    train = "ctxembed train evil* --tokenizer whitespace --epochs 1 -o m --static-only -q"
    for line in (
        train,
        "ctxembed info -m m",
        "ctxembed kwic apple -m m",
        "ctxembed export - -m m",
        "ctxembed neighbors the -m m -f tsv",
        "ctxembed neighbors the -m m -f json",
        "ctxembed show $'\\x1b[2J' -m m",
        "ctxembed tokenize evil*",
        "ctxembed info -m $'\\x1b[2J'",
    ):
        screen = in_terminal(line, tmp_path)
        assert not set("\x1b\x9b\x07\u202e") & set(screen), line


def test_pipes_keep_the_bytes(run: Run, tmp_path: Path) -> None:
    write_tiny(tmp_path / "m", ["the \x1b[2J apple"] * 3)
    done = run("kwic", "apple", "-m", "m")
    assert "\x1b[2J" in done.stdout
    assert safe("a\tb\né\x1b\u202d") == "a\tb\né\\x1b\\u202d"


def test_messages_name_the_limit(run: Run, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.gz", "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
    (tmp_path / "d").write_text("apple.n\t1\t1\tthe apple\n")
    (tmp_path / "g").write_text("apple.n 1 :: pear 2;\n")
    (tmp_path / "long.txt").write_text("ab" * 60_000 + " the apple\n")
    write_tiny(tmp_path / "x")
    bomb = (5, ("bomb.gz", "line 1", "1 MiB"))
    letters = (5, ("120,000 letters", "100,000"))
    for line, (code, words) in {
        ("fit", "bomb.gz", "-m", "x"): bomb,
        ("evaluate", "similarity", "bomb.gz"): bomb,
        ("evaluate", "substitution", "d", "g", "--candidates", "bomb.gz"): bomb,
        ("compare", "the apple " * 5001): (2, ("10,002 words", "10,000")),
        ("compare", "orange apple " * 1001): (2, ("2,002 targets", "499")),
        ("explain", "apple bank " * 300): (2, ("600 targets", "333")),
        ("ablate", "apple bank " * 300): (2, ("600 targets",)),
        ("train", "long.txt", "--unit", "subword", "-o", "m"): letters,
        ("tokenize", "long.txt", "--unit", "character"): letters,
        ("explore", "the apple " * 70, "-o", "r.html"): (2, ("sentence", "120 words")),
        ("explore", "", "-o", "r.html"): (2, ("sentence", "empty")),
        ("positions", "--length", "9000", "--dim", "9000"): (2, ()),
    }.items():
        done = run(*line)
        assert done.returncode == code, (line, done.stderr)
        assert all(word in done.stderr for word in words), (line, done.stderr)


@pytest.mark.parametrize("letter, message", [
    ("a", "line 1: no space or full stop in 4 MiB; is this text?"),
    (" ", "line 1: nothing but space in 4 MiB; is this text?"),
    ("\n", "line 4194305: nothing but space in 4 MiB; is this text?"),
])  # fmt: skip
def test_no_text_is_read_to_its_end(letter: str, message: str, run: Run, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=1) as file:
        for _ in range(6):
            file.write(letter.encode() * (1 << 20))
    for line in (
        ["tokenize", "bomb.gz"],
        ["train", "bomb.gz", "-o", "m"],
        ["vectorize", "bomb.gz"],
    ):
        done = run(*line, "-q")
        assert (done.returncode, done.stderr) == (5, f"ctxembed: bomb.gz: {message}\n"), line
    if letter == "\n":
        done = run("contextualize", "bomb.gz")
        assert done.returncode == 5
        assert mentions(done.stderr, "bomb.gz line~1000001 1,000,000~empty lines text")


def test_chinese_without_a_single_space_is_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "zh.txt").write_text("我在河边散步。" * 210_000, encoding="utf-8")  # 4.4 MB
    done = run("tokenize", "zh.txt", "--unit", "sentence", "-o", "x.tsv")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "x.tsv").read_text().count("我在河边散步。") == 210_000
