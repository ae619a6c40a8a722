"""Compute sense maps in separate processes, with progress and cancellation.

A process inherits the open files of the model that the page shows: it may be replaced meanwhile.
"""

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

from ctxembed.errors import CtxembedError, read_failure
from ctxembed.model.model import Model
from ctxembed.progress import Progress, Stage
from ctxembed.storage.folder import Folder
from ctxembed.text.processes import end_with_parent
from ctxembed.word_senses.sense_map import WordMap, word_map

MAX_RUNNING = 2  # jobs at the same time; others wait
MAX_CACHED = 16  # finished maps
ABANDONED_AFTER = 20.0  # seconds without a request, then a job is stopped
MapKey = tuple[str, str]  # word, attention


@dataclass
class Job:
    """A sense map that is computed in its own process."""

    process: "subprocess.Popen[bytes]"
    stage: str = "starting"
    fraction: float | None = None  # of the stage that is done
    result: WordMap | CtxembedError | None = None
    requested_at: float = field(default_factory=time.monotonic)

    def listen(self) -> None:
        """Read progress and the result from the process until it ends."""
        assert self.process.stdout is not None
        with self.process.stdout as output, suppress(EOFError, OSError, ValueError):
            while self.result is None:
                message = pickle.load(output)  # safe: our own child process wrote it
                if isinstance(message, tuple):
                    self.stage, self.fraction = message
                else:
                    self.result = message
        if self.result is None:
            self.result = CtxembedError("The search for senses stopped early. Try again.")

    def stop(self) -> None:
        """Terminate the process."""
        self.process.terminate()
        self.process.wait(5)


class Jobs:
    """Cache of sense maps by word and attention; each is computed once."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.lock = threading.Lock()
        self.running: dict[MapKey, Job] = {}
        self.done: dict[MapKey, WordMap | CtxembedError] = {}

    def ask(self, word: str, attention: str) -> WordMap | dict[str, Any]:
        """Return the map of a word, or its progress."""
        key = self._key(word, attention)
        with self.lock:
            self._tidy()
            result = self.done.pop(key, None)
            if isinstance(result, CtxembedError):
                raise result
            if result is not None:
                self.done[key] = result  # the most recent last
                return result
            if key not in self.running:
                if len(self.running) >= MAX_RUNNING:
                    return {"stage": "waiting for another map", "progress": None}
                self.running[key] = self._start_job(*key)
            job = self.running[key]
            job.requested_at = time.monotonic()
            return {"stage": job.stage, "progress": job.fraction}

    def stop(self, word: str, attention: str) -> None:
        """Stop the computation of a map."""
        with self.lock:
            if job := self.running.pop(self._key(word, attention), None):
                job.stop()

    def _key(self, word: str, attention: str) -> MapKey:
        return self.model.vocabulary.words[self.model.vocabulary.row(word)], attention

    def close(self) -> None:
        """Stop all jobs."""
        with self.lock:
            while self.running:
                self.running.popitem()[1].stop()

    def _start_job(self, word: str, attention: str) -> Job:
        code = "from ctxembed.web.jobs import compute_map; compute_map()"
        model = self.model
        fds = [handle for folder in model.folders() for handle in folder.handles()]
        line = [sys.executable, "-c", code]
        try:
            process = subprocess.Popen(line, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, pass_fds=fds)
        except OSError as error:  # too many open files, or no memory
            raise CtxembedError(read_failure("starting a process for the map", error)) from None
        attentions = {
            name: part and (part.folder.to_inherit(), part.name)
            for name, part in model.opened_attentions.items()
        }
        opened = (model.path, model.meta, model.files.to_inherit(), attentions)
        assert process.stdin is not None
        with suppress(OSError), process.stdin as stdin:  # closed: it has ended already
            pickle.dump((os.getpid(), opened, word, attention), stdin)
        job = Job(process)
        threading.Thread(target=job.listen, daemon=True).start()
        return job

    def _tidy(self) -> None:
        """Cache finished maps; stop jobs that are no longer requested."""
        now = time.monotonic()
        for key, job in list(self.running.items()):
            if job.result is not None:
                self.done[key] = job.result
            if job.result is not None or now - job.requested_at > ABANDONED_AFTER:
                self.running.pop(key).stop()
        for key in list(self.done)[:-MAX_CACHED]:
            del self.done[key]


class _PipeProgress(Progress, Stage):
    """Progress that is sent to the parent process."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self.send = send

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        self.name, self.total, self.count, self.sent_at = name, total, 0.0, 0.0
        self.send((name, None))
        yield self
        self.send(("comparing", None))

    def advance(self, amount: float = 1) -> None:
        self.count += amount
        if self.total and time.monotonic() - self.sent_at > 0.2:  # five updates a second are enough
            self.sent_at = time.monotonic()
            self.send((self.name, min(1.0, self.count / self.total)))


def _inherit(path: Path, meta: dict[str, Any], files: Any, attentions: dict[str, Any]) -> Model:
    """Return the model of the parent process, whose open files this process inherited."""
    parts = {
        name: state and Folder.inherit(state[0]) / state[1] for name, state in attentions.items()
    }
    return Model(path, meta, Folder.inherit(files), parts)


def compute_map() -> None:
    """Compute the map of a word in this child process; write progress and result to stdout."""
    parent, opened, word, attention = pickle.load(sys.stdin.buffer)  # safe: our parent wrote it
    end_with_parent(parent)
    if hasattr(os, "nice"):  # not on Windows
        os.nice(5)  # keep the page responsive
    output, sys.stdout = sys.stdout.buffer, sys.stderr

    def send(message: Any) -> None:
        pickle.dump(message, output)
        output.flush()

    try:
        model = _inherit(*opened)
        send(word_map(model, word, attention=attention, progress=_PipeProgress(send)))
    except CtxembedError as error:
        send(error)
