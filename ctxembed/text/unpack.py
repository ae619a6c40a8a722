"""Packed text of several streams, one behind the other, as pbzip2, xz and cat write it.

Python's own bz2 and lzma files end without a word at a later stream whose beginning is damaged.
"""

import io
from pathlib import Path
from typing import IO, Any

BLOCK = 1 << 16  # packed bytes read at once


class Streams(io.RawIOBase):
    """The streams of a packed file, unpacked; whatever stands behind one must be another."""

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


def is_in_streams(name: str) -> bool:
    """Tell whether a file's name says that it may hold several such streams."""
    return Path(name).suffix.lower() in (".bz2", ".xz")


def unpack(file: IO[bytes], name: str) -> IO[bytes]:
    """Return what a packed file holds."""
    if Path(name).suffix.lower() == ".bz2":
        from bz2 import BZ2Decompressor

        return io.BufferedReader(Streams(file, BZ2Decompressor, b""))
    from lzma import LZMADecompressor

    return io.BufferedReader(Streams(file, LZMADecompressor, b"\0"))  # xz may be padded
