"""Progress bars on stderr, for a person at a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ctxembed.output.safe import say
from ctxembed.progress import Progress, Stage


class Bars(Progress):
    """A bar for each stage, with rate and time left; nothing where stderr is no terminal."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own
        counted = bool(unit or total)
        with tqdm(
            total=total,
            desc=f"{name:<10}",
            unit=unit,
            unit_scale=True,
            leave=False,
            disable=self.quiet or not sys.stderr.isatty(),
            dynamic_ncols=True,
            file=sys.stderr,
            bar_format=None if counted else "{desc}: {elapsed}{postfix}",
        ) as bar:
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
