"""One try of the campaign: run a command in its own process and classify its end."""

import fcntl
import math
import os
import pty
import re
import resource
import select
import signal
import struct
import sys
import termios
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

MAX_CPU_SECONDS = 20.0  # seconds of the processor
MAX_WAIT_SECONDS = 90.0  # seconds by the clock: waiting for something that does not come
MAX_MEMORY = 1 << 20  # KiB
CODES = (0, 1, 2, 3, 4, 5)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # the only escapes that we send, and never where NO_COLOR is
# What no terminal may be sent; a lone \r goes back to the beginning of a line, as bars do.
RAW = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int  # below 0: killed by a signal
    out: bytes
    err: bytes
    seconds: float  # of the processor; infinite for one that was stuck
    memory: int  # KiB


def run(
    arguments: Sequence[str | bytes],
    cwd: Path,
    *,
    stdin: bytes | str = b"",
    stdout: str = "",
    closed: Sequence[int] = (),
    limits: Sequence[tuple[int, int]] = (),
    environment: Mapping[str, str | None] | None = None,
    terminal: tuple[int, int] | None = None,
    fresh: bool = False,
    patience: float = MAX_WAIT_SECONDS,
) -> Result:
    """Run ctxembed in a fork of this process, which has imported what is slow already.

    stdin: bytes, or the name of a file. terminal: its lines and columns. fresh: in a new Python.
    """
    names = [cwd / f".{name}" for name in ("in", "out", "err")]
    if isinstance(stdin, bytes):
        names[0].write_bytes(stdin)
    streams = [stdin if isinstance(stdin, str) else names[0], stdout or names[1], names[2]]
    begun = time.monotonic()
    process, master = (os.fork(), -1) if terminal is None else pty.fork()
    if process == 0:
        try:
            os.chdir(cwd)
            if terminal is None:
                _redirect(streams, closed)
            else:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", *terminal, 0, 0))
                _redirect([None, None, None], closed)
            for name, value in (environment or {}).items():
                os.environ.pop(name, None)
                os.environ |= {name: value} if value is not None else {}
            _go(arguments, limits, fresh)
        except BaseException:
            if sys.stderr is not None:
                traceback.print_exc()
                sys.stderr.flush()
        finally:
            os._exit(120)
    screen, code, used, stuck = b"", None, None, False
    while code is None:
        if master >= 0:
            screen += _read(master)
        else:
            time.sleep(0.001)
        done, status, used = os.wait4(process, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
        elif time.monotonic() - begun > patience and _waits(process):
            os.kill(process, signal.SIGKILL)
            _, status, used = os.wait4(process, 0)
            code, stuck = -signal.SIGKILL, True
    assert used is not None
    seconds = math.inf if stuck else used.ru_utime + used.ru_stime
    if master >= 0:
        while more := _read(master):
            screen += more
        os.close(master)
        return Result(code, screen, b"", seconds, used.ru_maxrss)
    out = b"" if stdout else names[1].read_bytes()
    return Result(code, out, names[2].read_bytes(), seconds, used.ru_maxrss)


def _redirect(names: Sequence[Path | str | None], closed: Sequence[int]) -> None:
    """Give this process its standard streams; those that are closed are None, as in Python."""
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number, name in enumerate(names):
        if name is not None:
            file = os.open(name, flags[number > 0], 0o600)
            os.dup2(file, number)
            os.close(file)
    for number in closed:
        os.close(number)
    sys.stdin, sys.stdout, sys.stderr = (
        None if number in closed else open(number, mode, closefd=False)
        for number, mode in enumerate("rww")
    )


def _go(arguments: Sequence[str | bytes], limits: Sequence[tuple[int, int]], fresh: bool) -> None:
    """Become ctxembed."""
    resource.setrlimit(
        resource.RLIMIT_CPU, (int(6 * MAX_CPU_SECONDS), int(6 * MAX_CPU_SECONDS))
    )  # it ends somehow
    for kind, size in limits:
        resource.setrlimit(kind, (size, size))
    if fresh:
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "ctxembed", *arguments])
    sys.argv = ["ctxembed", *map(os.fsdecode, arguments)]
    from ctxembed.cli.main import run as main

    main()


def _waits(process: int) -> bool:
    """Tell whether a process waits for something; one that only wants the processor does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state not in "RD"


def _read(master: int) -> bytes:
    if select.select([master], [], [], 0.002)[0]:
        try:
            return os.read(master, 1 << 16)
        except OSError:
            return b""
    return b""


def find_fault(
    end: Result, sound: Callable[[Result], bool] | None = None, terminal: bool = False
) -> str:
    """Name what is wrong with an end; nothing is the rule."""
    messages = end.err + end.out if terminal else end.err
    if b"Traceback (most recent call last)" in messages or end.code == 120:
        return "traceback"
    if end.seconds > MAX_CPU_SECONDS:
        return "hang"
    if end.code not in CODES:
        return "signal" if end.code < 0 else "wrong code"
    if b"Warning" in messages:
        return "warning"
    if end.memory > MAX_MEMORY:
        return "memory"
    if terminal and RAW.search(COLOUR.sub("", end.out.decode("utf-8", "replace"))):
        return "raw escape"
    if sound is not None and end.code == 0 and not sound(end):
        return "changed answer"
    if end.code and not messages.strip() and end.code != 1:
        return "no message"
    return ""
