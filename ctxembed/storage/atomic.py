"""Write a directory, a file, or a pair of files atomically: completely or not at all."""

import ctypes
import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ctxembed.errors import CtxembedError, ModelError, UsageError, read_failure
from ctxembed.storage.folder import Folder, replace_path
from ctxembed.storage.manifest import find_description, list_contents, listing

MARK = ".ctxembed"  # marks a directory being written, so that leftovers of kills are recognized
_INDEX = "ids|offsets|lines|documents|starts|positions|places|pieces|text"  # arrays of an index
_LEFT = r"\.(model\.json|layer\.json|senses\.npz)\.ctxembed-\d+"  # by a run that was killed
_ATTENTION = rf"layer\.json|[a-z_]+\.npy|{_LEFT}"
_SENSES = r"senses\.json|(shares|vectors|weights|bias)\.npy"  # as version 0.2 kept them
# The files of each kind of directory, by the file that it must have.
_HOLDS = {
    "model.json": rf"{_LEFT}|(model|subword)\.json|(vocab|phrases)\.txt"
    r"|(vectors|output|counts|frames|mean|seen)\.npy|senses\.npz"
    rf"|index/(rare\.txt|({_INDEX})\.npy)"
    rf"|attention/[^/]+/({_ATTENTION}|\.ctxembed)|senses/[^/]+/({_SENSES}|\.ctxembed)",
    "layer.json": _ATTENTION,
}
_writing: set[Path] = set()  # by this run; a killed run may have had the same process id
_VECTORS = {"vocab.txt", "vectors.npy", "counts.npy"}  # a model whose description is damaged
_NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def atomic_directory(target: Path, *, replace: bool) -> Iterator[Path]:
    """Yield a temporary directory to write into, and rename it to the target at the end.

    After a crash at any moment there is the old directory or the new one, never a part of one.
    """
    target = Path(os.path.abspath(target))
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such directory")
    _sweep(target)
    if target.exists() or target.is_symlink():
        if not replace:
            raise UsageError(f"{target} exists; give --force to replace it, or another name")
        if not target.is_dir() or target.is_symlink():
            raise UsageError(f"{target} is not a directory; give another name")
        check_replaceable(target)
    work = target.parent / f".{target.name}.tmp-{os.getpid()}"
    try:
        work.mkdir()
        (work / MARK).touch()
    except OSError as error:
        raise CtxembedError(read_failure(f"{target.parent}: cannot be written to", error)) from None
    try:
        yield work
        list_contents(work)
        for item in (work, *work.rglob("*")):
            if item.is_dir():
                _sync_folder(item)
            else:
                with item.open("r+b") as file:  # Windows syncs only files open for writing
                    os.fsync(file.fileno())
        if target.exists() and replace:
            check_replaceable(target)
        (work / MARK).unlink()
        _put(work, target, replace)
    except OSError as error:
        # numpy reports only how many items it could write
        if error.errno in _NO_SPACE or "requested and" in str(error):
            raise CtxembedError(
                f"no space left on the disk that holds {target.parent}; nothing was changed"
            ) from None
        raise
    finally:
        _remove(work)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file to write into, and rename it to the path at the end.

    A link is kept and its target is replaced; a device or a pipe is written to directly.
    """
    path = path.resolve() if path.is_symlink() else path
    work = path.parent / f".{path.name}.ctxembed-{os.getpid()}"
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as file:
                yield file
            return
        sweep_files(path)
        file = work.open("xb")
        _writing.add(work)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            replace_path(work, path)
        finally:
            _writing.discard(work)
            work.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise CtxembedError(read_failure(f"{path}: cannot be written", error)) from None


@contextmanager
def atomic_pair(one: Path, other: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Yield two files to write into, and rename both to their paths when both are complete.

    They are written in a folder beside the paths. It is renamed to `ready` first: if this run is
    killed after that, the next one moves the files. Readers refuse the pair until then.
    """
    for left in find_leftovers(one, "ctxembed"):
        shutil.rmtree(left, ignore_errors=True)
    _finish(one, other)  # what was ready when its run was killed
    work, ready = one.parent / f".{one.name}.ctxembed-{os.getpid()}", _ready(one)
    try:
        work.mkdir()
        try:
            with (work / one.name).open("xb") as first, (work / other.name).open("xb") as second:
                yield first, second
                for file in (first, second):
                    file.flush()
                    os.fsync(file.fileno())
            replace_path(work, ready)
            _finish(one, other)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        _sync_folder(one.parent)
    except OSError as error:
        raise CtxembedError(read_failure(f"{one}: cannot be written", error)) from None


def check_pair_complete(one: Path) -> None:
    """Refuse an array whose word list may be of an earlier version."""
    if _ready(one).is_dir():
        raise ModelError(f"{one}: incomplete, its run was killed; export it again")


