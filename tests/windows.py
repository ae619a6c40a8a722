"""Run ctxembed without what Windows lacks: `python -m tests.windows COMMAND ...`.

A process of its own: os, shutil and the import system are changed for all of it.
"""

import ctypes
import errno
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

MISSING_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty")
MISSING_CALLS = (
    "pread", "pwrite", "fork", "forkpty", "killpg", "mkfifo", "getuid", "geteuid", "fchmod",
    "posix_fadvise", "sched_getaffinity", "nice", "statvfs", "sync",
    "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY",
)  # fmt: skip
MISSING_SIGNALS = ("SIGPIPE", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")
TMPFILE = getattr(os, "O_TMPFILE", 1 << 40)


def find_open_files() -> set[str]:
    """Return the paths that this process has open or mapped (Linux; elsewhere none)."""
    try:
        maps = Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return set()
    paths = {line.split(maxsplit=5)[5] for line in maps if "/" in line}
    for link in os.listdir("/proc/self/fd"):
        try:
            paths.add(os.readlink(f"/proc/self/fd/{link}"))
        except OSError:  # the one that listed the directory
            continue
    return paths


def refuse_open(path: Any) -> None:
    """Raise PermissionError for a file that is open, or a folder with such a file in it."""
    real = os.path.realpath(path)
    for other in find_open_files():
        if other == real or other.startswith(f"{real}/"):
            raise PermissionError(13, f"used by this process: {other}", os.fspath(path))


def without_folders(call: Callable[..., Any], *, moves: bool = False) -> Callable[..., Any]:
    """Return a call of os that takes no dir_fd; one that moves or removes refuses open files."""

    def changed(path: Any, *arguments: Any, **options: Any) -> Any:
        for name in ("dir_fd", "src_dir_fd", "dst_dir_fd"):
            if options.pop(name, None) is not None:
                raise NotImplementedError(f"{name} unavailable on this platform")
        if moves:
            for name in (path, *arguments[:1]):
                refuse_open(name)
        elif call.__name__ == "open" and os.path.isdir(path) and not temporary(arguments):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return call(path, *arguments, **options)

    return changed


def temporary(arguments: tuple[Any, ...]) -> bool:
    """Tell whether these arguments of os.open ask Linux for a file without a name."""
    return bool(arguments) and arguments[0] & TMPFILE == TMPFILE


def fsync_writable(number: Any, fsync: Callable[[Any], None] = os.fsync) -> None:
    """Write a file to the disk; refuse one that is open for reading only (Linux knows)."""
    status = Path(f"/proc/self/fdinfo/{number}")
    if status.exists() and int(status.read_text().split()[3], 8) & 3 == os.O_RDONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    fsync(number)


def simulate_locks() -> None:
    """Provide msvcrt.locking; as there, a lock belongs to the open file."""
    import fcntl

    locks: Any = types.ModuleType("msvcrt")
    locks.LK_NBLCK = 2
    locks.locking = lambda number, mode, size: fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    sys.modules["msvcrt"] = locks


def simulate() -> None:
    """Take away the calls, flags and modules that Windows lacks."""
    simulate_locks()
    for name in MISSING_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # importing it is an ImportError
    multiprocessing.set_start_method("spawn")
    tempfile.gettempdir()  # looks for a folder once, by calls that are changed below
    for name in ("open", "stat", "lstat", "mkdir", "scandir", "access", "utime", "rmdir"):
        setattr(os, name, without_folders(getattr(os, name)))
    for name in ("rename", "replace", "unlink", "remove"):
        setattr(os, name, without_folders(getattr(os, name), moves=True))
    for name in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks"):
        setattr(os, name, set())
    for name in MISSING_SIGNALS:
        delattr(signal, name)
    os.fsync = fsync_writable  # type: ignore[assignment]
    for name in MISSING_CALLS:
        if hasattr(os, name):
            delattr(os, name)
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    load = ctypes.CDLL

    def load_library(name: str | None, *arguments: Any, **options: Any) -> Any:
        if name is None:
            raise TypeError("LoadLibrary() argument 1 must be str, not None")
        return load(name, *arguments, **options)

    ctypes.CDLL = load_library  # type: ignore[assignment,misc]


if __name__ == "__main__":
    simulate()
    from ctxembed.cli.main import run

    run()
