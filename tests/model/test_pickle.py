"""A Model and a Table in another process; few open files, closed when told, and nobody else's."""

import gc
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.errors import ModelError
from ctxembed.model.model import Model
from ctxembed.storage.manifest import list_contents
from tests.conftest import write_listed

MAX_FILES = 13  # that a bundled model with its dictionary keeps open
SENTENCE = "the [apple] launched the phone"


@pytest.fixture
def path(tiny: Path, tmp_path: Path) -> Path:
    return write_listed(tiny, tmp_path / "m")


def test_a_model_is_pickled_by_its_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    model = Model.open("m")
    data = pickle.dumps(model)
    monkeypatch.chdir("/")
    copy = pickle.loads(data)
    assert len(data) < 1000 and copy.path == path and copy.files is not model.files
    expected = ctxembed.compare(Model.open(path), SENTENCE).records()
    assert str(ctxembed.compare(copy, SENTENCE).records()) == str(expected)


def test_another_model_at_that_path_is_refused(path: Path) -> None:
    data = pickle.dumps(Model.open(path))
    np.save(path / "vectors.npy", np.load(path / "vectors.npy")[::-1])
    list_contents(path)
    with pytest.raises(ModelError, match="not the model that was pickled"):
        pickle.loads(data)
    shutil.rmtree(path)
    with pytest.raises(ModelError, match="no such model"):
        pickle.loads(data)


def test_a_worked_example_is_pickled_by_value() -> None:
    model = ctxembed.open_worked_example("bank")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.vectors, model.vectors)
    line = "money [bank] grows"
    expected = ctxembed.explain(model, line).records()
    assert str(ctxembed.explain(copy, line).records()) == str(expected)


@pytest.mark.linux  # /proc
def test_a_pickle_closes_nobody_elses_files(path: Path, tmp_path: Path) -> None:
    """In a process with many open files, a model comes and goes and all of them stay open."""
    data = tmp_path / "pickled"
    data.write_bytes(pickle.dumps(Model.open(path)))
    code = (
        "import os, pickle, sys\n"
        "files = [open(os.devnull) for _ in range(60)]\n"
        "model = pickle.load(open(sys.argv[1], 'rb'))\n"
        "assert model.vectors.any()\n"
        "model.close(); model.close(); del model\n"
        "for file in files: os.fstat(file.fileno())\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, data], check=True)


def test_open_files_are_not_pickled(path: Path) -> None:
    with pytest.raises(TypeError, match="open files cannot be pickled"):
        pickle.dumps(Model.open(path).files)


def test_a_table_is_pickled_with_its_rows(path: Path) -> None:
    model = Model.open(path)
    tables = (
        ctxembed.compare(model, SENTENCE), ctxembed.explain(model, SENTENCE),
        ctxembed.contextualize(model, iter([SENTENCE, "an [odd] line"])),
    )  # fmt: skip
    for table in tables:
        copy = pickle.loads(pickle.dumps(table))
        assert str(copy.records()) == str(table.records()) and copy.columns == table.columns
        assert copy.unknown == table.unknown and copy.notes == table.notes
        if table.lead:
            assert list(copy.lead()) == list(table.lead())
        if table.charts:
            assert ctxembed.draw(copy) == ctxembed.draw(table)


def count_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.linux
@pytest.mark.parametrize("name", ["english", "everyday"])
def test_a_bundled_model_keeps_few_files_open(name: str) -> None:
    ctxembed.compare(name, SENTENCE).records()  # the dictionary stays open
    before = count_files()
    with ctxembed.open(name) as model:
        ctxembed.compare(model, SENTENCE).records()
        ctxembed.neighbors(model, "apple").records()
        assert count_files() - before <= MAX_FILES
    gc.collect()  # the dictionary's, which nothing refers to any more
    assert count_files() <= before


def test_a_closed_model_is_refused(path: Path) -> None:
    with ctxembed.open(path) as model:
        vectors = model.vectors
        expected = np.array(vectors)
    np.testing.assert_array_equal(vectors, expected)  # what was read stays
    with pytest.raises(ModelError, match="was closed; open it again"):
        _ = model.vectors
    with pytest.raises(ModelError, match="was closed; open it again"):
        ctxembed.compare(model, SENTENCE)
    model.close()
    example = ctxembed.open_worked_example("bank")
    example.close()  # it has no files
    assert len(example.vectors)
