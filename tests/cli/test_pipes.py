"""A program that writes one line into a pipe gets its answer before it writes the next."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import numpy as np
import pytest

import ctxembed
from ctxembed.model.vocabulary import describe_forms
from tests.conftest import ROOT, Run
from tests.test_interface import TASK

LINES = ["the [apple] launched the phone", "an [odd] line", "", "the [apple] juice is sweet"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def started(line: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "ctxembed", *line]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream
            stream.close()


COMMANDS = """
contextualize -
contextualize - -f jsonl
compare -
compare - -f jsonl
define - -f csv
predict -
tokenize - --lines
vectorize - --method static
vectorize - --method general -f jsonl
"""


@pytest.mark.posix  # select
@pytest.mark.parametrize("line", COMMANDS.strip().splitlines())
def test_each_line_is_answered_when_it_comes(line: str, often: Path, tmp_path: Path) -> None:
    model = shutil.copytree(often, tmp_path / "m")
    if line.startswith("predict"):
        (tmp_path / "task.tsv").write_text(TASK)
        ctxembed.fit(model, str(tmp_path / "task.tsv"), "idioms", epochs=1)
    with started([*line.split(), "-m", str(model), "-q"]) as process:
        assert process.stdin and process.stdout
        expected = 0 if "jsonl" in line else 1  # the names of columns
        for text in (LINES[0], LINES[3]):
            process.stdin.write(f"{text}\n".encode())
            process.stdin.flush()
            answer = b""
            while answer.count(b"\n") <= expected:
                assert select([process.stdout], [], [], 60)[0], answer
                answer += os.read(process.stdout.fileno(), 1 << 16)
            expected = 0
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.posix
@pytest.mark.parametrize("command", ["contextualize", "compare", "define"])
def test_a_pipe_and_a_file_give_the_same_rows(command: str, often: Path, tmp_path: Path) -> None:
    """In a pipe one line comes at a time, in a file all of them."""
    text = "".join(f"{line}\n" for line in LINES * 2)
    (tmp_path / "lines.txt").write_text(text)
    line = [sys.executable, "-m", "ctxembed", command, "-", "-m", str(often)]
    with (tmp_path / "lines.txt").open() as stdin:
        file = subprocess.run(line, stdin=stdin, capture_output=True, text=True, env=ENVIRONMENT)
    with started(line[3:]) as process:
        assert process.stdin and process.stdout and process.stderr
        for one in text.splitlines(keepends=True):
            process.stdin.write(one.encode())
            process.stdin.flush()
        process.stdin.close()
        piped, messages = process.stdout.read().decode(), process.stderr.read().decode()
        assert process.wait(60) == file.returncode == 4
    assert piped == file.stdout
    for message in file.stderr.splitlines():
        assert not message.startswith("ctxembed: line") or message in messages
    assert "line 2: 'odd'" in messages and "line 6: 'odd'" in messages


@pytest.mark.posix
@pytest.mark.parametrize(("text", "code"), [("", 2), ("\n", 2), ("an [odd] line\n", 4)])
def test_a_pipe_without_an_answer(text: str, code: int, tiny: Path) -> None:
    line = [sys.executable, "-m", "ctxembed", "compare", "-", "-m", str(tiny)]
    done = subprocess.run(line, input=text, capture_output=True, text=True, env=ENVIRONMENT)
    assert (done.returncode, done.stdout) == (code, "") and "Traceback" not in done.stderr


def test_columns_of_several_sentences_come_last(run: Run, tiny: Path) -> None:
    one, both = (
        run("compare", *LINES[:: 3 * step][:2], "-m", str(tiny), "-f", "tsv").stdout.split("\n")[0]
        for step in (2, 1)
    )
    assert both == f"{one}\tcos_first\tcos_random"


@pytest.mark.parametrize("command", ["contextualize", "compare", "define"])
def test_bad_lines_are_skipped(command: str, run: Run, often: Path, tmp_path: Path) -> None:
    line = (command, "-", "-m", str(often), "-f", "tsv")
    text = "".join(f"{line}\n" for line in [*LINES, *["an [odd] line"] * 50])
    strict, skipped = run(*line, stdin=text), run(*line, "--skip-bad", stdin=text)
    assert (strict.returncode, skipped.returncode) == (4, 0) and strict.stdout == skipped.stdout
    assert "51 lines have no answer" in skipped.stderr and "odd" not in skipped.stderr


@pytest.mark.parametrize("command", ["contextualize", "compare", "define", "explain", "ablate"])
def test_every_line_may_be_bad(command: str, run: Run, often: Path) -> None:
    line = (command, "-", "-m", str(often), "-f", "tsv", "--skip-bad")
    for lines, number in ((2, "2 lines have"), (1, "1 line has")):
        done = run(*line, stdin="an [odd] line\n" * lines)
        assert done.returncode == 0 and done.stderr.endswith(f"ctxembed: {number} no answer\n")
        assert done.stdout.count("\n") <= 1  # a line of column names, where they are known
    if command != "contextualize":  # which reads files
        assert run(command, "an [odd] line", *line[2:]).returncode == 4


def test_similar_words_are_searched_for_what_is_printed(
    run: Run, often: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []

    def get_close_matches(word: str, *_: object, **__: object) -> list[str]:
        searched.append(word)
        return []

    monkeypatch.setattr("difflib.get_close_matches", get_close_matches)
    text = "".join(f"the [odd{n}] apple\n" for n in range(100)) + LINES[0]
    done = run("contextualize", "-", "-m", str(often), stdin=text)
    assert sum(word.startswith("odd") for word in searched) == 20
    assert "and 80 more lines have no answer" in done.stderr


def test_forms_that_are_taken_are_listed_in_part(run: Run, tmp_path: Path, often: Path) -> None:
    assert describe_forms({f"w{n}": "w" for n in range(25)}) == [
        "not in the vocabulary, taken in another form: "
        + ", ".join(f"w{n} as w" for n in range(20))
        + " and 5 more"
    ]


@pytest.mark.parametrize(
    ("written", "known"),
    [("he'll", "he"), ("she'd", "she"), ("we'd", "we"), ("we're", "we"), ("apple's", "apple")],
)
def test_a_contraction_is_its_first_word(written: str, known: str) -> None:
    """he'll is never hell, she'd no shed."""
    model = ctxembed.open_worked_example("bank")
    words = ["hell", "shed", "wed", "were", "911", "he", "she", "we", "apple", "apples", "resign"]
    model = type(model).from_vectors("words", words, np.eye(len(words), dtype=np.float32))
    row = model.vocabulary.find_form(written)
    assert row is not None and words[row] == known
    assert model.vocabulary.find_form("9-11") is model.vocabulary.find_form("re-sign") is None


def test_reasons_are_objects_in_json(run: Run, often: Path) -> None:
    rows = json.loads(run("compare", LINES[0], "-m", str(often), "-f", "json").stdout)
    reasons = next(row["because"] for row in rows if row["representation"] == "general")
    assert {"word", "share"} == {key for reason in reasons for key in reason}
    text = run("compare", LINES[0], "-m", str(often), "-f", "tsv").stdout
    assert ", ".join(f"{one['word']} {one['share']:.2f}" for one in reasons) in text


def test_a_nul_byte_is_replaced(run: Run, often: Path, tmp_path: Path) -> None:
    (tmp_path / "nul.txt").write_bytes(b"the [apple] ju\0ice\n")
    own = ("-m", str(often), "--errors", "replace")
    assert run("contextualize", str(tmp_path / "nul.txt"), *own).returncode == 0
    done = run("tokenize", str(tmp_path / "nul.txt"), "--errors", "replace")
    assert done.returncode == 0 and "ju" in done.stdout and "\0" not in done.stdout
    assert run("tokenize", str(tmp_path / "nul.txt")).returncode == 5


def test_quotation_marks_in_tsv_are_read_by_pandas() -> None:
    cells = ['"', 'say "no"', "null", "nan", "a\tb", "plain", "o'clock", "#1"]
    text = "".join(ctxembed.render(ctxembed.Table(("cell", "n"), [(c, 1) for c in cells]), "tsv"))
    read = [row["cell"] for row in csv.DictReader(io.StringIO(text), delimiter="\t")]
    assert read == [cell.replace("\t", " ") for cell in cells]
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(io.StringIO(text), sep="\t", keep_default_na=False)
    assert list(frame["cell"]) == read


def test_a_form_that_was_taken_has_a_column(run: Run, tiny: Path) -> None:
    line = ("compare", "apple and [apple's] juice", "the [apple] juice", "-m", str(tiny))
    rows = json.loads(run(*line, "-f", "json").stdout)
    assert {(row["sentence"], row["target"], row["written"]) for row in rows} == {
        (1, "apple:2", "apple's"),
        (2, "apple", None),
    }
