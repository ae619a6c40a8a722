"""Packed files of several streams, whole and damaged."""

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxembed.errors import CorpusError
from ctxembed.text.corpus import Corpus
from ctxembed.text.streams import open_bytes
from tests.conftest import Run

Pack = Callable[[bytes], bytes]
PACKERS: dict[str, Pack] = {".bz2": bz2.compress, ".xz": lzma.compress, ".gz": gzip.compress}
ONE = b"An apple a day keeps the doctor away.\n" * 500
OTHER = b"They sat on the river bank.\n" * 500


def text(path: Path) -> bytes:
    return b"".join(block.data for block, _ in Corpus([str(path)]).blocks())


@pytest.mark.parametrize("suffix", PACKERS)
def test_every_stream_is_read(suffix: str, tmp_path: Path) -> None:
    rng = random.Random(1)
    parts = [rng.randbytes(rng.randrange(200_000)).hex().encode() + b"\n" for _ in range(9)]
    path = tmp_path / f"c{suffix}"
    path.write_bytes(b"".join(map(PACKERS[suffix], [b"", *parts, b""])))
    with open_bytes(str(path)) as stream:
        assert stream.read() == b"".join(parts)
    with open_bytes(str(path)) as stream:
        assert b"".join(iter(lambda: stream.read(1000), b"")) == b"".join(parts)


def test_the_bytes_read_are_counted(tmp_path: Path) -> None:
    """The progress bar counts the bytes of the file on disk."""
    for suffix, pack in PACKERS.items():
        path = tmp_path / f"c{suffix}"
        path.write_bytes(pack(ONE) + pack(OTHER))
        read = [done for _, done in Corpus([str(path)]).blocks()]
        assert sum(read) == path.stat().st_size, suffix


@pytest.mark.parametrize("tail", [b"XXX", b"\0\0\0\0XXX", b"\n", b"B", b"\xfd7zXZ\0", b"BZh9"])
@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
def test_an_invalid_stream_is_an_error(suffix: str, tail: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"c{suffix}"
    path.write_bytes(PACKERS[suffix](ONE) + tail)
    with pytest.raises(CorpusError, match=f"^{path}: (damaged|cannot be read): "):
        text(path)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("harm", [lambda s: b"XXX" + s[3:], lambda s: s[1:], lambda s: s[:-9]])
def test_a_damaged_second_stream(
    harm: Callable[[bytes], bytes], suffix: str, run: Run, tmp_path: Path
) -> None:
    pack = PACKERS[suffix]
    (tmp_path / f"c{suffix}").write_bytes(pack(ONE) + harm(pack(OTHER)))
    done = run("train", f"c{suffix}", "-o", "m")
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith(f"ctxembed: c{suffix}: ")
    assert not (tmp_path / "m").exists()
    done = run("import", f"c{suffix}", "-o", "m")
    assert done.returncode != 0
    assert not (tmp_path / "m").exists()


def test_a_damaged_second_zstandard_frame(tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    frame = zstd.compress(OTHER)
    (tmp_path / "c.zst").write_bytes(zstd.compress(ONE) + frame)
    assert text(tmp_path / "c.zst") == ONE + OTHER
    for damaged in (b"XXXX" + frame[4:], frame[1:], frame[:-9]):
        (tmp_path / "c.zst").write_bytes(zstd.compress(ONE) + damaged)
        with pytest.raises(CorpusError):
            text(tmp_path / "c.zst")


def test_xz_may_be_padded(tmp_path: Path) -> None:
    """The format allows NULs after a stream (its specification, 2.2)."""
    (tmp_path / "c.xz").write_bytes(lzma.compress(ONE) + bytes(8) + lzma.compress(OTHER) + bytes(4))
    assert text(tmp_path / "c.xz") == ONE + OTHER
