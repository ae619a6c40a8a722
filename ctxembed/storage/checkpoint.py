"""A checkpoint: the state of a long run in one file, so that a run that was killed goes on."""

import json
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CtxembedError
from ctxembed.storage.atomic import atomic_file, remove_leftovers

SECONDS = 120.0  # between two writes
DIGEST = 32  # bytes of a SHA-256

State = dict[str, Any]  # name -> number, array, or a dictionary of arrays by name


class Checkpoint:
    """Saves the state of a run, and loads that of an earlier one; without a path, does nothing.

    settings: what the result depends on. The state of a run with other settings is not loaded.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "run")
    ...     Checkpoint(path, {"seed": 1}, seconds=0).save({"step": 7, "adam": {"w": np.ones(2)}})
    ...     [Checkpoint(path, {"seed": seed}).load() for seed in (1, 2)]
    [{'step': 7, 'adam': {'w': array([1., 1.])}}, None]
    """

    def __init__(
        self,
        path: Path | None = None,
        settings: Mapping[str, Any] | None = None,
        note: Callable[[str], None] = lambda text: None,
        seconds: float | None = None,
    ) -> None:
        self.path, self.note = path, note
        self.key = sha256(json.dumps(settings, sort_keys=True).encode()).digest()
        self.seconds = SECONDS if seconds is None else seconds
        self.written = time.monotonic()
        self.state = self._read()  # now, so that its note is not written over a progress bar

    def load(self) -> State | None:
        """Return the state of an interrupted run with these settings; None without one."""
        return self.state

    def save(self, state: State) -> None:
        """Write the state, if the last write was long enough ago."""
        if self.path is None or time.monotonic() - self.written < self.seconds:
            return
        self.path.parent.mkdir(exist_ok=True)
        buffer = BytesIO()
        np.savez(buffer, **_flatten(state))
        content = self.key + buffer.getvalue()
        try:
            with atomic_file(self.path) as file:
                file.write(sha256(content).digest() + content)
        except CtxembedError as error:  # the run itself can go on
            self.note(f"no checkpoint was written: {error}")
        self.written = time.monotonic()

    def _read(self) -> State | None:
        try:
            data = self.path.read_bytes() if self.path else b""
        except FileNotFoundError:
            return None
        except OSError:
            data = b"?"
        if not data:
            return None
        digest, content = data[:DIGEST], data[DIGEST:]
        if sha256(content).digest() != digest:
            self.note(f"{self.path}: damaged checkpoint; learning starts from the beginning")
            return None
        if content[:DIGEST] != self.key:
            self.note("the interrupted run had other settings; learning starts from the beginning")
            return None
        with np.load(BytesIO(content[DIGEST:]), allow_pickle=False) as arrays:
            state = _nest(dict(arrays))
        since = f"after step {state['step']}" if "step" in state else "where it stopped"
        self.note(f"the interrupted run goes on {since}; --again starts from the beginning")
        return state

    def remove(self) -> None:
        """Remove the file, at the end of the run."""
        if self.path is not None:
            remove_leftovers(self.path)
            self.path.unlink(missing_ok=True)
            self.state = None


def _flatten(state: State) -> dict[str, Any]:
    """Return arrays by name; those of a dictionary have its name before theirs."""
    flat: dict[str, Any] = {}
    for name, value in state.items():
        parts = value.items() if isinstance(value, dict) else (("", value),)
        flat |= {f"{name}:{part}": array for part, array in parts}
    return flat


def _nest(arrays: dict[str, NDArray[Any]]) -> State:
    state: State = {}
    for key, array in arrays.items():
        name, _, part = key.partition(":")
        if part:
            state.setdefault(name, {})[part] = array
        else:
            state[name] = array if array.ndim else array.item()
    return state


def rng_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return the state of a generator as numbers of 64 bits, for `restore_rng`.

    >>> a, b = np.random.default_rng(1), np.random.default_rng(2)
    >>> restore_rng(b, rng_state(a))
    >>> a.random() == b.random()
    True
    """
    state: Any = rng.bit_generator.state
    numbers = (state["state"]["state"], state["state"]["inc"])  # of 128 bits
    halves = [half for number in numbers for half in (number >> 64, number & (1 << 64) - 1)]
    return np.array([*halves, state["has_uint32"], state["uinteger"]], np.uint64)


def restore_rng(rng: np.random.Generator, numbers: NDArray[np.uint64]) -> None:
    """Set a generator to the state that `rng_state` returned."""
    a, b, c, d, has_uint32, uinteger = numbers.tolist()
    rng.bit_generator.state = {
        "bit_generator": "PCG64", "state": {"state": a << 64 | b, "inc": c << 64 | d},
        "has_uint32": has_uint32, "uinteger": uinteger,
    }  # fmt: skip
