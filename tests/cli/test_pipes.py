"""A program that writes one line into a pipe gets its answer before it writes the next."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pytest

import ctxembed
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
