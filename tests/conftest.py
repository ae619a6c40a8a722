"""A small fixed model: hand-made vectors, so that every printed number can be checked by hand."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from ctxembed.store.model import Model, write, write_lines
from ctxembed.text import index

ROOT = Path(__file__).parent.parent

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
    place = folder / "index"
    place.mkdir(parents=True)
    np.save(place / "ids.npy", np.array([rows[word] for word in tokens], np.int32))
    np.save(place / "offsets.npy", np.cumsum([0, *map(len, sentences)]).astype(np.int64))
    np.save(place / "lines.npy", np.arange(1, len(text) + 1, dtype=np.int32))
    write_lines(place / "rare.txt", rare)
    number = np.array([counts[word] for word in words], np.int64)
    index.write_occurrences(place, number)
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
    write(folder, words, number, vectors, None, meta)
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


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path, tiny: Path) -> Run:
    """Run ctxembed in a process of its own, in an empty directory, on the small fixed model."""

    def run_(
        *arguments: str, stdin: str = "", env: dict[str, str] | None = None, cwd: Path = tmp_path
    ) -> "subprocess.CompletedProcess[str]":
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "CTXEMBED_MODEL": str(tiny),
            "PYTHONUTF8": "1",
            **(env or {}),
        }
        return subprocess.run(
            [sys.executable, "-m", "ctxembed", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=cwd,
            env=environment,
            timeout=300,
        )

    return run_
