"""Processes under every start method of this system; Windows has only spawn."""

import multiprocessing
import os
import time
from collections.abc import Iterator

import pytest

from ctxembed.text.processes import in_processes


@pytest.fixture(params=multiprocessing.get_all_start_methods())
def start_method(request: pytest.FixtureRequest) -> Iterator[str]:
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method(request.param, force=True)
    yield request.param
    multiprocessing.set_start_method(before, force=True)


def slow_pid(seconds: float) -> int:
    time.sleep(seconds)  # longer than one look at the parent process
    return os.getpid()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_stay_alive_while_the_parent_does(start_method: str) -> None:
    pids = list(in_processes(slow_pid, [0.7, 0.7, 0.0], 2))
    assert len(pids) == 3
    assert os.getpid() not in pids


def test_processes_are_spawned_where_there_is_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork", raising=False)
    pids = list(in_processes(slow_pid, [0.7, 0.7], 2))
    assert len(pids) == 2 and os.getpid() not in pids


def test_one_worker_is_this_process() -> None:
    assert list(in_processes(slow_pid, [0.0], 1)) == [os.getpid()]
