"""A directory or a file is written whole or not at all."""

import os
import shutil
from itertools import count
from pathlib import Path

import pytest

from ctxembed.errors import CtxembedError, UsageError
from ctxembed.storage import atomic as whole_module
from ctxembed.storage.atomic import MARK, atomic_directory, atomic_file
from ctxembed.storage.locks import create_lock


def make(target: Path, text: str, *, replace: bool = False) -> None:
    with atomic_directory(target, replace=replace) as work:
        (work / "model.json").write_text(text)
        for name in ("vocab.txt", "vectors.npy", "counts.npy"):
            (work / name).touch()


NUMBERS = count()


def leave(target: Path) -> Path:
    """Return the directory that a killed run left beside a path; nobody holds its lock."""
    place = target.with_name(f".{target.name}.ctxembed-{next(NUMBERS):016x}")
    place.mkdir()
    (place / MARK).touch()
    return place


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


def test_leftovers_are_removed_unless_their_lock_is_held(tmp_path: Path) -> None:
    for name in ("new/index/ids.npy", "new/model.json"):
        precious = leave(tmp_path / "m") / name
        precious.parent.mkdir(parents=True)
        precious.touch()
    (tmp_path / f".m.ctxembed-{'f' * 16}").mkdir()  # killed before it had a lock
    running = leave(tmp_path / "m")
    lock = create_lock(running / MARK)
    assert lock is not None
    elsewhere = leave(tmp_path / "m")  # on a file system that another machine has mounted too
    (elsewhere / MARK).write_text("another machine\nanother boot")
    kept = [running.name, elsewhere.name, ".m.tmp-mine", ".m.tmp-²", f".m.tmp-{'9' * 23}"]
    for name in kept[2:]:
        (tmp_path / name).mkdir()
    make(tmp_path / "m", "one")
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "m"])
    os.close(lock)  # as the system does when a process ends
    make(tmp_path / "m", "two", replace=True)
    assert sorted(os.listdir(tmp_path)) == sorted([*kept[1:], "m"])


def test_an_old_model_moved_aside_is_restored(tmp_path: Path) -> None:
    """Where there is no swap, a run may die between its two renames."""
    make(tmp_path / "m", "one")
    (tmp_path / "m").rename(leave(tmp_path / "m") / "old")
    with pytest.raises(UsageError, match="exists"):
        make(tmp_path / "m", "two")
    assert (tmp_path / "m" / "model.json").read_text() == "one"
    assert os.listdir(tmp_path) == ["m"]


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


def test_what_a_run_writes_stays_while_another_writes(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "f") as one:
        one.write(b"one")
        with atomic_file(tmp_path / "f") as other:
            other.write(b"other")
        assert (tmp_path / "f").read_bytes() == b"other"
    assert (tmp_path / "f").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.posix
@pytest.mark.parametrize("error", [ValueError("mmap"), EOFError("no data left"), OSError(2, "No")])
def test_what_another_program_removed_is_named(error: Exception, tmp_path: Path) -> None:
    make(tmp_path / "m", "one")
    with (
        pytest.raises(CtxembedError, match=r"removed by another program.*m is as it was"),
        atomic_directory(tmp_path / "m", replace=True) as work,
    ):
        shutil.rmtree(work.parent)
        raise error
    assert (tmp_path / "m" / "model.json").read_text() == "one"


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
