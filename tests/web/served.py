"""ctxembed explore in a process of its own, as a person starts it."""

import base64
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
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

    def page_data(self) -> Any:
        """Read what the page begins with."""
        page = self.send("GET", f"/{self.token}/")[2].decode()
        data = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page, re.S)
        assert data
        return json.loads(gzip.decompress(base64.b64decode(data[1])))

    def ask(self, question: str, **parameters: Any) -> tuple[int, Any]:
        """Ask a question as the page does."""
        body = json.dumps({"question": question, "parameters": parameters}).encode()
        path, kind = f"/{self.token}/ask", "application/json"
        status, _, answered = self.send("POST", path, body, Content_Type=kind)
        return status, json.loads(answered)


def as_records(answered: dict[str, Any]) -> list[dict[str, Any]]:
    """Read the rows of an answer by their columns."""
    names = [column["name"] for column in answered["columns"]]
    return [dict(zip(names, row, strict=True)) for row in answered["rows"]]


class Held:
    """Makes every search for senses wait for us, in the process that searches.

    Python reads a sitecustomize from its path before anything else; nothing of the product knows.
    """

    WAIT = """
import sys
if any("jobs import compute_map" in word for word in sys.orig_argv):
    import os, time
    from pathlib import Path
    import ctxembed.web.jobs as jobs
    real, here = jobs.word_map, Path(__file__).parent
    def wait(*arguments, progress, **more):
        with progress.stage("occurrences", 4, "") as stage:
            stage.advance()
            (here / f"{os.getpid()}.pid").touch()
            while not (here / "go").exists():
                time.sleep(0.05)
        return real(*arguments, progress=progress, **more)
    jobs.word_map = wait
"""

    def __init__(self, folder: Path, code: str = WAIT) -> None:
        self.folder = folder
        (folder / "sitecustomize.py").write_text(code)

    def begun(self) -> list[int]:
        """Name the processes that have begun to search."""
        return sorted(int(file.stem) for file in self.folder.glob("*.pid"))

    def wait_for(self, number: int = 1) -> list[int]:
        """Wait until so many have begun."""
        start = time.monotonic()
        while len(self.begun()) < number:
            assert time.monotonic() - start < 60
            time.sleep(0.05)
        return self.begun()

    def release(self) -> None:
        (self.folder / "go").touch()


def is_running(process: int) -> bool:
    """Tell whether a process is there; who started it has seen its end, so none is a zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def explore(model: Path, *options: str, held: Held | None = None) -> Iterator[Served]:
    """Start it on a free port; end it as Ctrl-C does."""
    paths = [str(ROOT)] if held is None else [str(held.folder), str(ROOT)]
    line = [sys.executable, "-m", "ctxembed", "explore", "--no-browser", "--port", "0", "-m"]
    process = subprocess.Popen(
        [*line, str(model), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    try:
        assert process.stdout is not None
        yield Served(process, process.stdout.readline().strip())
    finally:
        # Windows can send Ctrl-C only to a whole console.
        process.terminate() if os.name == "nt" else process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130 or os.name == "nt", errors
    assert "Traceback" not in errors, errors