def _ready(one: Path) -> Path:
    return one.parent / f".{one.name}.ctxembed-ready"


def _finish(one: Path, other: Path) -> None:
    """Move files that are ready, if there are any, to their paths."""
    for path in (one, other):
        waiting = _ready(one) / path.name
        if waiting.exists():
            replace_path(waiting, path)
    shutil.rmtree(_ready(one), ignore_errors=True)


def sweep_files(path: Path) -> None:
    """Remove temporary files that killed runs left beside a file."""
    for left in find_leftovers(path, "ctxembed"):
        if left.is_file() and not left.is_symlink() and left not in _writing:
            left.unlink(missing_ok=True)


def check_replaceable(folder: Path) -> None:
    """Refuse to replace a directory that holds a file which ctxembed did not write."""
    items = (item for item in folder.rglob("*") if item.is_symlink() or not item.is_dir())
    files = {item.relative_to(folder).as_posix() for item in items}
    mark = next((name for name in _HOLDS if name in files), None)
    if mark is None and folder.parent.name == "attention":
        mark = "layer.json"  # a damaged attention: this file is missing
    if files and (mark is None or (mark == "model.json" and not _is_model(folder, files))):
        raise UsageError(f"{folder} is not a ctxembed model; it will not be replaced")
    listed: Collection[str] = ()
    with suppress(OSError, ModelError):  # damaged
        listed = listing(find_description(Folder(folder, ""))) or ()
    for name in sorted(files):
        if name not in listed and not re.fullmatch(_HOLDS[mark or ""], name):
            lost = f"{folder / name} was not written by ctxembed and would be lost"
            raise UsageError(f"{lost}; move it, or give another name")


def _is_model(folder: Path, files: set[str]) -> bool:
    try:
        meta = json.loads((folder / "model.json").read_bytes())
        return {"format", "vocabulary"} <= set(meta) or files >= _VECTORS
    except (OSError, ValueError, TypeError):
        return files >= _VECTORS


def _put(work: Path, target: Path, replace: bool) -> None:
    """Rename the finished directory to the target."""
    free = not target.exists()
    if free:
        try:
            replace_path(work, target)
        except OSError:
            if not os.path.lexists(target):
                raise
            free = False  # another run wrote it after the check
    if not free and not replace:
        raise UsageError(f"{target} was written by another run meanwhile; it is unchanged")
    if not free and not _exchange(work, target):
        # The system cannot swap two names in one step: move the old directory aside first.
        aside = target.parent / f".{target.name}.old-{os.getpid()}"
        try:
            replace_path(target, aside)
            try:
                replace_path(work, target)
            except OSError:
                replace_path(aside, target)
                raise
        except PermissionError:
            raise CtxembedError(
                f"{target}: another program uses it; it is unchanged. Close that program and"
                " run this command again"
            ) from None
        _remove(aside)
    _sync_folder(target.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step (Linux); return whether it was done."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):  # CDLL(None) is a TypeError on Windows
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), swap) == 0)


def _sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    with suppress(OSError):  # Windows and some file systems cannot sync a directory
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(target: Path) -> None:
    """Remove leftovers of killed runs, and restore an old directory that one had moved aside."""
    for kind in ("old", "tmp"):
        for item in filter(_is_leftover, find_leftovers(target, kind)):
            if kind == "tmp" or target.exists():
                _remove(item)
            else:
                item.rename(target)


def _remove(folder: Path) -> None:
    """Remove a directory; its mark last, in case this run is killed too."""
    with suppress(OSError):
        (folder / MARK).touch()
        for item in folder.iterdir():
            if item.name != MARK:
                shutil.rmtree(item) if item.is_dir() else item.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _is_leftover(item: Path) -> bool:
    with suppress(UsageError):
        if item.is_dir() and not item.is_symlink():
            if not (item / MARK).is_file():
                check_replaceable(item)
            return True
    return False


def find_leftovers(path: Path, kind: str) -> Iterator[Path]:
    """Yield leftovers beside a path: its name with the process id of a run that has ended."""
    begin = f".{path.name}.{kind}-"
    for item in path.parent.glob(".*"):
        number = item.name.removeprefix(begin)
        if item.name.startswith(begin) and number.isdigit() and not _alive(int(number)):
            yield item


def _alive(process: int) -> bool:
    """Return whether another process with this id is running."""
    if process == os.getpid():
        return False
    if sys.platform == "win32":  # there, os.kill(process, 0) would send Ctrl-C
        synchronize, timeout = 0x100000, 0x102
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(synchronize, False, process)
        running = bool(handle) and kernel.WaitForSingleObject(handle, 0) == timeout
        kernel.CloseHandle(handle)
        return running
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # else a process of another user
    return True
