"""A small fixed model: hand-made vectors, so that every printed number can be checked by hand."""

import gc
import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest

from ctxembed.attention.presets import general
from ctxembed.cli.main import main
from ctxembed.model.attentions import Saved, save_attention
from ctxembed.model.model import Model
from ctxembed.model.write import write_files
from ctxembed.storage.manifest import list_contents
from ctxembed.text.build_index import write_occurrences
from ctxembed.text.lines import write_lines

ROOT = Path(__file__).parent.parent
EVERYDAY = ROOT / "corpora" / "models" / "everyday"  # the small bundled model

SYSTEMS = {"posix": hasattr(os, "fork"), "linux": sys.platform == "linux"}
collect_ignore_glob = [] if SYSTEMS["linux"] else ["fuzz/*"]
collect_ignore = [] if SYSTEMS["posix"] else ["training/killed.py"]

if not SYSTEMS["posix"]:  # the files of the tests have the same bytes on every system
    Path.write_text = partialmethod(Path.write_text, newline="\n")  # type: ignore[assignment]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked posix or linux on other systems."""
    for item in items:
        for name, here in SYSTEMS.items():
            if not here and item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=f"needs {name}"))


# Tests that a shell runs in the background ignore Ctrl-C, and so would every command they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

WORDS = {  # [taste, technology, money, river]
    "the": [0.1, 0.1, 0.1, 0.1],
    "apple": [0.9, 0.3, 0.0, 0.0],
    "bank": [0.0, 0.0, 0.8, 0.6],
    "orange": [1.0, 0.0, 0.0, 0.0],
    "phone": [0.0, 1.0, 0.0, 0.0],
    "juice": [0.8, 0.0, 0.0, 0.6],
    "money": [0.0, 0.0, 1.0, 0.0],
    "river": [0.0, 0.0, 0.0, 1.0],
    "launched": [0.0, 0.8, 0.6, 0.0],
    "sweet": [0.6, 0.0, 0.0, 0.0],
}
TEXT = [
    "the apple juice sweet",
    "the apple orange",
    "the apple launched the phone",
    "the bank money",
    "the river bank quay",
    "orange juice sweet",
]


def write_tiny(folder: Path, text: Sequence[str] = TEXT) -> Path:
    """Write the model with its index, as train would."""
    sentences = [line.split() for line in text]
    tokens = [word for sentence in sentences for word in sentence]
    counts = {word: tokens.count(word) for word in WORDS}
    words = sorted(WORDS, key=lambda word: -counts[word])
    rare = sorted(set(tokens) - set(words))
    rows = {word: row for row, word in enumerate([*words, *rare])}
    directory = folder / "index"
    directory.mkdir(parents=True)
    np.save(directory / "ids.npy", np.array([rows[word] for word in tokens], np.int32))
    np.save(directory / "offsets.npy", np.cumsum([0, *map(len, sentences)]).astype(np.int64))
    np.save(directory / "lines.npy", np.arange(1, len(text) + 1, dtype=np.int32))
    write_lines(directory / "rare.txt", rare)
    number = np.array([counts[word] for word in words], np.int64)
    write_occurrences(directory, number)
    meta = {
        "sentences": len(text),
        "tokens": len(tokens),
        "dropped_words": len(rare),
        "word2vec": {"algorithm": "skipgram", "seed": 1},
        "tokenizer": {"kind": "word", "cased": False},
        "lines": True,
        "encoding": "utf-8",
        "files": [{"name": "tiny.txt", "sha256": "0" * 64, "sentences": len(text)}],
    }
    vectors = np.array([WORDS[word] for word in words], np.float32)
    write_files(folder, words, number, vectors, None, meta)
    return folder


def write_listed(tiny: Path, folder: Path) -> Path:
    """Copy a model; list its files in it, and add a learned attention that lists its own."""
    shutil.copytree(tiny, folder)
    list_contents(folder)
    frequency = np.arange(10, dtype=np.float32)
    save_attention(Model.open(folder), "learned", Saved(general("cosine", 4, 4, frequency)))
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of the small fixed model."""
    return write_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def often(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of the same model over its text said fifteen times."""
    return write_tiny(tmp_path_factory.mktemp("models") / "often", TEXT * 15)


@pytest.fixture(scope="session")
def model(tiny: Path) -> Model:
    """The small fixed model, opened."""
    return Model.open(tiny)


Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def in_process(arguments: Sequence[str], stdin: str, env: dict[str, str | None], cwd: Path) -> Done:
    """Run the command line as its own process would, without the price of starting one."""
    output, errors = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2)
    )
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name, value in env.items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        patch.setattr(sys, "argv", ["ctxembed", *arguments])
        patch.setattr(
            sys,
            "stdin",
            io.TextIOWrapper(
                io.BytesIO(stdin.encode("utf-8", "surrogateescape")), encoding="utf-8"
            ),
        )
        patch.setattr(sys, "stdout", output)
        patch.setattr(sys, "stderr", errors)
        terminated = signal.getsignal(signal.SIGTERM)
        try:
            main()
        except SystemExit as leave:
            code = int(leave.code or 0)
        finally:
            signal.signal(signal.SIGTERM, terminated)
    if not SYSTEMS["posix"]:
        gc.collect()  # Windows cannot replace a file that is still mapped
    texts = []
    for stream in (output, errors):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Done(["ctxembed", *arguments], code, *texts)


def in_subprocess(
    arguments: Sequence[str], stdin: str, env: dict[str, str | None], cwd: Path
) -> Done:
    """Run the command line in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **env}
    return subprocess.run(
        [sys.executable, "-m", "ctxembed", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={name: value for name, value in environment.items() if value is not None},
        timeout=300,
    )


def in_bash(line: str, model: Path) -> Done:
    """Run a shell line, in which `ctxembed` is the command, on a model."""
    command = f'"{sys.executable}" -m ctxembed'
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line.replace("ctxembed", command)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CTXEMBED_MODEL": str(model)},
    )


def _runner(start: Callable[..., Done], tmp_path: Path, tiny: Path) -> Run:
    def run_(
        *arguments: str,
        stdin: str = "",
        env: dict[str, str | None] | None = None,
        cwd: Path = tmp_path,
    ) -> Done:
        return start(arguments, stdin, {"CTXEMBED_MODEL": str(tiny), **(env or {})}, cwd)

    return run_


@pytest.fixture
def run(tmp_path: Path, tiny: Path) -> Run:
    """Run ctxembed here, in an empty directory, on the small fixed model."""
    return _runner(in_process, tmp_path, tiny)


@pytest.fixture
def spawn(tmp_path: Path, tiny: Path) -> Run:
    """The same in a process of its own: for signals, locales, start-up and memory."""
    return _runner(in_subprocess, tmp_path, tiny)


def mentions(text: str, words: str) -> bool:
    """Tell whether a message has all of these words; a~b are words next to each other."""
    return all(word.replace("~", " ") in text for word in words.split())


def stream(numbers: list[int]) -> Iterator[tuple[int]]:
    """Yield three rows, and note which of them were asked for."""
    for number in range(3):
        numbers.append(number)
        yield (number,)
