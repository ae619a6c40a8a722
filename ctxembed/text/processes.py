"""Work in several processes that end when this one does."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_processes(function: Callable[[T], R], items: Sequence[T], workers: int) -> Iterator[R]:
    """Yield function(item) for each item in order; an error or Ctrl-C ends all of them at once."""
    if workers < 2:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(workers, initializer=follow, initargs=(os.getpid(),)) as pool:
        try:
            for future in [pool.submit(function, item) for item in items]:
                yield future.result()
        except BaseException:  # nobody waits for the others any more
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def follow(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and don't outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
