"""Run a command as a person does: in a terminal of 80 columns."""

import os
import select
import struct
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import ROOT


def environment(cwd: Path) -> dict[str, str]:
    """Return the environment of a person who has installed ctxembed; cwd/bin gets the program."""
    tools = cwd / "bin"
    tools.mkdir(exist_ok=True)
    tool = tools / "ctxembed"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ctxembed "$@"\n')
    tool.chmod(0o755)
    left = {k: v for k, v in os.environ.items() if k not in ("CTXEMBED_MODEL", "COLUMNS")}
    return left | {
        "PATH": f"{tools}:{left['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONUTF8": "1",
    }


def in_terminal(line: str, cwd: Path, *, columns: int = 80, timeout: float = 120) -> str:
    """Return what the screen shows, both streams, without colours."""
    import pty
    from fcntl import ioctl
    from termios import TIOCSWINSZ

    master, slave = pty.openpty()
    ioctl(slave, TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", line], stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=environment(cwd)
    )
    os.close(slave)
    screen, end = b"", time.monotonic() + timeout
    ready = select.poll()  # select itself takes no number above 1023
    ready.register(master, select.POLLIN)
    while time.monotonic() < end:
        if ready.poll(100):
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            screen += data
        elif process.poll() is not None:
            break
    process.wait(timeout=10)
    os.close(master)
    lines = screen.decode().replace("\r\n", "\n").split("\n")
    return "\n".join(line.split("\r")[-1] for line in lines)  # a bar is drawn over itself
