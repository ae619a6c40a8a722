"""Locks that the system releases when their process ends, however it ends.

A process id says little of another process: two containers that share a volume may both be process
1, and numbers are used again. A lock is seen by every process of the machine.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ctxembed.errors import CtxembedError

WAIT, MAX_WAIT = 0.02, 600.0  # seconds between two attempts; until the last
_HELD = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
try:
    _module: Any = import_module("fcntl")
except ImportError:  # on Windows
    _module = import_module("msvcrt")


def _try_lock(number: int) -> bool:
    """Lock an open file; return False if another holds it, raise OSError where locks are missing.

    The lock belongs to the open file: another opening, also in this process, does not get it.
    """
    try:
        if hasattr(_module, "flock"):
            _module.flock(number, _module.LOCK_EX | _module.LOCK_NB)
        else:
            _module.locking(number, _module.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True


def is_at(number: int, path: Path) -> bool:
    """Return whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(number), os.stat(path, follow_symlinks=False))
    except OSError:
        return False


@cache
def _machine() -> list[bytes]:
    """Return the name of this machine and, where it has one, the id of its start."""
    import platform

    lines = [platform.node().encode("utf-8", "replace") or b"?"]
    with suppress(OSError):
        lines.append(Path("/proc/sys/kernel/random/boot_id").read_bytes().strip())
    return lines


def create_lock(path: Path) -> int | None:
    """Return a new lock file, open and locked; None if another process took or removed it."""
    number, free = os.open(path, _FLAGS | os.O_CREAT, 0o600), True
    with suppress(OSError):  # no locks here: what a killed run leaves is not removed
        free = _try_lock(number)
    if free and is_at(number, path):
        os.write(number, b"\n".join(_machine()))
        return number
    os.close(number)
    return None


def take_lock(path: Path) -> int | None:
    """Return the lock file of a run that has ended, open and locked; None if it may be running.

    Some network file systems keep locks on each machine, so the file of another machine stays.
    """
    number = None
    with suppress(OSError):
        number = os.open(path, _FLAGS)
        written = os.read(number, 1 << 10)
        os.lseek(number, 0, os.SEEK_SET)
        here = not written or any(line in _machine() for line in written.split(b"\n"))
        if here and _try_lock(number) and is_at(number, path):
            return number
    if number is not None:
        os.close(number)
    return None


def release_lock(number: int, path: Path) -> None:
    """Remove a lock file and release its lock; in this order, so that no other process has it."""
    try:
        path.unlink(missing_ok=True)
        os.close(number)
    except PermissionError:  # Windows cannot remove an open file, and so not that of another
        os.close(number)
        with suppress(OSError):
            path.unlink()


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Wait until no other process changes a folder; let others wait until this one has.

    Locks the folder, or a file beside it (Windows, NFS); where neither has locks, nobody waits.
    """
    real = Path(os.path.realpath(folder))
    beside = real.with_name(f".{real.name}.ctxembed-lock")
    number, other = _wait_for(real, os.O_RDONLY, real), None
    if number is None:
        other = _wait_for(beside, _FLAGS | os.O_CREAT, real)
    try:
        yield
    finally:
        if other is not None:
            release_lock(other, beside)
        elif number is not None:
            _module.flock(number, _module.LOCK_UN)  # also for a fork that has the same file open
            os.close(number)


def _wait_for(path: Path, flags: int, folder: Path) -> int | None:
    """Return a path, open and locked; None where it has no locks or the folder is missing."""
    until = time.monotonic() + MAX_WAIT
    while folder.is_dir():
        try:
            number = os.open(path, flags, 0o666)
        except OSError:
            return None
        try:
            if _try_lock(number) and is_at(number, path):
                return number
        except OSError:
            release_lock(number, path) if path != folder else os.close(number)
            return None
        os.close(number)
        if time.monotonic() > until:
            raise CtxembedError(f"{folder}: in use by another run; run this command again later")
        time.sleep(WAIT)
    return None
