"""Write a directory, a file, or two files that belong together whole or not at all."""

import ctypes
import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ctxembed.errors import CtxembedError, ModelError, UsageError, read_failure
from ctxembed.storage.manifest import list_contents, listed_in, remember

MARK = ".ctxembed"  # in a directory that is being written: what a killed run left is known by it
_INDEX = "ids|offsets|lines|documents|starts|positions|places|pieces|text"  # arrays of an index
_LEFT = r"\.(model\.json|layer\.json|senses\.npz)\.ctxembed-\d+"  # by a run that was killed
_ATTENTION = rf"layer\.json|[a-z_]+\.npy|{_LEFT}"
_SENSES = r"senses\.json|(shares|vectors|weights|bias)\.npy"  # as version 0.2 kept them
# What our directories hold, by the file that each must have; whatever else is in one is not ours.
_HOLDS = {
    "model.json": rf"{_LEFT}|(model|subword)\.json|(vocab|phrases)\.txt"
    r"|(vectors|output|counts|frames|mean|seen)\.npy|senses\.npz"
    rf"|index/(rare\.txt|({_INDEX})\.npy)"
    rf"|attention/[^/]+/({_ATTENTION}|\.ctxembed)|senses/[^/]+/({_SENSES}|\.ctxembed)",
    "layer.json": _ATTENTION,
    "senses.json": _SENSES,
}
_writing: set[Path] = set()  # by this run; a killed one may have had its number
_VECTORS = {"vocab.txt", "vectors.npy", "counts.npy"}  # a model whose description is damaged


@contextmanager
def written_whole(target: Path, *, replace: bool) -> Iterator[Path]:
    """Give a temporary sibling to write into; it takes the target's place at the end.

    After a crash at any moment there is the old directory or the new one, never half of one.
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
        check_ours(target)
    work = target.parent / f".{target.name}.tmp-{os.getpid()}"
    try:
        work.mkdir()
    except OSError as error:
        raise CtxembedError(read_failure(f"{target.parent}: cannot be written to", error)) from None
    try:
        (work / MARK).touch()
        yield work
        list_contents(work)
        _sync(work)
        if target.exists() and replace:
            check_ours(target)
        (work / MARK).unlink()
        _put(work, target, replace)
        if not any((folder / MARK).exists() for folder in target.parents):
            remember(target)
    except OSError as error:
        # numpy says only how many items it could write
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or "requested and" in str(error):
            raise CtxembedError(
                f"no space left on the disk that holds {target.parent}; nothing was changed"
            ) from None
        raise
    finally:
        _remove(work)


@contextmanager
def file_written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Give a temporary sibling of a file to write into; it takes the file's place at the end.

    A link stays and what it leads to is written; a device or a pipe is written into as it is.
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
            work.replace(path)
        finally:
            _writing.discard(work)
            work.unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        raise CtxembedError(read_failure(f"{path}: cannot be written", error)) from None


@contextmanager
def pair_written_whole(one: Path, other: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Give two files to write into; both take their places when both are whole.

    They wait in a folder beside them. Once it is called ready, whoever comes next moves them to
    their places, if this run is killed before it does; until then nobody takes half for whole.
    """
    for left in left_behind(one, "ctxembed"):
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
            work.rename(ready)
            _finish(one, other)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        sync_folder(one.parent)
    except OSError as error:
        raise CtxembedError(read_failure(f"{one}: cannot be written", error)) from None


def check_whole(one: Path) -> None:
    """Refuse an array whose words may be those of an earlier writing."""
    if _ready(one).is_dir():
        raise ModelError(f"{one}: half written, by a run that was killed; export it again")


def _ready(one: Path) -> Path:
    return one.parent / f".{one.name}.ctxembed-ready"


def _finish(one: Path, other: Path) -> None:
    """Move files that are ready, if there are any, to their places."""
    for path in (one, other):
        waiting = _ready(one) / path.name
        if waiting.exists():
            waiting.replace(path)
    shutil.rmtree(_ready(one), ignore_errors=True)


