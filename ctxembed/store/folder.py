"""Write a directory whole or not at all."""

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ctxembed.errors import CtxembedError, UsageError, read_failure


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
        if not _is_ours(target):
            raise UsageError(f"{target} is not a ctxembed model; it will not be replaced")
    work = target.parent / f".{target.name}.tmp-{os.getpid()}"
    try:
        work.mkdir()
    except OSError as error:
        raise CtxembedError(read_failure(f"{target.parent}: cannot be written to", error)) from None
    try:
        yield work
        _sync(work)
        if not replace and target.exists():
            raise UsageError(f"{target} was made by another run meanwhile; it was left as it is")
        _put(work, target)
    except OSError as error:
        # numpy says only how many items it could write
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or "requested and" in str(error):
            raise CtxembedError(
                f"no space left on the disk that holds {target.parent}; nothing was changed"
            ) from None
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _is_ours(target: Path) -> bool:
    names = {item.name for item in target.iterdir()}
    return not names or bool(names & {"model.json", "layer.json", "senses.json"})


def _put(work: Path, target: Path) -> None:
    """Move the finished directory to its place."""
    if not target.exists():
        work.rename(target)
    elif not _exchange(work, target):
        # Where the system cannot swap two names in one step, the old one waits under another.
        aside = target.parent / f".{target.name}.old-{os.getpid()}"
        target.rename(aside)
        work.rename(target)
        shutil.rmtree(aside, ignore_errors=True)
    _sync_folder(target.parent)


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
            _sync_folder(item)
    _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems refuse to sync a directory
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(target: Path) -> None:
    """Remove what a killed run left behind, and put back an old directory it had moved aside."""
    for item in target.parent.glob(f".{target.name}.*-*"):
        kind, _, number = item.name.removeprefix(f".{target.name}.").partition("-")
        if kind not in ("tmp", "old") or not number.isdigit() or _alive(int(number)):
            continue
        if kind == "old" and not target.exists():
            item.rename(target)
        else:
            shutil.rmtree(item, ignore_errors=True)


def _alive(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
