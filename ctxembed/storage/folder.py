"""A folder whose files are opened together, so that replacing it later does not change them.

Windows cannot replace a folder with open or mapped files: there each file is read into memory when
it is used, and its checksum shows whether it belongs to the model that was opened.
"""

import errno
import json
import math
import mmap
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from ctxembed.errors import CtxembedError, ModelError, Replaced, read_failure

SMALL = 1 << 20  # bytes; smaller files are read when the folder is opened, and verified each time
MAX_COPIED = 4 << 20  # bytes; larger files are mapped, not read into memory
# Windows has O_BINARY and none of the others; only O_NONBLOCK does not wait for a fifo's writer.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_BINARY", "O_NONBLOCK", "O_NOFOLLOW"))
_FOLDER = getattr(os, "O_DIRECTORY", None)  # None: directories cannot be opened
SUFFIXES = (".npy", ".json", ".txt")  # of the files of a model
# Added to a finished model: senses.npz has its own checksums, ambiguity.json is measured again.
UNLISTED = ("senses.npz", "ambiguity.json")
TOO_MANY = (errno.EMFILE, errno.ENFILE)
MAX_BYTES = 256 << 20  # of an unlisted file that is read into memory
MAX_VERIFIED = 1000  # files remembered as verified; the oldest are forgotten
REPLACE_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4)  # seconds between attempts to replace a locked file
# What numpy writes for plain numbers; ctxembed writes no other header.
_HEADER = re.compile(
    rb"\{'descr': '(?P<kind>[<|][fiu][1248])', 'fortran_order': False,"
    rb" 'shape': \((?P<shape>[\d, ]{0,99})\), \} *\n"
)


def replace_path(source: Path, target: Path) -> None:
    """Rename source to target; wait if it is open elsewhere (on Windows, by a virus scanner)."""
    for seconds in REPLACE_WAITS:
        try:
            source.replace(target)
            return
        except PermissionError:
            time.sleep(seconds)
    source.replace(target)


