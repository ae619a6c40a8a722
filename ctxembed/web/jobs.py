"""Long questions, asked beside the others: in a process each, with progress and a way to stop."""

import os
import pickle
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from subprocess import DEVNULL, PIPE
from typing import Any

from ctxembed.errors import CtxembedError
from ctxembed.model.model import Model
from ctxembed.progress import Progress, Stage
from ctxembed.text.processes import follow
from ctxembed.word_senses.sense_map import WordMap, word_map

AT_ONCE = 2  # jobs; others wait for their turn
KEPT = 16  # maps that are remembered
PATIENCE = 20.0  # seconds after which a job nobody asks about is stopped
Asked = tuple[str, str]  # word, attention


@dataclass
class Job:
    """A question under way in a process of its own."""

    process: "subprocess.Popen[bytes]"
    stage: str = "starting"
    share: float | None = None  # of the stage that is done
    made: WordMap | CtxembedError | None = None
    asked_at: float = field(default_factory=time.monotonic)

    def listen(self) -> None:
        """Take what the process says, until it has no more to say."""
        assert self.process.stdout is not None
        with self.process.stdout as said, suppress(EOFError, OSError, ValueError):
            while self.made is None:
                told = pickle.load(said)  # from a process that we started ourselves
                if isinstance(told, tuple):
                    self.stage, self.share = told
                else:
                    self.made = told
        if self.made is None:
            self.made = CtxembedError("the search for senses ended early; ask again")

    def stop(self) -> None:
        """End it at once."""
        self.process.terminate()
        self.process.wait(5)


class Jobs:
    """The maps of a model's words: found once, shared by all who ask."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.lock = threading.Lock()
        self.running: dict[Asked, Job] = {}
        self.done: OrderedDict[Asked, WordMap | CtxembedError] = OrderedDict()

    def ask(self, word: str, attention: str) -> WordMap | dict[str, Any]:
        """Return the map of a word, or how far it is."""
        asked = self._asked(word, attention)
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
            job = self.running.pop(self._asked(word, attention), None)
            if job is not None:
                job.stop()

    def _asked(self, word: str, attention: str) -> Asked:
        return self.model.vocabulary.words[self.model.vocabulary.row(word)], attention

    def close(self) -> None:
        """Stop all."""
        with self.lock:
            for job in self.running.values():
                job.stop()
            self.running.clear()

    def _start(self, word: str, attention: str) -> Job:
        code = "from ctxembed.web.jobs import find; find()"
        line = [sys.executable, "-c", code, str(self.model.path), word, attention]
        made = Job(subprocess.Popen([*line, str(os.getpid())], stdout=PIPE, stderr=DEVNULL))
        threading.Thread(target=made.listen, daemon=True).start()
        return made

    def _tidy(self) -> None:
        """Keep what was found; stop what nobody waits for any more."""
        now = time.monotonic()
        for asked, job in list(self.running.items()):
            if job.made is not None:
                self.done[asked] = job.made
                while len(self.done) > KEPT:
                    self.done.popitem(last=False)
            if job.made is not None or now - job.asked_at > PATIENCE:
                del self.running[asked]
                job.stop()


Say = Callable[[Any], None]


class _Told(Progress):
    """Progress for whoever started this process."""

    def __init__(self, say: Say) -> None:
        self.say = say

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        self.say((name, None))
        yield _Counted(self.say, name, total)
        self.say(("comparing", None))


class _Counted(Stage):
    def __init__(self, say: Say, name: str, total: float | None) -> None:
        self.say_, self.name, self.total = say, name, total
        self.count, self.said = 0.0, 0.0

    def advance(self, amount: float = 1) -> None:
        self.count += amount
        if self.total and time.monotonic() - self.said > 0.2:  # as often as a person sees
            self.said = time.monotonic()
            self.say_((self.name, min(1.0, self.count / self.total)))


def find() -> None:
    """Find the map of a word, in a process of its own; say on stdout how far it is."""
    path, word, attention, parent = sys.argv[1:]
    follow(int(parent))
    os.nice(5)  # a person is typing beside it
    output, sys.stdout = sys.stdout.buffer, sys.stderr

    def say(told: Any) -> None:
        pickle.dump(told, output)
        output.flush()

    try:
        say(word_map(Model.open(path), word, attention=attention, progress=_Told(say)))
    except CtxembedError as error:
        say(error)
