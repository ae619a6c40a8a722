"""A directory or a file is written whole or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxembed.errors import CtxembedError, UsageError
from ctxembed.storage import atomic as whole_module
from ctxembed.storage.atomic import atomic_directory, atomic_file, sweep_files


def make(target: Path, text: str, *, replace: bool = False) -> None:
    with atomic_directory(target, replace=replace) as work:
        (work / "model.json").write_text(text)
        for name in ("vocab.txt", "vectors.npy", "counts.npy"):
            (work / name).touch()


def dead() -> int:
    """Return the number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_new_and_replaced(tmp_path: Path) -> None:
    make(tmp_path / "m", "one")
    assert (tmp_path / "m" / "model.json").read_text() == "one"
    make(tmp_path / "m", "two", replace=True)
    assert (tmp_path / "m" / "model.json").read_text() == "two"
    assert os.listdir(tmp_path) == ["m"]


def test_without_a_swap_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_module, "_exchange", lambda one, other: False)
    make(tmp_path / "m", "one")
    make(tmp_path / "m", "two", replace=True)
    assert (tmp_path / "m" / "model.json").read_text() == "two"
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    make(tmp_path / "m", "one")
    with pytest.raises(error), atomic_directory(tmp_path / "m", replace=True) as work:
        (work / "model.json").write_text("two")
        raise error
    assert (tmp_path / "m" / "model.json").read_text() == "one"
    assert os.listdir(tmp_path) == ["m"]


def test_leftovers_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    (tmp_path / f".m.tmp-{dead()}").mkdir()
    (tmp_path / f".m.tmp-{os.getppid()}").mkdir()  # of a run that is still at work
    (tmp_path / ".m.tmp-mine").mkdir()
    make(tmp_path / "m", "one")
    assert sorted(os.listdir(tmp_path)) == sorted([".m.tmp-mine", f".m.tmp-{os.getppid()}", "m"])


def test_an_old_model_moved_aside_is_restored(tmp_path: Path) -> None:
    """Where there is no swap, a run may die between its two renames."""
    make(tmp_path / "m", "one")
    (tmp_path / "m").rename(tmp_path / f".m.old-{dead()}")
    with pytest.raises(UsageError, match="exists"):
        make(tmp_path / "m", "two")
    assert (tmp_path / "m" / "model.json").read_text() == "one"


def test_another_run_was_faster(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="written by another run"),
        atomic_directory(tmp_path / "m", replace=False) as work,
    ):
        (work / "model.json").write_text("late")
        (tmp_path / "m").mkdir()
        (tmp_path / "m" / "model.json").write_text("early")
    assert (tmp_path / "m" / "model.json").read_text() == "early"
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.posix
def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    make(tmp_path / "m", "one")
    (tmp_path / "link").symlink_to(tmp_path / "m")
    with pytest.raises(UsageError, match="link is not a directory"):
        make(tmp_path / "link", "two", replace=True)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="dangling exists"):
        make(tmp_path / "dangling", "two")


def test_a_folder_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(CtxembedError, match=r"cannot be written to: permission denied"):
        make(tmp_path / "m", "one")


def test_a_file_new_and_replaced(tmp_path: Path) -> None:
    for text in (b"one", b"two"):
        with atomic_file(tmp_path / "f") as file:
            file.write(text)
        assert (tmp_path / "f").read_bytes() == text
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError(28, "No space left")])
def test_a_failure_leaves_the_file_that_was_there(
    tmp_path: Path, error: type[BaseException] | BaseException
) -> None:
    (tmp_path / "f").write_bytes(b"one")
    expected = CtxembedError if isinstance(error, OSError) else error
    with pytest.raises(expected), atomic_file(tmp_path / "f") as file:  # type: ignore[arg-type]
        file.write(b"half")
        raise error
    assert (tmp_path / "f").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.posix
def test_a_foreign_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    other = tmp_path / f".f.ctxembed-{os.getpid()}"
    other.symlink_to("precious")
    with (
        pytest.raises(CtxembedError, match="f: cannot be written: file exists"),
        atomic_file(tmp_path / "f") as file,
    ):
        file.write(b"new")
    assert other.read_bytes() == b"precious"


def test_a_leftover_with_this_process_id_is_removed(tmp_path: Path) -> None:
    """In a container every run may have the same number; what this one writes itself stays."""
    (tmp_path / f".f.ctxembed-{os.getpid()}").write_bytes(b"half")
    with atomic_file(tmp_path / "f") as file:
        file.write(b"new")
        sweep_files(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.posix
def test_links_and_pipes_stay(tmp_path: Path) -> None:
    """What is no file is written into; -o /dev/null must not become a file."""
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with atomic_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with atomic_file(tmp_path / "pipe") as file:
        file.write(b"new")
    assert os.read(reader, 9) == b"new"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    assert len(list(tmp_path.iterdir())) == 3
