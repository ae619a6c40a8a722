"""ctxembed explore in a process of its own, as a person starts it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.conftest import ROOT


class Served:
    """A server under way, and how to ask it."""

    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        self.process, self.address = process, address
        parts = urlsplit(address)
        self.host, self.port = str(parts.hostname), int(parts.port or 0)
        self.token = parts.path.strip("/")

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request as it stands."""
        connection = HTTPConnection(self.host, self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(connection):
            connection.request(method, path, body, named)
            reply = connection.getresponse()
            return reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read()

    def ask(self, question: str, **asked: Any) -> tuple[int, Any]:
        """Ask a question as the page does."""
        body = json.dumps({"question": question, "asked": asked}).encode()
        path, kind = f"/{self.token}/ask", "application/json"
        status, _, answered = self.send("POST", path, body, Content_Type=kind)
        return status, json.loads(answered)


@contextmanager
def explore(model: Path, *options: str) -> Iterator[Served]:
    """Start it on a free port; end it as Ctrl-C does."""
    line = [sys.executable, "-m", "ctxembed", "explore", "--no-browser", "--port", "0", "-m"]
    process = subprocess.Popen(
        [*line, str(model), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        yield Served(process, process.stdout.readline().strip())
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130 and "Traceback" not in errors, errors
