"""Every example of every command runs unchanged."""

import gzip
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from ctxembed.model.bundled import bundled_model
from tests.conftest import ROOT, in_process

CORPUS = """An apple a day keeps the doctor away. The apple is a sweet fruit.
Apple launched a new phone while I was eating an orange. The bank lends money.
We sat on the bank of the river. Looks like I just crashed the server.
"""
EXAMPLES = [
    (name, line)
    for name in COMMANDS
    for _, line in load_command(name).examples
    if "--on spark" not in line  # tests/training/test_train_on_spark.py does that
    if name != "explore" or " -o " in line  # else it goes on until Ctrl-C: tests/web/test_server.py
]
# They change a model, or write all of it as text; the others use the bundled one.
ON_A_COPY = ("learn", "fit", "predict", "export", "import")
NEEDS_NO_MODEL = ("train", "tokenize", "positions")


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """A copy of the bundled model, so that an example that learns cannot change it."""
    if not (bundled_model("everyday") / "model.json").exists():
        return None
    model = tmp_path_factory.mktemp("bundled") / "model"
    shutil.copytree(bundled_model("everyday"), model)
    fit = ["fit", "idioms", "--name", "idioms", "--epochs", "1", "-m", str(model)]
    assert in_process(fit, "", {}, model).returncode == 0  # the example of predict comes after it
    return model


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """A directory with the files that examples name, and ctxembed on the path."""
    (tmp_path / "corpus.txt").write_text(CORPUS * 20)
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress((CORPUS * 20).encode()))
    for name in ("wiki.txt", "novels.txt", "talk.txt"):
        (tmp_path / name).write_text(CORPUS)
    (tmp_path / "words.txt").write_text("apple\norange\nbank\n")
    (tmp_path / "sentences.txt").write_text(
        "An [apple] a day keeps the doctor away\nThe new [apple] phone\nThe [bank] of the river\n"
    )
    labelled = [("fruit", "she ate a ripe [apple]"), ("company", "[apple] launched a phone")] * 20
    (tmp_path / "apple.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in labelled))
    tool = tmp_path / "bin" / "ctxembed"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ctxembed "$@"\n')
    tool.chmod(0o755)
    return tmp_path


@pytest.mark.posix
@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_example(name: str, line: str, workdir: Path, bundled: Path | None) -> None:
    if bundled is None and name not in NEEDS_NO_MODEL:
        pytest.skip("there is no bundled model in this checkout")
    if not set("|<>&$") & set(line):  # what needs no shell runs here
        env = {"CTXEMBED_MODEL": str(bundled) if name in ON_A_COPY else None}
        done = in_process(shlex.split(line)[1:], "", env, workdir)
        assert done.returncode == 0, done.stderr
        assert done.stdout or " -o " in line
        return
    environment = {k: v for k, v in os.environ.items() if k != "CTXEMBED_MODEL"}
    environment["PATH"] = f"{workdir / 'bin'}:{environment['PATH']}"
    environment["PYTHONPATH"] = str(ROOT)
    if name in ON_A_COPY:
        environment["CTXEMBED_MODEL"] = str(bundled)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        capture_output=True,
        text=True,
        cwd=workdir,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or "> rows.tsv" in line or " -o " in line
    assert "Traceback" not in done.stderr
