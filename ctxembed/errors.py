"""Errors, each kind with its exit code."""

from collections.abc import Callable


class CtxembedError(Exception):
    """An error with a message for the user: what happened, which input, what to do."""

    exit_code = 1


class UsageError(CtxembedError):
    """A wrong option or argument."""

    exit_code = 2


class ModelError(CtxembedError):
    """A model directory that is missing, damaged or too new."""

    exit_code = 3


class Replaced(ModelError):
    """A model that was replaced while it was read; a second attempt may work."""


class UnknownWordError(CtxembedError):
    """A word that is not in the vocabulary; its message may be a function, called when printed."""

    exit_code = 4

    def __init__(self, message: "str | Callable[[], str]" = "") -> None:
        super().__init__(message)

    def __str__(self) -> str:
        message = self.args[0]
        return str(message() if callable(message) else message)

    def __reduce__(self) -> "tuple[type[UnknownWordError], tuple[str]]":
        return type(self), (str(self),)


class CorpusError(CtxembedError):
    """A corpus that cannot be read or used."""

    exit_code = 5


def read_failure(name: object, error: OSError) -> str:
    """Return one line that says why a file could not be opened.

    >>> read_failure("a.txt", FileNotFoundError(2, "No such file or directory"))
    'a.txt: no such file or directory'
    """
    reason = error.strerror or str(error) or type(error).__name__
    return f"{name}: {reason[:1].lower()}{reason[1:]}"
