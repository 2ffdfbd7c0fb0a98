"""A peer over HTTP that gives prepared answers, and keeps the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct

from assay_adapters.brokers.http import HttpServer
from assay_sdk.driver import Login

LOGIN = Login("admin", "open sesame")

Answering = Callable[[str, str, Any], tuple[int, Any]]
"""Returns the HTTP status and the body (a value for JSON, or bytes) for a request's method, path and body."""


class Request(Struct, frozen=True):
    """A request that the peer has received."""

    method: str
    path: str
    body: Any
    authorization: str | None


class Peer(Struct, frozen=True):
    """A running peer: its port, and the requests that it has received."""

    port: int
    requests: list[Request]

    @property
    def server(self) -> HttpServer:
        """The kit's HTTP client for this peer."""
        return HttpServer("127.0.0.1", lambda: self.port, LOGIN)


@contextmanager
def peer(answering: Answering) -> Iterator[Peer]:
    """Run a peer during a ``with`` block."""
    requests: list[Request] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            octets = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(octets) if octets else None
            requests.append(Request(self.command, self.path, body, self.headers.get("Authorization")))
            status, answer = answering(self.command, self.path, body)
            sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - the names that the base class calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Peer(server.server_port, requests)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
