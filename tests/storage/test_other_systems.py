"""The core commands work without what Windows and macOS lack."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

import numpy as np
import pytest

from ctxembed.errors import CtxembedError, ModelError, Replaced
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses
from ctxembed.storage import folder as folder_module
from ctxembed.storage.atomic import atomic_directory, atomic_file
from ctxembed.storage.folder import REPLACE_WAITS, Folder
from ctxembed.storage.manifest import list_contents, listing, manifest_checksum, write_json
from tests.conftest import ROOT, Run
from tests.storage.test_atomic import make


@pytest.fixture
def windows(tmp_path: Path) -> Iterator[Run]:
    """Run a command in tmp_path/work on a simulated Windows with a console of cp1252."""
    (tmp_path / "work").mkdir()

    def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
        done = subprocess.run(
            [sys.executable, "-m", "tests.windows", *arguments],
            input=stdin,
            capture_output=True,
            cwd=tmp_path / "work",
            env={**os.environ, **env, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            timeout=300,
        )
        output, errors = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in errors, errors
        return subprocess.CompletedProcess(done.args, done.returncode, output, errors)

    yield run
    assert list((tmp_path / "work").rglob(".*")) == []  # no temporary file stays


@pytest.mark.posix  # Windows itself runs every other test
def test_core_commands(windows: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    topics = [[f"{name}{number}" for number in range(20)] for name in ("river", "money")]
    common = ["the", "bank", "apple", "čaj"]
    sentences = [
        " ".join(rng.permutation([*common, *rng.choice(topics[number % 2], 5)]))
        for number in range(1200)
    ]
    (tmp_path / "work" / "c.txt").write_bytes("\r\n".join(sentences).encode())

    def run(line: str, **options: bytes) -> str:
        done = windows(*line.split(" "), **options)
        assert done.returncode == 0, (line, done.stderr)
        return done.stdout

    run("train c.txt -o m --epochs 1 --dim 8 --workers 2")
    run("train c.txt -o m --epochs 1 --dim 8 --force")
    assert "vocabulary\t44" in run("info -m m")
    vocabulary = (tmp_path / "work/m/vocab.txt").read_bytes()
    assert b"\r" not in vocabulary and "čaj\n".encode() in vocabulary
    assert "bank" in run("compare - -m m", stdin=b"the river1 [bank]\r\nthe [bank] money1\r\n")
    for _ in range(2):  # the second replaces the first
        run("learn -m m --epochs 0.1")
    for word in ("bank", "apple"):
        run(f"senses {word} --k 2 --save -m m")
    model = Model.open(tmp_path / "work/m")
    assert (model.attentions(), list(open_senses(model))) == (["learned"], ["bank", "apple"])
    for name in ("v.txt", "v.npy"):
        run(f"export {name} -m m")
        run(f"import {name} -o from-{name}")
    assert "čaj" in run("neighbors bank -n 44 -m from-v.npy")
    run("check m")


def test_names_in_a_manifest_have_slashes_and_stay_inside(tiny: Path, tmp_path: Path) -> None:
    path = shutil.copytree(tiny, tmp_path / "m")
    list_contents(path)
    part = Folder(path, "fix") / "model.json"
    listed = listing(part)
    assert listed is not None and "index/ids.npy" in listed
    assert PureWindowsPath("index\\ids.npy").as_posix() in listed
    for name in ("..\\x.npy", "../x.npy", "C:x.npy", "/x.npy", "index\\ids.npy", "a//b.npy"):
        meta = {"format": 2, "contents": {name: {}}}
        write_json(path / "model.json", {**meta, "generation": manifest_checksum(meta)})
        with pytest.raises(ModelError, match="outside"):
            listing(Folder(path, "fix") / "model.json")


@pytest.mark.parametrize("times", [1, len(REPLACE_WAITS), 99])
def test_a_locked_file_on_replace(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short lock is waited for; a long one is an error, and nothing is lost."""
    real, refused = os.replace, 0

    def replace(source: Path, target: Path) -> None:
        nonlocal refused
        refused += 1
        if refused <= times:
            raise PermissionError(13, "Permission denied", str(source))
        real(source, target)

    def write(text: str) -> None:
        with atomic_file(tmp_path / "f") as file:
            file.write(text.encode())
        make(tmp_path / "m", text, replace=True)

    write("one")
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(folder_module, "REPLACE_WAITS", (0.001,) * len(REPLACE_WAITS))
    monkeypatch.setattr("ctxembed.storage.atomic._exchange", lambda one, other: False)
    if times <= len(REPLACE_WAITS):
        write("two")
    else:
        with pytest.raises(CtxembedError, match="cannot be written"):
            write("two")
        with pytest.raises(CtxembedError, match="another program uses it"):
            make(tmp_path / "m", "two", replace=True)
    text = "two" if times <= len(REPLACE_WAITS) else "one"
    assert (tmp_path / "f").read_text() == (tmp_path / "m" / "model.json").read_text() == text
    assert sorted(os.listdir(tmp_path)) == ["f", "m"]


def test_a_model_is_replaced_while_it_is_used(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows no file stays open; one that is read too late is refused."""
    monkeypatch.setattr(folder_module, "_FOLDER", None)
    path = shutil.copytree(tiny, tmp_path / "m")
    list_contents(path)
    model = Model.open(path)
    vectors = model.vectors[:]
    assert not model.files.numbers and isinstance((model.files / "vectors.npy").open_data(), bytes)
    with atomic_directory(path, replace=True) as work:
        shutil.copytree(tiny, work, dirs_exist_ok=True)
        np.save(work / "counts.npy", np.ones(10, np.int64))
    np.testing.assert_array_equal(model.vectors[:], vectors)
    with pytest.raises(Replaced):
        _ = model.counts
