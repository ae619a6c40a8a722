"""What can go wrong, each kind with the exit code the shell sees."""


class CtxembedError(Exception):
    """A failure with a message for the user: what, which, and what to do next."""

    exit_code = 1


class UsageError(CtxembedError):
    """The request itself makes no sense."""

    exit_code = 2


class ModelError(CtxembedError):
    """A model directory that is missing, damaged or too new."""

    exit_code = 3


class Replaced(ModelError):
    """Another model took the place of the one that was opened; asking again may help."""


class UnknownWordError(CtxembedError):
    """A word that is not in the vocabulary."""

    exit_code = 4


class CorpusError(CtxembedError):
    """A corpus that cannot be read or used."""

    exit_code = 5


def read_failure(name: object, error: OSError) -> str:
    """Say in one line why a file could not be opened.

    >>> read_failure("a.txt", FileNotFoundError(2, "No such file or directory"))
    'a.txt: no such file or directory'
    """
    reason = error.strerror or str(error) or type(error).__name__
    return f"{name}: {reason[:1].lower()}{reason[1:]}"
