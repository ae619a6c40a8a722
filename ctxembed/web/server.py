"""The page, served on this machine: one address with a token, questions as JSON, nothing else."""

import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ctxembed.errors import CtxembedError, UsageError
from ctxembed.web.document import document
from ctxembed.web.gather import attention_names, told
from ctxembed.web.jobs import Jobs
from ctxembed.web.limits import check
from ctxembed.web.questions import Json, Models, answer, as_json
from ctxembed.word_senses.sense_map import WordMap

LARGEST = 64_000  # bytes of a request
WAIT = 5.0  # seconds that a connection may stay silent
LONGEST = 15.0  # seconds that a request may take to arrive
MOST = 64  # connections at once; others are told to come again
HOSTS = ("127.0.0.1", "localhost", "[::1]")


class Server(ThreadingHTTPServer):
    """Serves one model to one page."""

    request_queue_size = 256

    def __init__(self, models: Models, host: str, port: int, *, share: bool = False) -> None:
        self.models, self.share = models, share
        self.token = secrets.token_urlsafe(16)
        self.jobs = Jobs(models.model)
        self.turn = threading.Lock()  # one short question at a time: they are short
        self.open: dict[socket.socket, float] = {}  # connections, and since when
        self.guard = threading.Lock()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), Handler)
        models.model.widen()
        data = {
            "live": True,
            "attentions": attention_names(models),
            "maps": True,
            "model": told(models),
            "foot": [told(models)],
        }
        self.page = document(data, "ctxembed explore").encode()

    @property
    def address(self) -> str:
        """What to open in a browser."""
        host = str(self.server_address[0])
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, unless there are too many already."""
        with self.guard:
            full = len(self.open) >= MOST
            if not full:
                self.open[request] = time.monotonic()
        if full:
            with suppress(OSError):
                request.sendall(b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n")
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self.guard:
            self.open.pop(request, None)
        super().shutdown_request(request)

    def arrived(self, request: Any) -> None:
        """Note that a request is complete: from here on it is we who take the time."""
        with self.guard:
            self.open[request] = float("inf")

    def service_actions(self) -> None:
        """Close connections whose request does not arrive, however slowly it drips."""
        late = time.monotonic() - LONGEST
        with self.guard:
            slow = [request for request, since in self.open.items() if since < late]
        for request in slow:
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that break; a browser closes many."""

    def server_close(self) -> None:
        self.jobs.close()
        super().server_close()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    timeout = WAIT
    server_version = "ctxembed"
    sys_version = ""

    def do_GET(self) -> None:
        """Send the page."""
        if self._refused():
            return
        if self.path.partition("?")[0] != f"/{self.server.token}/":
            return self._send(HTTPStatus.NOT_FOUND, b"nothing here", "text/plain")
        self._send(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Answer a question."""
        if self._refused():
            return
        where = self.path.removeprefix(f"/{self.server.token}/")
        if where not in ("ask", "stop"):
            return self._tell(HTTPStatus.NOT_FOUND, {"error": "nothing here"})
        if self.headers.get_content_type() != "application/json":
            return self._tell(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, {"error": "not JSON"})
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            return self._tell(HTTPStatus.LENGTH_REQUIRED, {"error": "how long is it?"})
        if int(length) > LARGEST:
            return self._tell(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": "too much at once"})
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return
        self.server.arrived(self.request)
        try:
            question, asked = _read(body)
        except UsageError as error:
            return self._tell(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        try:
            if where == "stop":
                self.server.jobs.stop(str(asked.get("word")), str(asked.get("attention")))
                return self._tell(HTTPStatus.OK, {})
            self._tell(*self._answer(question, asked))
        except CtxembedError as error:
            # An answer too: browsers list every 400 as a fault of the page.
            self._tell(HTTPStatus.OK, {"error": str(error)})
        except (KeyError, TypeError, ValueError):
            self._tell(HTTPStatus.BAD_REQUEST, {"error": "this cannot be asked so"})

    def _answer(self, question: str, asked: Mapping[str, Any]) -> tuple[HTTPStatus, Json]:
        """Answer at once, or say how far a long question is."""
        check(asked)
        server = self.server
        if question not in ("map", "legend", "place"):
            with server.turn:
                return HTTPStatus.OK, answer(server.models, question, asked)
        word, attention = str(asked["word"]), str(asked["attention"])
        if attention not in attention_names(server.models):
            raise UsageError(f"no attention {attention!r}")
        made = server.jobs.ask(word, attention)
        if not isinstance(made, WordMap):
            return HTTPStatus.ACCEPTED, made
        if question == "place":
            with server.turn:
                return HTTPStatus.OK, as_json(made.place(server.models.model, asked["sentence"]))
        table = made.drawn() if question == "map" else made.legend()
        line = f"ctxembed senses {word}" if question == "map" else ""
        return HTTPStatus.OK, {**as_json(table), "command": line}

    def _refused(self) -> bool:
        """Refuse what another site sends, and whoever does not know the address."""
        given = self.path.split("/")[1] if self.path.count("/") > 1 else ""
        known = hmac.compare_digest(given.encode(), self.server.token.encode())
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        names = (*HOSTS, str(self.server.server_address[0]))  # no other site's name is one
        ours = self.server.share or host in [f"{n}:{self.server.server_port}" for n in names]
        same = origin in (None, f"http://{host}")
        site = self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        inside = site or self.command == "GET"  # a link to the page may stand anywhere
        if known and ours and same and inside:
            return False
        self._send(HTTPStatus.FORBIDDEN, b"open the address that ctxembed printed", "text/plain")
        return True

    def _tell(self, status: HTTPStatus, content: Json) -> None:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        self._send(status, text.encode("utf-8", "backslashreplace"), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Content-Security-Policy", "frame-ancestors 'none'"),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal is the teacher's."""


def _read(body: bytes) -> tuple[str, Mapping[str, Any]]:
    """Read a question and what it is asked with."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise UsageError("this is no JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("asked"), dict):
        raise UsageError("a question is {question, asked}")
    return str(given.get("question")), given["asked"]
