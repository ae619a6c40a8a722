"""The page that explore serves: requests that no browser sends."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from ctxembed.web.questions import QUESTIONS
from tests.conftest import ROOT
from tests.fuzz.damage import ODD
from tests.fuzz.tries import Result
from tests.fuzz.workspace import Tries, Workspace

TEXTS = ["money in the [bank]", "bank", "", "[", "x" * 5000, "[bank] " * 300, "\x1b[2J", "\ud800",
    "learned", "general", "taste=bank", "\0", "<script>", "the [bank] of the river"]  # fmt: skip
USUAL: dict[str, list[Any]] = {  # what a page may ask with
    "sentence": TEXTS, "word": TEXTS, "vectors": [*TEXTS, "king-queen-cricket", "m", "/dev/zero"],
    "sentences": [TEXTS[:2], TEXTS[2:5], []], "words": [TEXTS[:2], TEXTS[-3:]],
    "attention": ["learned", "general", "static", "bag", "task", "given", "random", "../m"],
    "general": ["textbook", "scaled:0.5", "cosine:9999", "scaled:.", "scaled:1.1.1", "x"],
    "head": ["0", "1", "99", "x"], "encoding": ["none", "sinusoidal", "hex"],
    "gone": [[0], [1, 2], [-1], [0] * 500, "x"], "target": [0, 1, 999, -1, "0", True],
    "narrow": [True, False, 1], "over": TEXTS,
    "axes": [{}, {"a": ["bank"]}, {"a": ["bank", "zz"], "b": ["river"]}, {"": [""]}, {"a": TEXTS}],
    "weights": [{}, {"0": 1}, {"0": 0.5, "1": 0.5}, {"9999": 1}, {"0": 1e-320}, "x", {"-1": 1}],
}  # fmt: skip
QUESTION_NAMES = [*QUESTIONS, "map", "legend", "place", "", "__class__", "../../etc/passwd"]


def served(workspace: Workspace) -> Tries:
    """Ask a page that is served for anything; it must go on, and answer a person."""
    workspace.fresh()
    server, port, token = start(workspace.folder)
    try:
        while True:
            sent = request(workspace.rng, port, token)
            begun = time.monotonic()
            got = send(port, sent)
            took = time.monotonic() - begun
            errors = (workspace.folder / ".explore").read_bytes()
            code = int(got.split()[1]) if got.startswith(b"HTTP/") else 0
            fault = ""
            if b"Traceback" in errors or code == 500:
                fault = "traceback"
            elif server.poll() is not None:
                fault = "lost"
            elif took > 20:
                fault = "hang"
            yield f"page: {sent[:300]!r}", fault, Result(int(code != 200), got, errors, took, 0)
    finally:
        stop(server)


def start(folder: Path, code: str = "") -> tuple["subprocess.Popen[bytes]", int, str]:
    """Serve the model m after running code in the server; return the process, port and token."""
    code += "\nfrom ctxembed.cli.main import run; run()"
    line = [sys.executable, "-c", code, *["explore", "--no-browser", "--port", "0", "-m", "m"]]
    with (folder / ".explore").open("wb") as log:
        server = subprocess.Popen(
            line, cwd=folder, stdout=subprocess.PIPE, stderr=log,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert server.stdout is not None
    address = server.stdout.readline().decode().strip()
    return server, int(address.split(":")[2].split("/")[0]), address.split("/")[3]


def stop(server: "subprocess.Popen[bytes]") -> None:
    """End a server as Ctrl-C does."""
    server.send_signal(signal.SIGINT)
    server.wait(20)
    assert server.stdout is not None
    server.stdout.close()


def overwritten(workspace: Workspace) -> Tries:
    """Write into the files of a served model, in part while it answers.

    Every answer is that of the model before, or status 409; the last one is 409.
    """
    folder, rng = workspace.folder, workspace.rng
    expected: dict[str, bytes] = {}
    while True:
        model = workspace.fresh()
        mapped = bool(expected) and rng.random() < 0.5  # as large files are
        code = "import ctxembed.web.server as s; s.MAX_COPIED = 0" if mapped else ""
        server, port, token = start(folder, code)
        try:
            if not expected:
                expected = {name: ask(port, token, name) for name in ASKED}
            name = rng.choice(list(ASKED))
            got = [ask(port, token, name)]  # some files have been read, others not
            change, files = rng.choice(CHANGES), [f for f in model.rglob("*") if f.is_file()]
            files = rng.sample(files, rng.choice((1, len(files))))
            pairs = [(workspace.models[1] / file.relative_to(model), file) for file in files]
            writer = threading.Thread(target=lambda c=change, p=pairs: [c(*pair) for pair in p])
            writer.start()
            while writer.is_alive() and not mapped:
                got.append(ask(port, token, name))
            writer.join()
            got.append(ask(port, token, name))
            errors = (folder / ".explore").read_bytes()
            refused = [b" 409 " in reply[:20] for reply in got]
            fault = ""
            if server.poll() is not None or not all(got):
                fault = "lost"
            elif b"Traceback" in errors:
                fault = "traceback"
            elif not refused[-1] or not all(
                no or reply == expected[name] for no, reply in zip(refused, got, strict=True)
            ):
                fault = "changed answer"
            what = f"overwritten: {change.__name__} {len(files)} files, {mapped=}: {name} {refused}"
            yield what, fault, Result(1, got[-1], errors, 0, 0)
        finally:
            stop(server)


def ask(port: int, token: str, name: str) -> bytes:
    """Return the reply to a question, without the date."""
    body = json.dumps({"question": name, "parameters": ASKED[name]}).encode()
    head = (
        f"POST /{token}/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    while b" 202 " in (got := send(port, head.encode() + body))[:20]:
        time.sleep(0.05)
    return re.sub(rb"\r\nDate: [^\r]*", b"", got, count=1)


def cut(_: Path, file: Path) -> None:
    """Shorten a file to nothing."""
    os.truncate(file, 0)


def grow(_: Path, file: Path) -> None:
    """Add a byte to a file."""
    with file.open("ab") as end:
        end.write(b" ")


CHANGES = (shutil.copyfile, shutil.copy2, cut, grow)  # all keep the inode
ASKED: dict[str, dict[str, Any]] = {
    "explain": {"sentence": "money in the [bank]"},
    "compare": {"sentences": ["the [bank] of the river"], "axes": {"a": ["river"]}},
    "similarity": {"words": ["bank", "river"], "attention": "general"},
    "map": {"word": "bank", "attention": "general"},
}


def request(rng: random.Random, port: int, token: str) -> bytes:
    """Make a request up; most know the address, and some what it answers."""
    question = rng.choice(QUESTION_NAMES)
    keys = {*getattr(QUESTIONS.get(question), "takes", ("word", "attention", "sentence"))}
    keys = {*keys, *rng.sample(sorted(USUAL), 2)} if rng.random() < 0.2 else keys
    sane = rng.random() < 0.5
    parameters = {
        key: rng.choice(USUAL[key][: 2 if sane else None]) for key in sorted(keys & {*USUAL})
    }
    if parameters and rng.random() < 0.3:
        parameters[rng.choice(sorted(parameters))] = rng.choice(ODD)
    body = json.dumps({"question": question, "parameters": parameters}).encode()
    sent = {
        "method": "POST", "path": f"/{token}/ask", "host": "127.0.0.1", "type": "application/json",
        "length": len(body), "more": "", "end": "\r\n\r\n",
    }  # fmt: skip
    odd: dict[str, list[Any]] = {
        "method": ["GET", "HEAD", "PUT", "", "OPTIONS", "P\0ST"],
        "path": [f"/{token}/", "/", f"/{token}/../", f"/{token}/stop", "/%00", "x" * 70_000],
        "host": ["evil.example", "", "\x1b[2J"],
        "type": ["text/plain", "", "application/json; charset=utf-16"],
        "length": [0, -1, 10**30, "9" * 5000, "²", "x", len(body) - 1, len(body) + 1],
        "more": ["\r\nOrigin: http://evil.example", f"\r\nX: {'y' * 70_000}", "\r\nX: 1" * 200,
            "\r\nTransfer-Encoding: chunked", "\r\nSec-Fetch-Site: cross-site", "\r\n:"],
        "end": ["\r\n", "", "\n\n"],
    }  # fmt: skip
    if rng.random() < 0.4:
        name = rng.choice(list(odd))
        sent[name] = rng.choice(odd[name])
    elif rng.random() < 0.3:
        body = rng.choice((b"[" * 60_000, b"{}", b"", b"\xff", body[:-1], b"0", b"9" * 6000))
        sent["length"] = len(body)
    head = (
        "{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: {type}\r\n"
        "Content-Length: {length}{more}{end}"
    )
    return head.format(**sent, port=port).encode() + body


def send(port: int, data: bytes) -> bytes:
    """Send a request and take what comes."""
    got = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while more := connection.recv(1 << 16):
                got += more
    except OSError:  # closed before all was sent: it was too much
        pass
    return got
