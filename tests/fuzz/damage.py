"""Damage to a model directory: bits, types, names, descriptions, and files that are no files.

LIES are applied before the checksums are written: only a check of the content can notice them.
"""

import json
import os
import random
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

ODD: list[Any] = [
    None, True, -1, 0, 10**9, 2**63, 10**400, 0.5, 1e308, float("nan"), "", "x" * 1000, "\ud800",
    "\x1b[2J", [], {}, [[]], {"a": 1}, "../../etc/passwd",
]  # fmt: skip


def flip(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def cut(path: Path, rng: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])


def lengthen(path: Path, rng: random.Random) -> None:
    path.write_bytes(path.read_bytes() + rng.randbytes(rng.choice((1, 4, 1000))))


def blank(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = rng.randrange(len(data))
    size = min(rng.choice((1, 16, 512, 4096)), len(data) - at)
    data[at : at + size] = bytes(size)
    path.write_bytes(data)


def swap(path: Path, rng: random.Random) -> None:
    root = next(p for p in path.parents if (p / "model.json").exists())
    other = rng.choice([p for p in sorted(root.rglob("*")) if p.is_file() and p != path] or [path])
    one, two = path.read_bytes(), other.read_bytes()
    path.write_bytes(two)
    other.write_bytes(one)


def other_kind(path: Path, rng: random.Random) -> None:
    if path.suffix != ".npy":
        return flip(path, rng)
    array = np.load(path)
    kind = rng.choice(("i4", ">f4", "f8", "f2", "c8", "fortran", "flat", "transposed", "object"))
    if kind == "fortran":
        array = np.asfortranarray(array)
    elif kind == "flat":
        array = array.reshape(-1)
    elif kind == "transposed":
        array = np.ascontiguousarray(array.T)
    elif kind == "object":
        array = np.array([None, {}], object)
    else:
        with np.errstate(all="ignore"):
            array = array.astype(kind)
    file = BytesIO()
    np.save(file, array)
    path.write_bytes(file.getvalue())


def reverse(path: Path, rng: random.Random) -> None:
    if path.suffix == ".txt":
        path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    elif path.suffix == ".npy":
        np.save(path, np.load(path)[::-1])
    else:
        flip(path, rng)


def other_value(path: Path, rng: random.Random) -> None:
    if path.suffix != ".json":
        return flip(path, rng)
    path.write_bytes(_other_json(path.read_bytes(), rng))


def _other_json(text: bytes, rng: random.Random) -> bytes:
    description = json.loads(text)
    node: Any = description
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = rng.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.6:
            node = node[key]
            continue
        if rng.random() < 0.2:
            del node[key]
        else:
            node[key] = rng.choice(ODD)
        break
    return json.dumps(description).encode()


def remove(path: Path, rng: random.Random) -> None:
    path.unlink()


def no_file(path: Path, rng: random.Random) -> None:
    path.unlink()
    variants: list[Callable[[], None]] = [
        lambda: os.mkfifo(path),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to("/dev/random"),
        lambda: path.symlink_to("/etc/passwd"),
        lambda: path.symlink_to(path),
        path.mkdir,
    ]
    rng.choice(variants)()


def sparse(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.choice((1 << 24, 1 << 32, 1 << 40)))


def other_numbers(path: Path, rng: random.Random) -> None:
    """Put numbers into an array that no honest one has; a senses.npz has several."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            arrays = {name: np.array(file[name]) for name in file.files}
        arrays["description"] = np.frombuffer(
            _other_json(arrays["description"].tobytes(), rng), "u1"
        )
        name = rng.choice(("vectors", "weights", "description"))
        if name != "description":
            _spoil(arrays[name], rng)
        pack: Any = rng.choice((np.savez, np.savez, np.savez_compressed))
        with path.open("wb") as target:
            pack(target, **arrays)
    elif path.suffix == ".npy":
        array = np.load(path)
        _spoil(array, rng)
        np.save(path, array)
    else:
        other_words(path, rng)


def _spoil(array: Any, rng: random.Random) -> None:
    flat = array.reshape(-1)
    limits: Any = np.iinfo if array.dtype.kind in "iu" else np.finfo
    odd = [limits(array.dtype).min, limits(array.dtype).max, 0, 1]
    odd += [-1, len(flat), len(flat) - 1] if array.dtype.kind in "i" else []
    odd += [np.nan, np.inf, -1e-38] if array.dtype.kind == "f" else []
    for _ in range(rng.choice((1, 3, len(flat)))):
        flat[rng.choice((0, -1, rng.randrange(len(flat))))] = rng.choice(odd)


def other_shape(path: Path, rng: random.Random) -> None:
    """Give an array fewer rows, none, or one more axis."""
    if path.suffix != ".npy":
        return other_words(path, rng)
    array = np.load(path)
    variants: list[Callable[[], Any]] = [
        lambda: array[:0], lambda: array[:1], lambda: array[..., None], lambda: array[::2],
        lambda: array.reshape(-1)[:1].reshape(()), lambda: np.concatenate([array] * 3),
        lambda: np.zeros((0, 1 << 40), array.dtype), lambda: array[..., :1],
    ]  # fmt: skip
    np.save(path, rng.choice(variants)())


def other_words(path: Path, rng: random.Random) -> None:
    """Put lines into a list of words that no honest one has."""
    if path.suffix != ".txt":
        return other_value(path, rng)
    lines = path.read_bytes().splitlines(keepends=True)
    odd = [b"\n", b"\0\n", b"\r\n", b"\x1b[2J\n", b"\xff\n", b"a b\n", b"x" * 10**6 + b"\n", b"",
        b"the\n", "\u2028\n".encode(), b"##\n", b"no end"]  # fmt: skip
    for _ in range(rng.choice((1, 3, 60))):
        if lines:
            lines[rng.randrange(len(lines))] = rng.choice(odd)
    path.write_bytes(b"".join(lines))


def deep(path: Path, rng: random.Random) -> None:
    """Nest what a description says a hundred thousand times, or say it very often."""
    if path.suffix != ".json":
        return other_numbers(path, rng)
    description = json.loads(path.read_text())
    key = rng.choice(list(description))
    description[key] = "@"
    size = rng.choice((900, 100_000))
    value = rng.choice(
        ("[" * size + "]" * size, "[" + "0," * size + "0]", "9" * size, "1e" + "9" * size)
    )
    path.write_text(json.dumps(description).replace('"@"', value, 1))


def other_zip(path: Path, rng: random.Random) -> None:
    """Pack a senses.npz of very many zeros, names that lead out, or nothing."""
    if path.suffix != ".npz":
        return other_value(path, rng)
    name = rng.choice(("description.npy", "vectors.npy", "../../x.npy", "description"))
    size = rng.choice((0, 100, 1 << 28, 1 << 60))
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},), }}".ljust(117) + "\n"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open(name, "w", force_zip64=True) as part,
    ):
        part.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode())
        for _ in range(min(size, 1 << 28) >> 20):
            part.write(bytes(1 << 20))


DAMAGE = (flip, flip, flip, cut, lengthen, blank, swap, other_kind, reverse, other_value,
    other_value, remove, no_file, sparse, deep)  # fmt: skip
LIES = (other_value, other_value, other_numbers, other_numbers, other_numbers, other_shape,
    other_words, other_kind, swap, reverse, deep, other_zip)  # fmt: skip
