"""Where memory is limited (ulimit -v), libraries are loaded only if they fit.

OpenBLAS, within scipy, tries for ever to get the memory that it wants while it is loaded.
"""

import sys
from typing import Any

# MiB that must be free: what each takes by itself, and a good part more.
NEEDS = {"scipy": 200, "sklearn": 300, "numba": 350, "gensim": 300}


class Room:
    """Among those who find modules: finds nothing; refuses to look for what would not fit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit  # bytes

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise MemoryError for a library that needs more than is left."""
        if name in NEEDS and NEEDS[name] << 20 > self.limit - _used():
            raise MemoryError


def _used() -> int:
    """Return the bytes of this process's address space that are taken; 0 where nobody tells."""
    try:
        import resource

        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ImportError):
        return 0


def limit() -> int | None:
    """Return how many bytes this process may have; None where nothing limits it."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most


def guard() -> None:
    """Look before libraries are loaded, if there is a limit at all."""
    most = limit()
    if most is not None:
        sys.meta_path.insert(0, Room(most))
