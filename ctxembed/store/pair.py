"""Two files that belong together, as an array and its words: both of one writing, or neither."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ctxembed.errors import CtxembedError, ModelError, read_failure
from ctxembed.store.whole import left_behind, sync_folder


@contextmanager
def pair_written_whole(one: Path, other: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Give two files to write into; both take their places when both are whole.

    They wait in a folder beside them. Once it is called ready, whoever comes next moves them to
    their places, if this run is killed before it does; until then nobody takes half for whole.
    """
    for left in left_behind(one, "ctxembed"):
        shutil.rmtree(left, ignore_errors=True)
    _finish(one, other)  # what was ready when its run was killed
    work, ready = one.parent / f".{one.name}.ctxembed-{os.getpid()}", _ready(one)
    try:
        work.mkdir()
        try:
            with (work / one.name).open("xb") as first, (work / other.name).open("xb") as second:
                yield first, second
                for file in (first, second):
                    file.flush()
                    os.fsync(file.fileno())
            work.rename(ready)
            _finish(one, other)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        sync_folder(one.parent)
    except OSError as error:
        raise CtxembedError(read_failure(f"{one}: cannot be written", error)) from None


def check_whole(one: Path) -> None:
    """Refuse an array whose words may be those of an earlier writing."""
    if _ready(one).is_dir():
        raise ModelError(f"{one}: half written, by a run that was killed; export it again")


def _ready(one: Path) -> Path:
    return one.parent / f".{one.name}.ctxembed-ready"


def _finish(one: Path, other: Path) -> None:
    """Move files that are ready, if there are any, to their places."""
    for path in (one, other):
        waiting = _ready(one) / path.name
        if waiting.exists():
            waiting.replace(path)
    shutil.rmtree(_ready(one), ignore_errors=True)
