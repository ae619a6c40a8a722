"""Long questions, asked beside the others: in a process each, with progress and a way to stop."""

import multiprocessing
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from ctxembed.ask.word_map import WordMap, word_map
from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress, Stage
from ctxembed.store.model import Model
from ctxembed.text.processes import follow

AT_ONCE = 2  # jobs; others wait for their turn
KEPT = 16  # maps that are remembered
PATIENCE = 20.0  # seconds after which a job nobody asks about is stopped
Asked = tuple[str, str]  # word, attention


@dataclass
class Job:
    """A question under way in a process of its own."""

    process: Any
    pipe: Connection
    stage: str = "starting"
    share: float | None = None  # of the stage that is done
    asked_at: float = field(default_factory=time.monotonic)

    def stop(self) -> None:
        """End it at once."""
        self.process.terminate()
        self.process.join(2)
        self.pipe.close()


class Jobs:
    """The maps of a model's words: found once, shared by all who ask."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.lock = threading.Lock()
        self.running: dict[Asked, Job] = {}
        self.done: OrderedDict[Asked, WordMap | CtxembedError] = OrderedDict()

    def ask(self, word: str, attention: str) -> WordMap | dict[str, Any]:
        """Return the map of a word, or how far it is."""
        asked = (self.model.vocab[self.model.row(word)], attention)
        with self.lock:
            self._tidy()
            if asked in self.done:
                self.done.move_to_end(asked)
                made = self.done[asked]
                if isinstance(made, CtxembedError):
                    raise self.done.pop(asked)  # type: ignore[misc]
                return made
            job = self.running.get(asked)
            if job is None:
                if len(self.running) >= AT_ONCE:
                    return {"stage": "waiting for another map", "progress": None}
                job = self.running[asked] = self._start(*asked)
            job.asked_at = time.monotonic()
            return {"stage": job.stage, "progress": job.share}

    def stop(self, word: str, attention: str) -> None:
        """Stop looking for a map."""
        with self.lock:
            job = self.running.pop((word, attention), None)
            if job is not None:
                job.stop()

    def close(self) -> None:
        """Stop all."""
        with self.lock:
            for job in self.running.values():
                job.stop()
            self.running.clear()

    def _start(self, word: str, attention: str) -> Job:
        spawn = multiprocessing.get_context("spawn")  # a fork would copy locks of other threads
        ours, theirs = spawn.Pipe(duplex=False)
        process = spawn.Process(
            target=_find, args=(str(self.model.path), word, attention, theirs, os.getpid())
        )
        process.start()
        theirs.close()
        return Job(process, ours)

    def _tidy(self) -> None:
        """Take what the processes have said; stop those that nobody waits for any more."""
        now = time.monotonic()
        for asked, job in list(self.running.items()):
            said: Any = None
            try:
                while job.pipe.poll():
                    said = job.pipe.recv()
                    if isinstance(said, tuple):
                        job.stage, job.share = said
                    else:
                        break
            except (EOFError, OSError):
                said = CtxembedError("the search for senses ended early; ask again")
            if isinstance(said, WordMap | CtxembedError):
                self.done[asked] = said
                while len(self.done) > KEPT:
                    self.done.popitem(last=False)
            if isinstance(said, WordMap | CtxembedError) or now - job.asked_at > PATIENCE:
                del self.running[asked]
                job.stop()


class _Told(Progress):
    """Progress that goes through a pipe, not more often than a person can see."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        self.pipe.send((name, None))
        yield _Counted(self.pipe.send, name, total)
        self.pipe.send(("comparing", None))


class _Counted(Stage):
    def __init__(self, send: Callable[[Any], None], name: str, total: float | None) -> None:
        self.send, self.name, self.total = send, name, total
        self.count, self.said = 0.0, 0.0

    def advance(self, amount: float = 1) -> None:
        self.count += amount
        if self.total and time.monotonic() - self.said > 0.2:
            self.said = time.monotonic()
            self.send((self.name, min(1.0, self.count / self.total)))


def _find(path: str, word: str, attention: str, pipe: Connection, parent: int) -> None:
    """Find the map of a word, in a process of its own."""
    follow(parent)
    os.nice(5)  # a person is typing beside it
    try:
        made: Any = word_map(Model.open(path), word, attention=attention, progress=_Told(pipe))
    except CtxembedError as error:
        made = error
    pipe.send(made)
    pipe.close()
