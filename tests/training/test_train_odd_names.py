"""File names that are not UTF-8, and settings that gensim cannot take."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import CtxembedError
from ctxembed.model.model import Model
from ctxembed.text.corpus import Corpus
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.train import train
from tests.conftest import ROOT

TEXT = "An apple a day keeps the doctor away.\nThe river bank is green.\n" * 30
ODD = b"caf\xe9".decode(errors="surrogateescape")  # as Latin-1 writes it


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    try:
        (tmp_path / ODD).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    (tmp_path / ODD / f"{ODD}.txt").write_text(TEXT)
    return tmp_path


def ctxembed(workdir: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "ctxembed", *arguments],
        cwd=workdir,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        timeout=60,
    )


@pytest.mark.linux
@pytest.mark.parametrize("engine", ["own", "gensim"])
def test_a_corpus_and_a_model_with_names_that_are_no_utf8(engine: str, workdir: Path) -> None:
    options = ("-o", f"{ODD}.model", "--epochs", "1", "--engine", engine)
    done = ctxembed(workdir, "train", ODD, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines()[-1] == "model\tcaf\\udce9.model"
    description = (workdir / f"{ODD}.model" / "model.json").read_bytes().decode("utf-8")
    assert json.loads(description)["files"][0]["name"] == f"{ODD}/{ODD}.txt"
    done = ctxembed(workdir, "kwic", "bank", "--max", "1", "-m", f"{ODD}.model", "-f", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode("utf-8"))[0]["file"] == f"{ODD}/{ODD}.txt"
    missing = ctxembed(workdir, "info", "-m", f"{ODD}.none")
    assert (missing.returncode, missing.stdout) == (3, b"")


@pytest.mark.linux
def test_the_same_vectors_wherever_they_are_trained(workdir: Path) -> None:
    names = [workdir / "plain", workdir / ODD / "m"]
    for name in names:
        corpus = Corpus([str(workdir / ODD)])
        train(corpus, name, engine="gensim", epochs=1, workers=1, attention=False)
    one, other = (np.asarray(Model.open(name).vectors) for name in names)
    np.testing.assert_array_equal(one, other)


def test_a_thread_that_dies_ends_training(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text(TEXT)
    for workers in (1, 3):
        with pytest.raises(CtxembedError, match=r"^word2vec cannot be trained: value too large"):
            corpus = Corpus([str(tmp_path / "c.txt")])
            train(corpus, tmp_path / "m", epochs=2**32, workers=workers, engine="gensim")
    assert os.listdir(tmp_path) == ["c.txt"]


def test_half_a_character_is_not_utf8(tmp_path: Path) -> None:
    """UTF-7 can write a lone surrogate, which no list of words in UTF-8 can hold."""
    (tmp_path / "c.txt").write_bytes(b"an apple +2AA-pie\n" * 30)
    corpus = Corpus([str(tmp_path / "c.txt")], encoding="utf-7")
    train(corpus, tmp_path / "m", tokenizer=Tokenizer("whitespace"), epochs=1)
    assert Model.open(tmp_path / "m").vocabulary.words == ["an", "apple", "?pie"]
