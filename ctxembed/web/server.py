"""Serve the page on this machine: one address with a token, and questions as JSON."""

import hmac
import json
import re
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ctxembed.errors import CtxembedError, Replaced, UsageError
from ctxembed.model.bundled import bundled_name
from ctxembed.web.description import attention_names, describe_model, map_kind
from ctxembed.web.document import document
from ctxembed.web.jobs import Jobs
from ctxembed.web.lessons import chapter_models, describe_chapters
from ctxembed.web.questions import Json, Models, answer, answer_map, check
from ctxembed.word_senses.sense_map import WordMap

MAX_REQUEST_BYTES = 64_000
MAX_DIGITS = 9  # of a number in a header; int() refuses very long ones
SILENT_SECONDS = 5.0  # until an idle connection is closed
REQUEST_SECONDS = 15.0  # for a request to arrive completely
MAX_CONNECTIONS = 64  # others get 503
MAX_COPIED = 64 << 20  # bytes of a file that is kept in memory, safe from programs that cut it
HEADERS = {
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'", "Connection": "close",
}  # fmt: skip
HOSTS = ("127.0.0.1", "localhost", "[::1]")


class Server(ThreadingHTTPServer):
    """An HTTP server for one model."""

    request_queue_size = 256

    def __init__(self, models: Models, host: str, port: int, *, share: bool = False) -> None:
        self.models, self.share = models, share
        self.token = secrets.token_urlsafe(16)
        self.jobs = Jobs(models.model)
        self.turn = threading.Lock()  # one short question at a time
        self.open: dict[socket.socket, float] = {}  # connection -> time of its start
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), Handler)
        for folder in models.model.folders():
            folder.max_copied = MAX_COPIED
        models.model.dequantize()
        model = describe_model(models)
        data = {"live": True, "maps": map_kind(models.model), "model": model, "foot": [model]}
        data["attentions"] = attention_names(models)
        data["name"] = bundled_name(models.model.path)
        data |= {"lessons": describe_chapters(), "models": chapter_models()}
        self.page = document(data, "ctxembed explore").encode()

    @property
    def address(self) -> str:
        """The URL of the page."""
        host = str(self.server_address[0])
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, or with 503 if there are too many connections."""
        if len(self.open) >= MAX_CONNECTIONS:
            with suppress(OSError):
                request.sendall(b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n")
            return self.shutdown_request(request)
        self.open[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Close connections whose request takes too long to arrive."""
        late = time.monotonic() - REQUEST_SECONDS
        for request, since in self.open.copy().items():  # threads remove theirs meanwhile
            with suppress(OSError):
                if since < late:
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections; browsers close many."""

    def server_close(self) -> None:
        self.jobs.close()
        super().server_close()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    timeout = SILENT_SECONDS
    server_version = "ctxembed"
    sys_version = ""

    def do_GET(self) -> None:
        """Send the page."""
        if self._refused():
            return
        if self.path.partition("?")[0] != f"/{self.server.token}/":
            return self._send(HTTPStatus.NOT_FOUND, b"Not found.", "text/plain")
        self._send(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Answer a question of the page with JSON, or stop the computation of a map."""
        if self._refused():
            return
        action = self.path.removeprefix(f"/{self.server.token}/")
        length = self.headers.get("Content-Length", "")
        if action not in ("ask", "stop"):
            return self._send_json(HTTPStatus.NOT_FOUND, {"error": "Not found."})
        if self.headers.get_content_type() != "application/json":
            return self._send_json(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, {"error": "Send JSON."})
        if not re.fullmatch("[0-9]+", length):
            return self._send_json(HTTPStatus.LENGTH_REQUIRED, {"error": "Missing Content-Length."})
        if len(length) > MAX_DIGITS or int(length) > MAX_REQUEST_BYTES:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            return self._send_json(status, {"error": "Request too large."})
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return
        self.server.open[self.request] = float("inf")  # complete: no longer closed for being slow
        try:
            request = json.loads(body)
            question, parameters = str(request.get("question")), dict(request["parameters"])
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            message = "Send JSON with the keys question and parameters."
            return self._send_json(HTTPStatus.BAD_REQUEST, {"error": message})
        try:
            if action == "stop":
                self.server.jobs.stop(str(parameters.get("word")), str(parameters.get("attention")))
                return self._send_json(HTTPStatus.OK, {})
            self._send_json(*self._answer(question, parameters))
        except Replaced as error:
            self._send_json(HTTPStatus.CONFLICT, {"error": str(error)})
        except CtxembedError as error:
            # Status 200: browsers log every 400 as an error of the page.
            self._send_json(HTTPStatus.OK, {"error": str(error)})
        except (KeyError, TypeError, ValueError):
            self._send_json(HTTPStatus.BAD_REQUEST, {"error": "Invalid parameters."})

    def _answer(self, question: str, parameters: Mapping[str, Any]) -> tuple[HTTPStatus, Json]:
        """Return the answer, or 202 with the progress of a map; neither from changed files."""
        check(parameters)
        models = self.server.models
        with self.server.turn:
            models.check_unchanged()
            try:
                if question not in ("map", "legend", "place"):
                    return HTTPStatus.OK, answer(models, question, parameters)
                word, attention = str(parameters["word"]), str(parameters["attention"])
                if attention not in attention_names(models):
                    raise UsageError(f"Unknown attention {attention!r}.")
                result = self.server.jobs.ask(word, attention)
                if not isinstance(result, WordMap):
                    return HTTPStatus.ACCEPTED, result
                sentence = str(parameters.get("sentence", ""))
                return HTTPStatus.OK, answer_map(models, result, question, sentence)
            finally:  # also in place of an error: wrong numbers may have caused it
                models.check_unchanged()

    def _refused(self) -> bool:
        """Refuse requests from other sites or without the token; return True if refused."""
        token = self.path.split("/")[1] if self.path.count("/") > 1 else ""
        known = hmac.compare_digest(token.encode(), self.server.token.encode())
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        names = (*HOSTS, str(self.server.server_address[0]))  # DNS rebinding: refuse any other name
        local = self.server.share or host in [f"{n}:{self.server.server_port}" for n in names]
        same = origin in (None, f"http://{host}")
        site = self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        inside = site or self.command == "GET"  # any site may link to the page
        if known and local and same and inside:
            return False
        self._send(HTTPStatus.FORBIDDEN, b"Open the address that ctxembed printed.", "text/plain")
        return True

    def _send_json(self, status: HTTPStatus, content: Json) -> None:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        self._send(status, text.encode("utf-8", "backslashreplace"), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the terminal stays readable."""
