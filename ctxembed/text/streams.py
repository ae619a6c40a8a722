"""Open files, compressed files, URLs and stdin as streams of bytes."""

import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ctxembed.errors import CorpusError, read_failure

PACKED = (".gz", ".bz2", ".xz", ".zst", ".lz4")
BLOCK = 1 << 16  # compressed bytes read at once


def open_bytes(name: str) -> IO[bytes]:
    """Open a file, a URL or stdin (`-`); decompress it if its suffix says so."""
    if name == "-":
        return sys.stdin.buffer
    suffix = Path(name).suffix.lower()
    try:
        if "://" not in name and suffix not in PACKED:
            return open(name, "rb")
        from smart_open import open as smart  # slow to import

        how = "disable" if suffix in (".bz2", ".xz") else "infer_from_extension"
        stream: IO[bytes] = smart(name, "rb", compression=how)
    except ImportError:
        install = "install them with: pip install 'ctxembed[remote]'"
        raise CorpusError(f"{name}: needs optional packages; {install}") from None
    except NotImplementedError:
        raise CorpusError(f"{name}: unknown URL scheme; use http, https, s3 or gs") from None
    except (OSError, ValueError) as error:
        if "://" not in name and isinstance(error, OSError):
            raise CorpusError(read_failure(name, error)) from None
        match = re.search(r"\[Errno[^\]]*\] ([\w ]+)", str(error))  # requests wraps it four times
        reason = match[1].lower() if match else str(error).splitlines()[0]
        raise CorpusError(f"{name}: cannot be opened: {reason}") from None
    if suffix not in (".bz2", ".xz"):
        return stream
    from bz2 import BZ2Decompressor
    from lzma import LZMADecompressor

    # Between the streams of an .xz file there may be NUL bytes.
    unpack, padding = (BZ2Decompressor, b"") if suffix == ".bz2" else (LZMADecompressor, b"\0")
    return io.BufferedReader(Streams(stream, unpack, padding))


def is_live(stream: IO[Any] | None) -> bool:
    """Return whether a stream comes from another program or a person, who may wait for answers."""
    try:
        number = -1 if stream is None else stream.fileno()
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):  # closed, or not a file of the system
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(number)


class LiveLines:
    """The lines of a pipe as they come; `has_line` says whether one more is there already."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.buffer, self.start = stream, b"", 0

    def has_line(self) -> bool:
        return self.buffer.find(b"\n", self.start) >= 0

    def readline(self, limit: int) -> bytes:
        """Return the next line, or its first `limit` bytes; empty at the end."""
        while (end := self.buffer.find(b"\n", self.start)) < 0:
            if len(self.buffer) - self.start >= limit:
                break
            data = self.stream.read1(BLOCK)  # type: ignore[attr-defined]
            self.buffer, self.start = self.buffer[self.start :] + data, 0
            if not data:
                break
        stop = min(end + 1 if end >= 0 else len(self.buffer), self.start + limit)
        line, self.start = self.buffer[self.start : stop], stop
        return line

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; empty at the end."""
        data = self.buffer[self.start : self.start + size] or self.stream.read(size)
        self.start += size
        return data


@contextmanager
def name_read_errors(name: str) -> Iterator[None]:
    """Turn errors of reading and decompression into a CorpusError that names the file."""
    try:
        yield
    except Exception as error:  # zlib.error, lzma.LZMAError, ZstdError have no common parent
        damage = type(error).__name__ in ("error", "LZMAError", "ZstdError")
        if not damage and not isinstance(error, (OSError, EOFError, ValueError)):
            raise
        raise CorpusError(f"{name}: {'damaged' if damage else 'cannot be read'}: {error}") from None


class Streams(io.RawIOBase):
    """The concatenated streams of a compressed file, as pbzip2, xz and cat write them.

    Python's bz2 and lzma files stop without an error at a later stream with a damaged start.
    """

    def __init__(self, file: IO[bytes], unpack: Any, padding: bytes) -> None:
        self.file, self.unpack, self.padding = file, unpack, padding
        self.stream = unpack()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.file.fileno()

    def close(self) -> None:
        self.file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Fill as much of the buffer as there is; return the number of bytes, 0 at the end."""
        while True:
            data = self.stream.unused_data
            if self.stream.eof:
                while not (data := data.lstrip(self.padding)):
                    if not (data := self.file.read(BLOCK)):
                        return 0
                self.stream = self.unpack()
            elif self.stream.needs_input and not (data := self.file.read(BLOCK)):
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            if chunk := self.stream.decompress(data, len(buffer)):
                buffer[: len(chunk)] = chunk
                return len(chunk)
