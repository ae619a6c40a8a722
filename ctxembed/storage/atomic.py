"""Write a directory, a file, or a pair of files atomically: completely or not at all."""

import ctypes
import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ctxembed.errors import CtxembedError, ModelError, UsageError, read_failure
from ctxembed.storage.folder import Folder, replace_path
from ctxembed.storage.locks import create_lock, hold, is_at, release_lock, take_lock
from ctxembed.storage.manifest import DESCRIPTIONS, find_description, list_contents, listing

MARK = ".ctxembed"  # the lock in a directory being written: while it is held, its run is alive
_INDEX = "ids|offsets|lines|documents|starts|positions|places|pieces|text"  # arrays of an index
_KEPT = r"senses\.npz|ambiguity\.json"
_LEFT = rf"\.(model\.json|layer\.json|{_KEPT})\.ctxembed-(\d+|new)"  # by a run that was killed
_FILES = r"\.ctxembed|new|(new|old)/.+"  # in a directory to write into
_WORK = rf"(attention/)?\.[^/]+\.ctxembed-([0-9a-f]{{16}}/({_FILES})|lock|checkpoint)"
_ATTENTION = rf"layer\.json|[a-z_]+\.npy|{_LEFT}"
_SENSES = r"senses\.json|(shares|vectors|weights|bias)\.npy"  # as version 0.2 kept them
# The files of each kind of directory, by the file that it must have.
_HOLDS = {
    "model.json": rf"{_LEFT}|(model|subword)\.json|(vocab|phrases)\.txt"
    rf"|(vectors|output|counts|frames|mean|seen)\.npy|{_KEPT}"
    rf"|index/(rare\.txt|({_INDEX})\.npy)"
    rf"|attention/[^/]+/({_ATTENTION}|\.ctxembed)|senses/[^/]+/({_SENSES}|\.ctxembed)|{_WORK}",
    "layer.json": _ATTENTION,
}
_VECTORS = {"vocab.txt", "vectors.npy", "counts.npy"}  # a model whose description is damaged
_NO_SPACE = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def atomic_directory(
    target: Path, *, replace: bool, check: Callable[[], None] = lambda: None
) -> Iterator[Path]:
    """Yield a temporary directory to write into, and rename it to the target at the end.

    After a crash at any moment there is the old directory or the new one, never a part of one.
    check: called before another directory is replaced, while nobody else can change that one.
    """
    target = Path(os.path.abspath(target))
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such directory")
    with _workplace(target) as place:
        if target.exists() or target.is_symlink():
            if not replace:
                raise UsageError(f"{target} exists; give --force to replace it, or another name")
            if not target.is_dir() or target.is_symlink():
                raise UsageError(f"{target} is not a directory; give another name")
            check_replaceable(target)
        work = place / "new"
        work.mkdir()
        try:
            yield work
            try:
                list_contents(work)
            except ModelError:  # numpy does not always say that a disk took only a part
                raise OSError(errno.ENOSPC, "") from None
            for item in (work, *work.rglob("*")):
                if item.is_dir():
                    _sync_folder(item)
                else:
                    with item.open("r+b") as file:  # Windows syncs only files open for writing
                        os.fsync(file.fileno())
            while not _put(place, target, check if replace else None):
                pass  # another run wrote the target meanwhile
            _sync_folder(target.parent)
        except OSError as error:
            if _is_full(error):
                raise CtxembedError(_write_failure(target, error)) from None
            raise


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file to write into, and rename it to the path at the end.

    A link is kept and its target is replaced; a device or a pipe is written to directly.
    """
    path = path.resolve() if path.is_symlink() else path
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as file:
                yield file
            return
        with _workplace(path) as place:
            with (place / "new").open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            keep_mode(path, place / "new")
            replace_path(place / "new", path)
        _sync_folder(path.parent)
    except OSError as error:
        raise CtxembedError(_write_failure(path, error)) from None


@contextmanager
def atomic_pair(one: Path, other: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Yield two files to write into, and rename both to their paths when both are complete.

    They are written in a folder beside the paths. It is renamed to `ready` first: if this run is
    killed after that, the next one moves the files. Readers refuse the pair until then.
    """
    try:
        with _workplace(one) as place:
            work = place / "new"
            work.mkdir()
            with (work / one.name).open("xb") as first, (work / other.name).open("xb") as second:
                yield first, second
                for file in (first, second):
                    file.flush()
                    os.fsync(file.fileno())
            with hold(one.parent):
                _finish(one, other)  # what was ready when its run was killed
                for path in (one, other):
                    keep_mode(path, work / path.name)
                replace_path(work, _ready(one))
                _finish(one, other)
        _sync_folder(one.parent)
    except OSError as error:
        raise CtxembedError(_write_failure(one, error)) from None


def _is_full(error: OSError) -> bool:
    """Return whether a disk is full; numpy reports only how many numbers it could write."""
    return error.errno in _NO_SPACE or (error.errno is None and "requested and" in str(error))


def _write_failure(path: Path, error: OSError) -> str:
    """Return one line that says why a path could not be written."""
    if _is_full(error):
        return f"no space left on the disk that holds {path.parent}; nothing was changed"
    return read_failure(f"{path}: cannot be written", error)


@contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """Yield a new private directory beside a path, where leftovers are removed; then remove it."""
    remove_leftovers(target)
    lock = None
    try:
        while lock is None:  # another run may take a directory for a leftover until it is locked
            place = target.parent / f".{target.name}.ctxembed-{os.urandom(8).hex()}"
            place.mkdir(0o700)
            with suppress(FileNotFoundError):
                lock = create_lock(place / MARK)
    except OSError as error:
        what = f"{target}: {target.parent} cannot be written to"
        raise CtxembedError(read_failure(what, error)) from None
    try:
        yield place
    except Exception:
        if is_at(lock, place / MARK):
            raise
        # numpy would say of its empty files what is no help
        removed = f"{place} was removed by another program while this run wrote into it"
        raise CtxembedError(f"{removed}; {target} is as it was. Run this command again") from None
    finally:
        _remove(place, lock)


def remove_leftovers(target: Path) -> None:
    """Remove leftovers of killed runs, and restore an old directory that one had moved aside."""
    name = re.compile(rf"\.{re.escape(target.name)}\.ctxembed-[0-9a-f]{{16}}")
    for place in target.parent.glob(".*"):
        if not name.fullmatch(place.name) or place.is_symlink() or not place.is_dir():
            continue
        with suppress(OSError):
            place.rmdir()  # killed before it had a lock, or after
        lock = take_lock(place / MARK)
        if lock is not None:
            if (place / "old").is_dir() and not os.path.lexists(target):
                replace_path(place / "old", target)
            _remove(place, lock)


def _remove(place: Path, lock: int) -> None:
    """Remove a directory; its lock last, in case this run is killed too."""
    with suppress(OSError):
        for item in place.iterdir():
            if item.name != MARK:
                shutil.rmtree(item, ignore_errors=True) if item.is_dir() else item.unlink()
    release_lock(lock, place / MARK)
    with suppress(OSError):
        place.rmdir()


def keep_mode(old: Path, new: Path) -> None:
    """Give a new file or directory the mode and the group of the one that it replaces."""
    with suppress(FileNotFoundError):
        status = os.stat(old, follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if os.stat(new).st_gid != status.st_gid:
            try:
                os.chown(new, -1, status.st_gid)
            except (OSError, AttributeError):  # not a group of this user
                mode &= ~stat.S_IRWXG
        os.chmod(new, mode | stat.S_IRWXU if new.is_dir() else mode)


def _keep_modes(old: Path, new: Path) -> None:
    """Give a new model the modes of an old one; a file that is new to it gets model.json's."""
    for item in (new, *new.rglob("*")):
        others = [old] if item.is_dir() else [old / name for name in DESCRIPTIONS]
        same = old / item.relative_to(new)
        keep_mode(next((path for path in (same, *others) if path.exists()), same), item)


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


def check_replaceable(folder: Path) -> None:
    """Refuse to replace a directory that holds a file which ctxembed did not write."""
    items = (item for item in folder.rglob("*") if item.is_symlink() or not item.is_dir())
    files = {item.relative_to(folder).as_posix() for item in items}
    missing = "layer.json" if folder.parent.name == "attention" else ""  # of a damaged attention
    mark = next((name for name in _HOLDS if name in files), missing)
    if files and (not mark or (mark == "model.json" and not _is_model(folder, files))):
        raise UsageError(f"{folder} is not a ctxembed model; it will not be replaced")
    listed: Collection[str] = ()
    with suppress(OSError, ModelError):  # damaged
        listed = listing(find_description(Folder(folder, ""))) or ()
    for name in sorted(files):
        if name not in listed and not re.fullmatch(_HOLDS[mark], name):
            lost = f"{folder / name} was not written by ctxembed and would be lost"
            raise UsageError(f"{lost}; move it, or give another name")


def _is_model(folder: Path, files: set[str]) -> bool:
    with suppress(OSError, ValueError, TypeError):
        if {"format", "vocabulary"} <= set(json.loads((folder / "model.json").read_bytes())):
            return True
    return files >= _VECTORS


def _put(place: Path, target: Path, check: Callable[[], None] | None) -> bool:
    """Rename the finished directory to the target; return False if another run wrote it."""
    work, aside = place / "new", place / "old"
    if not os.path.lexists(target):
        try:
            replace_path(work, target)
            return True
        except OSError:
            if not os.path.lexists(target):
                raise
    if check is None:
        raise UsageError(f"{target} was written by another run meanwhile; it is unchanged")
    with hold(target):
        if not target.exists():
            return False
        check_replaceable(target)
        check()
        _keep_modes(target, work)
        for folder in (target, *target.rglob("*")):  # one that is read-only could not be moved
            if folder.is_dir() and not folder.is_symlink() and not os.access(folder, os.W_OK):
                os.chmod(folder, 0o700)
        if _exchange(work, target):
            return True
        # The system cannot swap two names in one step: move the old directory aside first.
        try:
            replace_path(target, aside)
            try:
                replace_path(work, target)
            except OSError:
                if os.path.lexists(target):
                    shutil.rmtree(aside, ignore_errors=True)
                    return False
                replace_path(aside, target)
                raise
        except PermissionError:
            fix = "it is unchanged. Close that program and run this command again"
            raise CtxembedError(f"{target}: another program uses it; {fix}") from None
        return True


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
