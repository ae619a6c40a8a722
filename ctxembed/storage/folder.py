"""A folder whose files are opened at once: what takes its name later changes nothing in them."""

import errno
import mmap
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from ctxembed.errors import CtxembedError, ModelError, Replaced, read_failure
from ctxembed.storage import verified

SMALL = 4 << 20  # bytes; what is smaller is verified each time: a thousandth of a second
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
OURS = (".npy", ".json", ".txt")  # how the names of our files end
UNLISTED = ("senses.npz",)  # written into a model that is there already; it has its own checksums
TOO_MANY = (errno.EMFILE, errno.ENFILE)
WHOLE = 256 << 20  # bytes of a file that is read whole
HEAD = 256  # bytes that hold the header of an array
# What numpy writes for plain numbers; anything else in a model was not written by us.
_HEADER = re.compile(
    rb"\{'descr': '(?P<kind>[<|][fiu][1248])', 'fortran_order': False,"
    rb" 'shape': \((?P<shape>[\d, ]{0,99})\), \} *\n"
)


class Folder:
    """The files of a directory, as they were when it was opened, and what is listed of them."""

    def __init__(
        self, path: Path, fix: str, *, above: "Folder | None" = None, on_disk: bool = True
    ) -> None:
        self.path, self.fix, self.above = path, fix, above
        self.listed: Mapping[str, Any] | None = None  # None: written before files were listed
        self.numbers: dict[str, int] = {}  # name -> open file
        self.late = False  # whether files are opened when they are asked for
        self.root: int | None = None  # where a system cannot open files by their folder
        self.place: tuple[Path, int | None] = path, None  # and the folder in which it is
        if above is not None:
            self.place = path.relative_to(above.path), above.root
        if _BY_FOLDER and on_disk:
            flags = _FOLDER if above is None else _FOLDER | os.O_NOFOLLOW
            self.root = os.open(self.place[0], flags, dir_fd=self.place[1])

    def __del__(self) -> None:
        self._let_go()
        if self.root is not None:
            os.close(self.root)

    def __truediv__(self, name: str) -> "Part":
        return Part(self, name)

    def _let_go(self) -> None:
        for number in self.numbers.values():
            os.close(number)
        self.numbers = {}

    def in_place(self) -> bool:
        """Tell whether the directory is still what its name stands for."""
        if self.root is None:
            return True
        try:
            here = os.stat(self.place[0], dir_fd=self.place[1])
            same = os.path.samestat(here, os.fstat(self.root))
            return same and (self.above is None or self.above.in_place())
        except OSError:
            return False

    def hold(self, names: Iterable[str]) -> None:
        """Open files; where that would be too many, each will be opened when it is asked for."""
        try:
            for name in names:
                with suppress(ModelError):  # it is told when the file is asked for
                    self.number(name)
        except OSError as error:
            if error.errno not in TOO_MANY:
                raise self.failure("", error) from None
            self._let_go()
            self.late = True

    def names(self, within: str = "") -> list[str]:
        """List what lies in this folder, or in one within it."""
        try:
            if self.root is None:
                return sorted(os.listdir(self.path / within))
            place = os.open(within or ".", _FOLDER | os.O_NOFOLLOW, dir_fd=self.root)
            try:
                return sorted(os.listdir(place))
            finally:
                os.close(place)
        except OSError as error:
            if error.errno in TOO_MANY:
                raise self.failure(within, error) from None
            return []

    def again(self, name: str) -> "Part":
        """Open a file anew that this process itself may have written."""
        if name in self.numbers:
            os.close(self.numbers.pop(name))
        self.hold([name])
        return self / name

    def ours(self) -> list[str]:
        """List the files that may be ours, in this folder and in its index."""
        within = [f"index/{name}" for name in self.names("index")]
        return [name for name in (*self.names(), *within) if name.endswith(OURS) and name[0] != "."]

    def number(self, name: str) -> int | None:
        """Return the open file of a name, or None where there is none of ours."""
        if self.listed is not None and name not in self.listed and name not in UNLISTED:
            return None
        if name in self.numbers:
            return self.numbers[name]
        try:
            place = name if self.root is not None else self.path / name
            number = os.open(place, _FLAGS, dir_fd=self.root)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a fifo or a socket
                raise self.damage(name, "not a regular file") from None
            raise
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise self.damage(name, "not a regular file")
        if not self.late:
            self.numbers[name] = number
        return number

    def size(self) -> int:
        """Count the bytes of all files that are ours, as they were when they were opened."""
        total = 0
        for name in (*(self.listed or self.ours()), *UNLISTED):
            if (self / name).exists():
                with (self / name).opened() as (_, found):
                    total += found.st_size
        return total

    def check_listed(self) -> None:
        """Hold size, kind and shape of all that is listed against what there is."""
        for name, listed in (self.listed or {}).items():
            part = self / name
            with part.opened() as (number, found):
                head = os.pread(number, HEAD, 0) if "dtype" in listed else b""
            part.expect("bytes", found.st_size)
            if head:
                part.array_header(head)

    def damage(self, name: str, reason: str) -> ModelError:
        """Say that a file is not what it should be."""
        return ModelError(f"{self.path / name}: damaged ({reason}); {self.fix}")

    def failure(self, name: str, error: OSError) -> CtxembedError:
        """Say that a file could not be opened."""
        return open_failure(self.path / name, error, self.fix)

    def missing(self, name: str) -> ModelError:
        """Say that a file is missing, or that the whole folder is not there any more."""
        if not self.in_place():
            return Replaced(f"{self.path}: replaced by another meanwhile; run this command again")
        return ModelError(f"{self.path / name}: missing; {self.fix}")


