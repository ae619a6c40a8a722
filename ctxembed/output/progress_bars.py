"""Progress bars on stderr, shown only on a terminal."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ctxembed.output.safe import say
from ctxembed.progress import Progress, Stage


class Bars(Progress):
    """A bar for each stage with rate and time left; silent if stderr is not a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        from tqdm import tqdm

        # tqdm's own lock is a semaphore, which macOS reports as leaked.
        tqdm.set_lock(threading.RLock())
        tqdm.monitor_interval = 0  # start no monitor thread
        with tqdm(
            total=total, desc=f"{name:<10}", unit=unit, unit_scale=True, leave=False,
            disable=self.quiet or not sys.stderr.isatty(), dynamic_ncols=True, file=sys.stderr,
            bar_format=None if unit or total else "{desc}: {elapsed}{postfix}",
        ) as bar:  # fmt: skip
            yield _Bar(bar)

    def note(self, text: str) -> None:
        if not self.quiet:
            say([text])


class _Bar(Stage):
    def __init__(self, bar: Any) -> None:
        self.bar = bar

    def advance(self, amount: float = 1) -> None:
        self.bar.update(amount)

    def say(self, text: str) -> None:
        self.bar.set_postfix_str(text)
