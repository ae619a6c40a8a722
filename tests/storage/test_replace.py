"""Only files written by ctxembed are replaced or removed."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxembed.errors import UsageError
from ctxembed.storage.atomic import MARK, atomic_directory
from tests.conftest import Run
from tests.storage.test_atomic import leave


def precious(folder: Path, name: str, text: str = "precious") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def replace(target: Path) -> None:
    with atomic_directory(target, replace=True) as work:
        (work / "model.json").write_text("new")


FOREIGN_FILES: dict[str, Callable[[Path], Path]] = {
    "a model.json of another program": lambda m: precious(m, "model.json", "{}"),
    "that and its word list": lambda m: precious(m, "vocab.txt"),
    "a thesis": lambda m: precious(m, "thesis.tex"),
    "a thesis in a folder": lambda m: precious(m, "attention/learned/thesis.tex"),
    "an array in the index": lambda m: precious(m, "index/mine.npy"),
    "a hidden file": lambda m: precious(m, ".git/config"),
}


@pytest.mark.parametrize("what", FOREIGN_FILES)
def test_a_directory_of_another_program_stays(what: str, tmp_path: Path) -> None:
    precious(tmp_path / "m", "model.json", '{"name": "mine"}')
    kept = FOREIGN_FILES[what](tmp_path / "m")
    text = kept.read_text()
    with pytest.raises(UsageError, match=r"m is not a ctxembed model; it will not be replaced"):
        replace(tmp_path / "m")
    assert kept.read_text() == text
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.parametrize("what", list(FOREIGN_FILES)[2:])
def test_a_foreign_file_in_a_model_stays(what: str, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "m")
    kept = FOREIGN_FILES[what](tmp_path / "m")
    with pytest.raises(UsageError, match=f"{kept} was not written by ctxembed and would be lost"):
        replace(tmp_path / "m")
    assert kept.read_text() == "precious"


def test_a_file_written_meanwhile_is_kept(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "m")
    with (
        pytest.raises(UsageError, match=r"thesis\.tex was not written by ctxembed"),
        atomic_directory(tmp_path / "m", replace=True) as work,
    ):
        (work / "model.json").write_text("new")
        precious(tmp_path / "m", "thesis.tex")
    assert (tmp_path / "m" / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize("damage", ["{", "[]", "7", '{"format": 1}', ""])
def test_a_damaged_model_may_be_replaced(damage: str, tiny: Path, tmp_path: Path) -> None:
    """Its message says: train the model again."""
    shutil.copytree(tiny, tmp_path / "m")
    (tmp_path / "m" / "model.json").write_text(damage)
    replace(tmp_path / "m")
    assert (tmp_path / "m" / "model.json").read_text() == "new"


def test_what_ctxembed_writes_can_be_replaced(run: Run, often: Path, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("the river bank\nthe money bank\n" * 40)
    options = ("-o", "m", "--epochs", "1", "--unit", "subword")
    assert run("train", "c.txt", *options).returncode == 0
    shutil.copytree(often, tmp_path / "with senses")
    model = str(tmp_path / "with senses")
    assert run("learn", "-m", model, "--epochs", "0.01").returncode in (0, 5)
    assert run("senses", "bank", "--k", "2", "--save", "-m", model).returncode == 0
    for name in ("m", "with senses"):
        assert run("train", "c.txt", "-o", name, "--epochs", "1", "--force").returncode == 0
        assert json.loads((tmp_path / name / "model.json").read_text())["vocabulary"] == 4


def test_leftovers_of_a_killed_run_can_be_replaced(tiny: Path, tmp_path: Path, run: Run) -> None:
    shutil.copytree(tiny, tmp_path / "m")
    for name in (".senses.npz.ctxembed-123", ".model.json.ctxembed-new"):
        (tmp_path / "m" / name).write_text("half")
    (leave(tmp_path / "m" / "senses.npz") / "new").write_text("half")
    precious(leave(tmp_path / "m" / "index") / "new", "layer.json")
    assert run("info", "--check", "-m", "m", "--add").returncode == 0
    assert not (tmp_path / "m" / ".model.json.ctxembed-new").exists()
    replace(tmp_path / "m")
    assert os.listdir(tmp_path / "m") == ["model.json"]


@pytest.mark.posix
def test_only_leftovers_of_ctxembed_are_removed(tmp_path: Path) -> None:
    mine = precious(tmp_path / ".m.tmp-1", "diary.txt")
    unmarked = precious(tmp_path / f".m.ctxembed-{'a' * 16}", "diary.txt")
    link = tmp_path / f".m.ctxembed-{'b' * 16}"
    link.symlink_to(leave(tmp_path / "other"))
    file = precious(tmp_path, f".m.ctxembed-{'c' * 16}")
    leftover = leave(tmp_path / "m")
    precious(leftover / "new", "text")
    (tmp_path / "m").mkdir()
    replace(tmp_path / "m")
    assert {item.read_text() for item in (mine, unmarked, file)} == {"precious"}
    assert link.is_symlink() and (link / MARK).exists()
    assert not leftover.exists()
    assert sorted(os.listdir(tmp_path / "m")) == ["model.json"]
