"""Products start no threads of BLAS, from Python too, and leave the caller's setting alone."""

import os
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from functools import cached_property

import pytest

from ctxembed.stats import threads
from ctxembed.stats.threads import one_thread
from tests.conftest import ROOT


class Library:
    """A BLAS library that counts its threads."""

    def __init__(self) -> None:
        self.number = 4

    def get_num_threads(self) -> int:
        return self.number

    def set_num_threads(self, number: int) -> None:
        self.number = number


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    one = Library()
    monkeypatch.setattr(threads, "_libraries", lambda: [one])
    yield one
    assert one.number == 4


def test_nested_and_failed_calls_restore_the_number(library: Library) -> None:
    with one_thread(), one_thread():
        assert library.number == 1
    with pytest.raises(ValueError), one_thread():
        raise ValueError


def test_the_last_of_several_threads_restores_the_number(library: Library) -> None:
    inside, leave = threading.Event(), threading.Event()

    def compute() -> None:
        with one_thread():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=compute)
    with one_thread():
        thread.start()
        inside.wait(10)
    assert library.number == 1  # the other one still computes
    leave.set()
    thread.join()


CODE = """
import time, ctxembed
model = ctxembed.open("everyday")
lines = ["the [bank] of the river was steep and we walked on"] * 3000
ctxembed.contextualize(model, lines[:10]).records()
wall, own, all_ = time.perf_counter(), time.thread_time(), time.process_time()
ctxembed.contextualize(model, lines).records()
print((time.process_time() - all_) / (time.thread_time() - own))
"""


def test_only_the_calling_thread_computes() -> None:
    """The processor time of the process is that of its own thread: no other one works or waits."""
    pytest.importorskip("threadpoolctl")
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "4"}
    line = [sys.executable, "-c", CODE]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 2  # about 6 with threads


@pytest.mark.posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork while threads run
def test_a_forked_process_waits_for_no_thread(library: Library) -> None:
    """A thread of the parent computes a cached_property inside `one_thread` during the fork."""
    inside, leave = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def value(self) -> int:
            inside.set()
            leave.wait(10)
            return 1

    module = types.ModuleType("ctxembed.slow")
    module.Slow = Slow  # type: ignore[attr-defined]
    sys.modules["ctxembed.slow"] = module
    slow = Slow()

    def compute() -> None:
        with one_thread():
            _ = slow.value

    thread = threading.Thread(target=compute)
    thread.start()
    inside.wait(10)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a process that waits for ever
        leave.set()
        right = library.number == 4
        with one_thread():
            right = right and library.number == 1 and Slow().value == slow.value == 1
        os._exit(0 if right and library.number == 4 else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    del sys.modules["ctxembed.slow"]
    assert status == 0
