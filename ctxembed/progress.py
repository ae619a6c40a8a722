"""Progress of long work: the core reports it, the caller decides what to show."""

from collections.abc import Iterator
from contextlib import contextmanager


class Stage:
    """A stage of the work; shows nothing."""

    def advance(self, amount: float = 1) -> None:
        """Count `amount` more units as done."""

    def say(self, text: str) -> None:
        """Show a figure beside the bar, such as a loss."""


class Progress:
    """Progress that shows nothing; cli/ has one that draws bars."""

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        """Begin a stage of `total` units (None where unknown)."""
        yield Stage()

    def note(self, text: str) -> None:
        """Show a message that is not data."""


SILENT = Progress()