class Folder:
    """The files of a directory as they were when it was opened, and its list of them."""

    def __init__(self, path: Path, fix: str, *, follow: bool = True, on_disk: bool = True) -> None:
        self.path, self.fix, self.follow = path, fix, follow  # follow: the folder may be a link
        self.listed: Mapping[str, Any] | None = None  # None: written before files were listed
        self.numbers: dict[str, int] = {}  # name -> open file
        self.kept: dict[str, tuple[bytes, os.stat_result]] = {}  # name -> a small file, closed
        self.states: dict[str, tuple[int, int]] = {}  # size and time of each when it was opened
        self.closed = False
        self.max_copied = MAX_COPIED
        self.root: int | None = None  # kept open, so that its inode is not used for another folder
        self.late = _FOLDER is None  # whether each file is opened when it is read
        self.identity: os.stat_result | None = None
        if on_disk:
            self.identity = os.stat(path, follow_symlinks=follow)
            if not stat.S_ISDIR(self.identity.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
            if _FOLDER is not None:
                self.root = os.open(path, os.O_RDONLY | _FOLDER)
                self.identity = os.fstat(self.root)

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> Any:
        # Elsewhere the numbers of open files mean other files, which would be read and closed.
        raise TypeError("open files cannot be pickled; pickle their Model, or give its path")

    def to_inherit(self) -> dict[str, Any]:
        """Return what a child process needs that inherits the open files of `handles`."""
        return vars(self).copy()

    @classmethod
    def inherit(cls, state: dict[str, Any]) -> "Folder":
        """Return the folder of the parent process, in a child that inherited its open files."""
        folder = cls.__new__(cls)
        vars(folder).update(state)
        return folder

    def close(self) -> None:
        """Close its files; those that are read later are refused."""
        self._close_files()
        self.kept, self.closed = {}, True
        if self.root is not None:
            os.close(self.root)
            self.root = None

    def __truediv__(self, name: str) -> "Part":
        return Part(self, name)

    def _close_files(self) -> None:
        while self.numbers:  # none is closed twice: its number may be another file's by then
            os.close(self.numbers.popitem()[1])

    def is_current(self) -> bool:
        """Return whether the path still leads to the directory that was opened."""
        if self.identity is None:
            return True
        try:
            now = os.stat(self.path, follow_symlinks=self.follow)
        except OSError:
            return False
        return os.path.samestat(now, self.identity)

    def is_overwritten(self) -> bool:
        """Return whether a file that was opened was written to in place, as `cp` does."""
        files = list(self.numbers.items())  # another thread may open one
        if any(_state(os.fstat(number)) != self.states[name] for name, number in files):
            return True
        return any(self._is_rewritten(name, status) for name, (_, status) in [*self.kept.items()])

    def _is_rewritten(self, name: str, status: os.stat_result) -> bool:
        """Return whether a file that was closed has changed; one that was replaced has not."""
        try:
            now = os.stat(name, dir_fd=self.root, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(now, status) and _state(now) != _state(status)

    def handles(self) -> list[int]:
        """List the open files and the open directory, for a process that inherits them."""
        return [*self.numbers.values(), *([] if self.root is None else [self.root])]

    def open_files(self, names: Iterable[str]) -> None:
        """Open files now; where they are too many, each is opened when it is read."""
        if self.late:
            return
        try:
            for name in names:
                if name not in self.kept:
                    with suppress(ModelError):  # reported when the file is read
                        self._keep(name, self.number(name))
        except OSError as error:
            if error.errno not in TOO_MANY:
                raise open_failure(self.path, error, self.fix) from None
            self._close_files()
            self.late = True

    def _keep(self, name: str, number: int | None) -> None:
        """Read a small file and close it: a program may use many models."""
        if number is not None and (status := os.fstat(number)).st_size <= SMALL:
            self.kept[name] = _read(number, status.st_size), status
            os.close(self.numbers.pop(name))

    def names(self, within: str = "") -> list[str]:
        """List the names in this folder, or in a folder within it that is not a link."""
        folder = self.path / within
        try:
            return [] if within and folder.is_symlink() else sorted(os.listdir(folder))
        except OSError as error:
            if error.errno in TOO_MANY:
                raise open_failure(folder, error, self.fix) from None
            return []

    def reopen(self, name: str) -> "Part":
        """Open a file anew that this process may have written."""
        if name in self.numbers:
            os.close(self.numbers.pop(name))
        self.kept.pop(name, None)
        self.open_files([name])
        return self / name

    def model_files(self) -> list[str]:
        """List the files of a model by their suffixes, in this folder and in its index."""
        names = [*self.names(), *(f"index/{name}" for name in self.names("index"))]
        names = [name for name in names if name.endswith(SUFFIXES) and name[0] != "."]
        return [name for name in names if name not in UNLISTED]

    def number(self, name: str) -> int | None:
        """Return the descriptor of an opened file; None where it is missing or not listed."""
        if self.closed:
            raise ModelError(f"{self.path}: the model was closed; open it again")
        if self.listed is not None and name not in self.listed and name not in UNLISTED:
            return None
        if name in self.numbers or not self.is_current():  # else it might be of another model
            return self.numbers.get(name)
        try:
            if not stat.S_ISREG(os.lstat(self.path / name).st_mode):
                raise self.damage(name, "not a regular file")
            number = os.open(self.path / name, _FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not self.late:
            self.numbers[name], self.states[name] = number, _state(os.fstat(number))
        return number

    def size(self) -> int:
        """Return the bytes of all files of the model."""
        parts = (self / name for name in (*(self.listed or self.model_files()), *UNLISTED))
        return sum(part.status().st_size for part in parts if part.exists())

    def damage(self, name: str, reason: str) -> ModelError:
        """Return the error for a damaged file, or for a folder that was replaced."""
        if not self.is_current():
            return self.replaced()
        if self.is_overwritten():
            reason += "; changed in place while it was read"
        return ModelError(f"{self.path / name}: damaged ({reason}); {self.fix}")

    def replaced(self) -> Replaced:
        """Return the error for a folder that was replaced after it was opened."""
        return Replaced(f"{self.path}: replaced while it was read. Run this command again")


class Part:
    """A file or folder in an opened Folder, with the reading methods of a Path."""

    def __init__(self, folder: Folder, name: str) -> None:
        self.folder, self.name = folder, name

    def __truediv__(self, name: str) -> "Part":
        return Part(self.folder, f"{self.name}/{name}")

    def __str__(self) -> str:
        return str(self.folder.path / self.name)

    def exists(self) -> bool:
        """Return whether the file exists and is listed."""
        folder, name = self.folder, self.name
        if folder.listed is not None and name not in folder.listed and name not in UNLISTED:
            return False
        if name in folder.numbers or name in folder.kept:
            return True
        return folder.is_current() and os.path.lexists(str(self))

    def is_dir(self) -> bool:
        """Return whether the folder holds any file."""
        folder = self.folder
        names = folder.listed or {*folder.numbers, *folder.kept} or folder.model_files()
        return any(name.startswith(f"{self.name}/") for name in names)

    @contextmanager
    def opened(self) -> Iterator[tuple[int, os.stat_result]]:
        """Yield the descriptor and the status of this file, open; fail if it is missing."""
        folder, name = self.folder, self.name
        try:
            number = folder.number(name)
            if number is None:
                if not folder.is_current():
                    raise folder.replaced()
                raise ModelError(f"{folder.path / name}: missing; {folder.fix}")
            try:
                yield number, os.fstat(number)
            finally:
                if folder.late:
                    os.close(number)
        except OSError as error:
            raise open_failure(folder.path / name, error, folder.fix) from None

    def status(self) -> os.stat_result:
        """Return the size and times of this file; fail if it is missing."""
        if kept := self.folder.kept.get(self.name):
            return kept[1]
        with self.opened() as (_, status):
            return status

    def open_data(self, *, whole: bool = False) -> Any:
        """Return all bytes (a large file mapped), verified; a large one only once, or if whole."""
        data: Any
        if kept := self.folder.kept.get(self.name):
            data, status = kept
        else:
            with self.opened() as (number, status):
                if _FOLDER is None:  # Windows cannot replace a mapped file
                    with open(number, "rb", closefd=False) as file:
                        data = file.read()
                elif status.st_size <= self.folder.max_copied:
                    data = _read(number, status.st_size)
                else:
                    data = mmap.mmap(number, 0, access=mmap.ACCESS_READ)
        listed = (self.folder.listed or {}).get(self.name)
        if listed is None:
            return data
        self.expect("bytes", len(data))
        large, seen = len(data) > SMALL, (str(self), status, listed.get("crc32", ""))
        if whole or not (large and is_verified(*seen)):
            self.expect("crc32", f"{crc32(data):08x}")
            if large:
                remember_verified(*seen)
        return data

    def expect(self, key: str, value: object) -> None:
        """Refuse a file whose size, kind, shape or checksum is not as listed."""
        expected = (self.folder.listed or {}).get(self.name, {}).get(key, value)
        if value != expected:
            raise self.folder.damage(self.name, f"{key} {value}, expected {expected}")

    def array_header(self, data: Any) -> tuple[str, tuple[int, ...], int]:
        """Return kind and shape of an array and the offset of its numbers; check list and size."""
        head = bytes(data[:256])
        if head[:6] != b"\x93NUMPY":
            raise self.folder.damage(self.name, "not an array")
        begin = 10 + int.from_bytes(head[8:10], "little")
        header = _HEADER.fullmatch(head[10:begin]) if head[6:8] == b"\1\0" else None
        if header is None:
            raise self.folder.damage(self.name, "not an array of plain numbers, row by row")
        kind, sizes = header["kind"].decode(), header["shape"].replace(b" ", b"").split(b",")
        shape = tuple(int(size) for size in sizes if size)
        self.expect("dtype", kind)
        self.expect("shape", list(shape))
        if math.prod(shape) * int(kind[2:]) != len(data) - begin:
            raise self.folder.damage(self.name, f"{len(data)} bytes, too many or few for {shape}")
        return kind, shape, begin

    def read_bytes(self) -> bytes:
        """Return the bytes of the file; an unlisted one has at most MAX_BYTES."""
        data = self.open_data()
        if self.name not in (self.folder.listed or ()) and len(data) > MAX_BYTES:
            raise self.folder.damage(self.name, f"longer than {MAX_BYTES >> 20} MiB")
        return bytes(data)

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the text of the file."""
        return self.read_bytes().decode(encoding)


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns  # st_ctime_ns changes when a file is removed, too


def _read(number: int, size: int) -> bytes:
    """Return the first bytes of an open file, fewer if it was cut; its position stays as it is."""
    pieces, done = list[bytes](), 0
    while piece := os.pread(number, size - done, done):
        pieces.append(piece)
        done += len(piece)
    return b"".join(pieces)


def open_path(path: Path) -> Part:
    """Return a file that this run has written as a part of its folder."""
    return Folder(path.parent, "train the model again") / path.name


def open_failure(path: Path, error: OSError, fix: str) -> CtxembedError:
    """Return the error for a file that could not be opened; limits are not damage."""
    if error.errno in TOO_MANY:
        return CtxembedError(f"{path}: too many open files; raise the limit (ulimit -n)")
    if error.errno == errno.ENOMEM:
        return CtxembedError(f"{path}: not enough memory to open it")
    return ModelError(f"{read_failure(path, error)}; {fix}")


def is_verified(path: str, status: os.stat_result, checksum: str) -> bool:
    """Return whether a large file was verified with this checksum and has not changed since."""
    key, value = _verified_entry(path, status, checksum)
    return _read_verified()[1].get(key) == value


def remember_verified(path: str, status: os.stat_result, checksum: str) -> None:
    """Record a file as verified; where nothing can be written, it is verified each time."""
    key, value = _verified_entry(path, status, checksum)
    cache, verified = _read_verified()
    known = [item for item in verified.items() if item[0] != key][1 - MAX_VERIFIED :]
    work = cache.with_name(f"{cache.name}.tmp-{os.getpid()}")
    with suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        work.write_text(json.dumps(dict([*known, (key, value)])), encoding="utf-8")
        work.replace(cache)


def _read_verified() -> tuple[Path, dict[str, str]]:
    """Return the path of the list of verified files, and the list."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path, known = Path(home) / "ctxembed" / "verified.json", None
    with suppress(OSError, ValueError, RecursionError):
        known = json.loads(path.read_bytes())
    return path, known if isinstance(known, dict) else {}


def _verified_entry(path: str, status: os.stat_result, checksum: str) -> tuple[str, str]:
    """Return a key that hides the path, and a value that changes with the file."""
    real = os.path.realpath(path).encode("utf-8", "surrogatepass")
    value = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {checksum}"
    return f"{crc32(real):08x}{crc32(real[::-1]):08x}", value
