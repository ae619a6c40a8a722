"""Bytes from files, packed files, addresses and stdin, and what is wrong with them."""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ctxembed.errors import CorpusError, read_failure

PACKED = (".gz", ".bz2", ".xz", ".zst", ".lz4")
BLOCK = 1 << 16  # packed bytes read at once


def open_bytes(name: str) -> IO[bytes]:
    """Open a file, an address or stdin (`-`), unpacked if its name says that it is packed."""
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
        raise CorpusError(
            f"{name}: needs more packages; install them with: pip install 'ctxembed[remote]'"
        ) from None
    except NotImplementedError:
        raise CorpusError(f"{name}: no such kind of address; try http, https, s3 or gs") from None
    except (OSError, ValueError) as error:
        if "://" not in name and isinstance(error, OSError):
            raise CorpusError(read_failure(name, error)) from None
        found = re.search(r"\[Errno[^\]]*\] ([\w ]+)", str(error))  # requests wraps it four times
        reason = found[1].lower() if found else str(error).splitlines()[0]
        raise CorpusError(f"{name}: cannot be opened: {reason}") from None
    if suffix == ".bz2":
        from bz2 import BZ2Decompressor

        return io.BufferedReader(Streams(stream, BZ2Decompressor, b""))
    if suffix == ".xz":
        from lzma import LZMADecompressor

        return io.BufferedReader(Streams(stream, LZMADecompressor, b"\0"))  # xz may be padded
    return stream


@contextmanager
def damage_told(name: str) -> Iterator[None]:
    """Say which file cannot be read, or cannot be unpacked."""
    try:
        yield
    except (OSError, EOFError, ValueError) as error:  # what gzip, bz2, lzma raise on damage
        raise CorpusError(f"{name}: cannot be read: {error}") from None
    except Exception as error:  # zlib.error, lzma.LZMAError, ZstdError have no common parent
        if type(error).__name__ not in ("error", "LZMAError", "ZstdError"):
            raise
        raise CorpusError(f"{name}: damaged: {error}") from None


class Streams(io.RawIOBase):
    """The streams of a packed file, one behind the other, as pbzip2, xz and cat write them.

    Python's own bz2 and lzma files end without a word at a later one whose beginning is damaged.
    """

    def __init__(self, file: IO[bytes], unpack: Any, padding: bytes) -> None:
        self.file, self.unpack, self.padding = file, unpack, padding
        self.stream = unpack()

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def fileno(self) -> int:
        """Return the number of the packed file."""
        return self.file.fileno()

    def close(self) -> None:
        """Close the packed file too."""
        self.file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Fill as much of the buffer as there is; 0 at the end."""
        while True:
            data = self.stream.unused_data
            if self.stream.eof:
                while not (data := data.lstrip(self.padding)):
                    if not (data := self.file.read(BLOCK)):
                        return 0
                self.stream = self.unpack()
            elif self.stream.needs_input and not (data := self.file.read(BLOCK)):
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            if made := self.stream.decompress(data, len(buffer)):
                buffer[: len(made)] = made
                return len(made)
