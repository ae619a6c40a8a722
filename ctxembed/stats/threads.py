"""Compute products on one thread of BLAS: for these sizes others cost more than they save."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from threading import Lock, RLock
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
        if not _inside:  # forked meanwhile
            return
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


def _after_fork() -> None:
    """Release in a forked process what threads held that it does not have."""
    global _lock, _inside
    _lock, _inside = Lock(), 0
    for library, number in _before:
        library.set_num_threads(number)
    if sys.version_info >= (3, 12):  # there a cached_property has no lock
        return
    modules = [module for name, module in list(sys.modules.items()) if name[:9] == "ctxembed."]
    classes = [item for module in modules for item in vars(module).values() if type(item) is type]
    for item in (item for one in classes for item in vars(one).values()):
        if isinstance(item, cached_property):
            vars(item)["lock"] = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
