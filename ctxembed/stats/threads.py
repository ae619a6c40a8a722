"""Compute products on one thread of BLAS: for these sizes others cost more than they save."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

_lock = Lock()
_before: list[tuple[Any, int]] = []  # the libraries, and their number of threads outside
_inside = 0  # calls that are computing, in all threads: the first limits, the last restores


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS start no threads meanwhile; where it may start none anyway, do nothing."""
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1":  # as the command line sets it
        yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            _before[:] = [(library, library.get_num_threads()) for library in _libraries()]
            for library, _ in _before:
                library.set_num_threads(1)


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if not _inside:
            for library, number in _before:
                library.set_num_threads(number)


@cache
def _libraries() -> list[Any]:
    """Return the BLAS libraries of numpy; none where scikit-learn's threadpoolctl is missing."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)
