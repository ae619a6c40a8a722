"""One try of the campaign: a command in a process of its own, and what was wrong with its end."""

import math
import os
import pty
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HANG = 20.0  # seconds of the processor
STUCK = 90.0  # seconds by the clock: waiting for something that does not come
MEMORY = 1 << 20  # KiB
CODES = (0, 1, 2, 3, 4, 5)
RAW = set(range(32)) - set(b"\n\r\t") | {127}  # what no terminal may be sent


@dataclass(frozen=True)
class End:
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
    stdin: bytes = b"",
    closed: Sequence[int] = (),
    limits: Sequence[tuple[int, int]] = (),
    terminal: bool = False,
    patience: float = STUCK,
) -> End:
    """Run ctxembed in a fork of this process, which has imported what is slow already."""
    names = [cwd / f".{name}" for name in ("in", "out", "err")]
    names[0].write_bytes(stdin)
    begun = time.monotonic()
    if terminal:
        process, master = pty.fork()
    else:
        process, master = os.fork(), -1
    if process == 0:
        _child(arguments, cwd, names, closed, limits, terminal)
    screen, code, used, stuck = b"", None, None, False
    while code is None:
        if master >= 0:
            screen += _read(master)
        else:
            time.sleep(0.002)
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
        out, err = screen, b""
    else:
        out, err = names[1].read_bytes(), names[2].read_bytes()
    return End(code, out, err, seconds, used.ru_maxrss)


def _waits(process: int) -> bool:
    """Tell whether a process waits for something; one that only wants the processor does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state not in "RD"


def _read(master: int) -> bytes:
    import select

    if select.select([master], [], [], 0.01)[0]:
        try:
            return os.read(master, 1 << 16)
        except OSError:
            return b""
    return b""


def _child(
    arguments: Sequence[str | bytes],
    cwd: Path,
    names: Sequence[Path],
    closed: Sequence[int],
    limits: Sequence[tuple[int, int]],
    terminal: bool,
) -> None:
    code = 120
    try:
        os.chdir(cwd)
        if not terminal:
            flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for number, name in enumerate(names):
                file = os.open(name, flags[number > 0], 0o600)
                os.dup2(file, number)
                os.close(file)
        for number in closed:
            os.close(number)
        sys.stdin, sys.stdout, sys.stderr = (
            None if number in closed else open(number, mode, closefd=False)
            for number, mode in enumerate("rww")
        )
        resource.setrlimit(resource.RLIMIT_CPU, (int(6 * HANG), int(6 * HANG)))  # it ends somehow
        for kind, size in limits:
            resource.setrlimit(kind, (size, size))
        sys.argv = ["ctxembed", *map(os.fsdecode, arguments)]
        from ctxembed.cli.main import run as main

        main()
    except BaseException:
        import traceback

        if sys.stderr is not None:
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(code)


def judge(end: End, sound: Callable[[End], bool] | None = None, terminal: bool = False) -> str:
    """Name what is wrong with an end; nothing is the rule."""
    said = end.err + end.out if terminal else end.err
    if b"Traceback (most recent call last)" in said or end.code == 120:
        return "traceback"
    if end.seconds > HANG:
        return "hang"
    if end.code not in CODES:
        return "signal" if end.code < 0 else "wrong code"
    if b"Warning" in said:
        return "warning"
    if end.memory > MEMORY:
        return "memory"
    if terminal and RAW & set(end.out):
        return "raw escape"
    if sound is not None and end.code == 0 and not sound(end):
        return "changed answer"
    if end.code and not said.strip() and end.code != 1:
        return "no message"
    return ""
