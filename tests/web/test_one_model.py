"""The page answers from the model that was opened: after it is replaced, and never from files
that another program has written to since."""

import errno
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.model import Model
from ctxembed.storage import folder
from ctxembed.storage.manifest import list_contents
from ctxembed.web.jobs import Jobs
from tests.conftest import TEXT, write_tiny
from tests.web.served import Held, Served, explore

APPLE = "the [apple] launched the phone"
MAP = {"word": "apple", "attention": "general"}
CHANGED = (409, {"error": "The model was changed in place. Restart explore."})


@pytest.fixture
def models(often: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two models of equal shapes that give different answers, with checksums."""
    paths = tmp_path / "m", tmp_path / "other"
    for path in paths:
        shutil.copytree(often, path)
    np.save(paths[1] / "vectors.npy", np.load(paths[1] / "vectors.npy")[::-1])
    for path in paths:
        list_contents(path)
    return paths


def replace(path: Path, other: Path) -> None:
    """Put another directory under the path, as train --force does."""
    path.rename(path.with_name("old"))
    other.rename(path)
    shutil.rmtree(path.with_name("old"))


def finished_map(served: Served) -> tuple[int, object]:
    while (answer := served.ask("map", **MAP))[0] == 202:
        time.sleep(0.05)
    return answer


@pytest.mark.posix
def test_a_map_is_of_the_model_that_was_opened(models: tuple[Path, Path], tmp_path: Path) -> None:
    with explore(models[0]) as served:
        expected = finished_map(served)
        assert expected[0] == 200
    with explore(models[0]) as served:
        replace(models[0], write_tiny(tmp_path / "larger", TEXT * 30))
        assert finished_map(served) == expected
        assert served.ask("explain", sentence=APPLE)[0] == 200


def test_without_open_files_a_replaced_model_is_refused(
    models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where a process cannot inherit files."""
    monkeypatch.setattr(folder, "_FOLDER", None)
    jobs = Jobs(Model.open(models[0]))
    assert jobs._key("apple", "general")
    shutil.copytree(models[1], models[0], dirs_exist_ok=True)  # same inode: only checksums differ
    with pytest.raises(ModelError, match="damaged"):
        while isinstance(jobs.ask("apple", "general"), dict):
            time.sleep(0.05)
    jobs.close()


def copy(path: Path, other: Path) -> None:
    shutil.copytree(other, path, dirs_exist_ok=True, copy_function=shutil.copyfile)


def copy_with_times(path: Path, other: Path) -> None:
    shutil.copytree(other, path, dirs_exist_ok=True)


def cut(path: Path, _: Path) -> None:
    for file in path.rglob("*.npy"):
        os.truncate(file, 0)


@pytest.mark.posix
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("change", [copy, copy_with_times, cut])
def test_a_change_in_place_is_noticed(
    change: Callable[[Path, Path], None], mapped: bool, models: tuple[Path, Path], tmp_path: Path
) -> None:
    """Files are cut or overwritten before they were read, and after; large ones are mapped."""
    hook = Held(tmp_path, "import ctxembed.web.server as s\ns.MAX_COPIED = 0\n" if mapped else "")
    with explore(models[0], held=hook) as served:
        assert served.ask("explain", sentence=APPLE)[0] == 200
        change(*models)
        assert served.ask("explain", sentence=APPLE) == CHANGED
        assert served.ask("compare", sentences=[APPLE], axes={}) == CHANGED
        assert finished_map(served) == CHANGED


@pytest.mark.posix
def test_a_map_of_changed_files_is_refused(models: tuple[Path, Path], tmp_path: Path) -> None:
    held = Held(tmp_path)
    with explore(models[0], held=held) as served:
        assert served.ask("map", **MAP)[0] == 202
        held.wait_for()
        copy(*models)
        held.release()
        assert finished_map(served) == CHANGED


def test_a_process_that_cannot_start_is_an_error(
    often: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(CtxembedError, match="process for the map: too many open files"):
        Jobs(Model.open(often)).ask("apple", "general")