def sweep_files(path: Path) -> None:
    """Remove what a killed run left of a file."""
    for left in left_behind(path, "ctxembed"):
        if left.is_file() and not left.is_symlink() and left not in _writing:
            left.unlink(missing_ok=True)


def check_ours(folder: Path) -> None:
    """Refuse a directory that we did not write, or in which something of somebody else lies."""
    files = _files(folder)
    mark = next((name for name in _HOLDS if name in files), None)
    if mark is None and folder.parent.name == "attention":
        mark = "layer.json"  # it is missing; what else lies there is looked at
    if files and (mark is None or (mark == "model.json" and not _is_model(folder, files))):
        raise UsageError(f"{folder} is not a ctxembed model; it will not be replaced")
    listed = listed_in(folder)
    for name in sorted(files):
        if name not in listed and not re.fullmatch(_HOLDS[mark or ""], name):
            raise UsageError(
                f"{folder / name} was not written by ctxembed and would be lost; move it away, or"
                " give another name"
            )


def _files(folder: Path) -> set[str]:
    """List all that is no directory, links too."""
    found = (item for item in folder.rglob("*") if item.is_symlink() or not item.is_dir())
    return {item.relative_to(folder).as_posix() for item in found}


def _is_model(folder: Path, files: set[str]) -> bool:
    try:
        told = json.loads((folder / "model.json").read_bytes())
        return {"format", "vocabulary"} <= set(told) or files >= _VECTORS
    except (OSError, ValueError, TypeError):
        return files >= _VECTORS


def _put(work: Path, target: Path, replace: bool) -> None:
    """Move the finished directory to its place."""
    try:
        free = not target.exists()
        if free:
            work.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        free = False  # another run was the first, between the look and the move
    if not free and not replace:
        raise UsageError(f"{target} was made by another run meanwhile; it stays as it is")
    if not free and not _exchange(work, target):
        # Where the system cannot swap two names in one step, the old one waits under another.
        aside = target.parent / f".{target.name}.old-{os.getpid()}"
        target.rename(aside)
        work.rename(target)
        _remove(aside)
    sync_folder(target.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step (Linux); what was the target is now the temporary."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), swap) == 0)


def _sync(folder: Path) -> None:
    for item in folder.rglob("*"):
        if item.is_file():
            with item.open("rb") as file:
                os.fsync(file.fileno())
        else:
            sync_folder(item)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    with suppress(OSError):  # some file systems refuse to sync a directory
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(target: Path) -> None:
    """Remove what a killed run left behind, and put back an old directory it had moved aside."""
    for item in filter(_left_by_us, left_behind(target, "old")):
        if target.exists():
            _remove(item)
        else:
            item.rename(target)
    for item in filter(_left_by_us, left_behind(target, "tmp")):
        _remove(item)


def _remove(folder: Path) -> None:
    """Remove a directory of ours; its mark goes last, in case that this run is killed too."""
    with suppress(OSError):
        (folder / MARK).touch()
        for item in folder.iterdir():
            if item.is_dir():
                shutil.rmtree(item, ignore_errors=True)
            elif item.name != MARK:
                item.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _left_by_us(item: Path) -> bool:
    if item.is_symlink() or not item.is_dir():
        return False
    try:
        if not (item / MARK).is_file():
            check_ours(item)
    except UsageError:
        return False
    return True


def left_behind(path: Path, kind: str) -> Iterator[Path]:
    """Yield what runs that ended left beside a path, under its name and their number."""
    begin = f".{path.name}.{kind}-"
    for item in path.parent.glob(".*"):
        number = item.name.removeprefix(begin)
        if item.name.startswith(begin) and number.isdigit() and not _alive(int(number)):
            yield item


def _alive(process: int) -> bool:
    """Tell whether a process runs, another one than this."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return process != os.getpid()
