"""Work in several processes that end when this one does."""

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor  # each function imports what it needs

T = TypeVar("T")
R = TypeVar("R")


def start_pool(workers: int) -> "ProcessPoolExecutor":
    """Return a pool of processes that end with this one; without os.fork they are spawned."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = None if hasattr(os, "fork") else multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, end_with_parent, (os.getpid(),))


def in_processes(
    function: Callable[[T], R], items: Sequence[T], workers: int
) -> Generator[R, None, None]:
    """Yield function(item) for each item in order; an error or Ctrl-C ends all processes."""
    if workers < 2:
        yield from map(function, items)
        return
    from multiprocessing import active_children

    with start_pool(workers) as pool:
        try:
            for future in [pool.submit(function, item) for item in items]:
                yield future.result()
        except BaseException:  # the other results are not needed any more
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise


def end_with_parent(parent: int) -> None:
    """Let this process ignore Ctrl-C, and exit when its parent process has ended."""
    import multiprocessing
    from multiprocessing.connection import wait

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def exit_after_parent() -> None:
        # Windows keeps the id of a dead parent, and a fork server is the parent of its workers:
        # there the sentinel of multiprocessing ends. Forked siblings keep each other's open.
        process = multiprocessing.parent_process()
        if process is not None and multiprocessing.get_start_method() != "fork":
            wait([process.sentinel])
        else:
            while os.getppid() == parent:
                time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=exit_after_parent, daemon=True).start()
