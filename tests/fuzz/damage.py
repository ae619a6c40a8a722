"""Ways to damage a model directory: bits, kinds, names, descriptions, and what is no file."""

import json
import os
import random
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

ODD: list[Any] = [
    None, True, -1, 0, 10**400, 1e308, float("nan"), "", "x" * 1000, "\ud800", "\x1b[2J", [], {},
    [[]], {"a": 1}, "../../etc/passwd",
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
    made = rng.choice(("i4", ">f4", "f8", "f2", "c8", "fortran", "flat", "transposed", "object"))
    if made == "fortran":
        array = np.asfortranarray(array)
    elif made == "flat":
        array = array.reshape(-1)
    elif made == "transposed":
        array = np.ascontiguousarray(array.T)
    elif made == "object":
        array = np.array([None, {}], object)
    else:
        with np.errstate(all="ignore"):
            array = array.astype(made)
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
    told = json.loads(path.read_text())
    place: Any = told
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.6:
            place = place[key]
            continue
        if rng.random() < 0.2:
            del place[key]
        else:
            place[key] = rng.choice(ODD)
        break
    path.write_text(json.dumps(told), errors="surrogatepass")


def remove(path: Path, rng: random.Random) -> None:
    path.unlink()


def no_file(path: Path, rng: random.Random) -> None:
    path.unlink()
    made: list[Callable[[], None]] = [
        lambda: os.mkfifo(path),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to("/dev/random"),
        lambda: path.symlink_to("/etc/passwd"),
        lambda: path.symlink_to(path),
        path.mkdir,
    ]
    rng.choice(made)()


DAMAGE = (flip, flip, flip, cut, lengthen, blank, swap, other_kind, reverse, other_value,
    other_value, remove, no_file)  # fmt: skip