class Part:
    """A file or folder in an opened Folder; it is read as a Path is."""

    def __init__(self, folder: Folder, name: str) -> None:
        self.folder, self.name = folder, name

    def __truediv__(self, name: str) -> "Part":
        return Part(self.folder, f"{self.name}/{name}")

    def __str__(self) -> str:
        return str(self.folder.path / self.name)

    def exists(self) -> bool:
        """Tell whether there is such a file; one that is not listed is none of ours."""
        try:
            number = self.folder.number(self.name)
        except OSError as error:
            raise self.folder.failure(self.name, error) from None
        if number is not None and self.folder.late:
            os.close(number)
        return number is not None

    def is_dir(self) -> bool:
        """Tell whether any file lies under this name."""
        if self.folder.listed is not None:
            return any(name.startswith(f"{self.name}/") for name in self.folder.listed)
        return bool(self.folder.names(self.name))

    @contextmanager
    def opened(self) -> Iterator[tuple[int, os.stat_result]]:
        """Give the open file and its state."""
        folder, name = self.folder, self.name
        try:
            number = folder.number(name)
            if number is None:
                raise folder.missing(name)
            try:
                yield number, os.fstat(number)
            finally:
                if folder.late:
                    os.close(number)
        except OSError as error:
            raise folder.failure(name, error) from None

    def open_data(self, *, whole: bool = False) -> Any:
        """Return all bytes, mapped, when they are what they should be.

        They are held against their checksum: large files once, until they change, or if `whole`.
        """
        with self.opened() as (number, found):
            data = mmap.mmap(number, 0, access=mmap.ACCESS_READ) if found.st_size else b""
        listed = (self.folder.listed or {}).get(self.name)
        if listed is None:
            return data
        self.expect("bytes", len(data))
        large, seen = len(data) > SMALL, (str(self), found, listed.get("crc32", ""))
        if whole or not (large and verified.is_known(*seen)):
            self.expect("crc32", f"{crc32(data):08x}")
            if large:
                verified.remember([seen])
        return data

    def expect(self, what: str, found: object) -> None:
        """Refuse a file that is not as listed."""
        expected = (self.folder.listed or {}).get(self.name, {}).get(what, found)
        if found != expected:
            raise self.folder.damage(self.name, f"{what} {found}, expected {expected}")

    def array_header(self, head: bytes) -> tuple[str, tuple[int, ...], int]:
        """Return kind and shape of an array, if as listed, and where its numbers begin."""
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
        return kind, shape, begin

    def read_bytes(self) -> bytes:
        """Read the file whole; one of no known size must be of a sensible one."""
        data = self.open_data()
        if self.name not in (self.folder.listed or ()) and len(data) > WHOLE:
            raise self.folder.damage(self.name, f"longer than {WHOLE >> 20} MiB")
        return bytes(data)

    def read_text(self, encoding: str = "utf-8") -> str:
        """Read the file whole as text."""
        return self.read_bytes().decode(encoding)


def open_path(path: Path, fix: str = "train the model again") -> Part:
    """Open a single file as a part of its folder."""
    try:
        return Folder(path.parent, fix) / path.name
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(f"{path}: missing; {fix}") from None
    except OSError as error:
        raise open_failure(path, error, fix) from None


def open_failure(path: Path, error: OSError, fix: str) -> CtxembedError:
    """Say that a file could not be opened; a limit on open files or memory is no damage."""
    if error.errno in TOO_MANY:
        return CtxembedError(f"{path}: too many open files; raise the limit (ulimit -n)")
    if error.errno == errno.ENOMEM:
        return CtxembedError(f"{path}: not enough memory to open it")
    return ModelError(f"{read_failure(path, error)}; {fix}")
