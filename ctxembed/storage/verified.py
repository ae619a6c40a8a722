"""Which large files were found to be as listed: by path, size and time of their last change."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from zlib import crc32

MOST = 1000  # files that are remembered; the oldest are forgotten

Seen = tuple[str, os.stat_result, str]  # path, what the system says of it, its checksum


def is_known(path: str, found: os.stat_result, checksum: str) -> bool:
    """Tell whether a file had this checksum when it was last read whole, and did not change."""
    key, mark = _entry(path, found, checksum)
    return _read().get(key) == mark


def remember(seen: Iterable[Seen]) -> None:
    """Note that files are as listed; where nothing can be written, they are read again."""
    known = _read()
    for key, mark in (_entry(*file) for file in seen):
        known.pop(key, None)  # to be the youngest
        known[key] = mark
    place = _place()
    work = place.with_name(f"{place.name}.tmp-{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        work.write_text(json.dumps(dict(list(known.items())[-MOST:])), encoding="utf-8")
        work.replace(place)


def _place() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "ctxembed" / "verified.json"


def _read() -> dict[str, str]:
    try:
        known = json.loads(_place().read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _entry(path: str, found: os.stat_result, checksum: str) -> tuple[str, str]:
    """Name a file without telling its path, and say what will change with it."""
    whole = os.path.realpath(path).encode("utf-8", "surrogatepass")
    mark = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {checksum}"
    return f"{crc32(whole):08x}{crc32(whole[::-1]):08x}", mark
