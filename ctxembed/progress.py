"""How long work reports itself: the core counts, whoever called decides what to show."""

from collections.abc import Iterator
from contextlib import contextmanager


class Stage:
    """One stage under way, that nobody looks at."""

    def advance(self, amount: float = 1) -> None:
        """Count `amount` more units as done."""

    def say(self, text: str) -> None:
        """Show a figure beside the bar, such as a loss."""


class Progress:
    """Silent; cli/ has one that draws bars."""

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        """Begin a stage of `total` units (None where nobody knows)."""
        yield Stage()

    def note(self, text: str) -> None:
        """Tell the user something that is not data."""


SILENT = Progress()
