"""While a model is replaced, each answer comes wholly from the old one or the new one."""

import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from ctxembed.attention.presets import general
from ctxembed.model.attentions import Saved, save_attention
from ctxembed.model.model import Model
from ctxembed.queries.compare import compare
from ctxembed.queries.neighbors import neighbors
from ctxembed.queries.show import vector
from ctxembed.storage import manifest as contents
from ctxembed.storage.atomic import atomic_directory
from ctxembed.storage.folder import Part
from ctxembed.storage.manifest import list_contents
from tests.conftest import Run, write_tiny

QUERIES, REPLACEMENTS = 500, 100


def other_model(folder: Path) -> Path:
    """Write a model of the same words whose every answer is another."""
    write_tiny(folder)
    rng = np.random.default_rng(1)
    np.save(folder / "vectors.npy", rng.normal(size=(10, 4)).astype(np.float32))
    return folder


def ask(path: Path) -> str:
    """Ask a few things of a model, opened for it."""
    model = Model.open(path)
    rows: list[object] = [compare(model, "the [bank] money").records()]
    rows += [neighbors(model, "apple").records(), vector(model, "bank").records()]
    index = model.index
    assert index is not None
    return str([*rows, index.words(index.sentence(2)), model.attentions(), model.size()])


@pytest.mark.posix
def test_answers_come_from_one_model_while_it_is_replaced(tmp_path: Path) -> None:
    models = write_tiny(tmp_path / "one"), other_model(tmp_path / "two")
    right = []
    for number, path in enumerate(models):
        list_contents(path)
        opened = Model.open(path)
        save_attention(opened, "learned", Saved(general("cosine", 4, 1 + number)))
        right.append(ask(path))
    assert right[0] != right[1]
    target = shutil.copytree(models[0], tmp_path / "m")
    writer = os.fork()
    if writer == 0:
        code = 1
        try:
            for turn in range(REPLACEMENTS):
                with atomic_directory(target, replace=True) as work:
                    shutil.copytree(models[1 - turn % 2], work, dirs_exist_ok=True)
            code = 0
        finally:
            os._exit(code)
    seen, ended, status = [0, 0], 0, 0
    try:
        while sum(seen) < QUERIES or not ended:
            seen[right.index(ask(target))] += 1  # any other answer is an error here
            ended, status = (ended, status) if ended else os.waitpid(writer, os.WNOHANG)
    finally:
        if not ended:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
    assert status == 0
    assert min(seen) > 0


@pytest.mark.posix  # replaces files that are open
def test_a_model_replaced_while_it_is_opened(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many attentions some are opened late: then all answers come from the new model."""
    models = write_tiny(tmp_path / "one"), other_model(tmp_path / "two")
    for number, folder in enumerate(models):
        list_contents(folder)
        save_attention(Model.open(folder), "learned", Saved(general("cosine", 4, 1 + number)))
    line = ("explain", "the [bank] money", "--attention", "learned", "-m")
    new = run(*line, str(models[1])).stdout
    target = shutil.copytree(models[0], tmp_path / "m")
    assert run(*line, str(target)).stdout != new
    opened = Model.open.__func__  # type: ignore[attr-defined]

    def open_and_replace(path: Path) -> Model:
        model: Model = opened(Model, path)
        if model.meta == Model.open(models[0]).meta:
            with atomic_directory(target, replace=True) as work:
                shutil.copytree(models[1], work, dirs_exist_ok=True)
        return model

    monkeypatch.setattr(contents, "MAX_OPENED", 0)
    monkeypatch.setattr(Model, "open", lambda path: (
        open_and_replace(path) if path == target else opened(Model, path)))  # fmt: skip
    assert run(*line, str(target)).stdout == new


def test_a_model_that_is_removed_while_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opened the old directory a moment before it was emptied opens the new one."""
    target, waiting = write_tiny(tmp_path / "m"), write_tiny(tmp_path / "new")
    looked = Part.exists

    def replace_first(part: Part) -> bool:
        if waiting.exists():
            target.rename(tmp_path / "old")
            waiting.rename(target)
            shutil.rmtree(tmp_path / "old")
        return looked(part)

    monkeypatch.setattr(Part, "exists", replace_first)
    assert len(Model.open(target).vocabulary.words) == 10
    assert not waiting.exists()
