"""Fixtures: an HTTP server on a loop in a thread of its own, and its callers."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any, TypeVar

import pytest
from msgspec import Struct
from uvicorn.server import ServerState

from assay_broker.http import HttpLimits, HttpListener
from assay_broker.inprocess import InProcessDriver
from assay_broker.mqsc.defaults import default_settings
from assay_broker.server.loops import new_loop
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk.runners.asynchronous import AsyncioRunner

T = TypeVar("T")
CSRF = {"ibm-mq-rest-csrf-token": ""}
QMGR = "/ibmmq/rest/v2/messaging/qmgr/ASSAY"
ORDERS = f"{QMGR}/queue/ORDERS/message"


class KnownUsers:
    """Users with clear-text passwords, unlike a real server's."""

    def __init__(self, **passwords: str) -> None:
        self.passwords = passwords
        self.checked = 0

    def check(self, user: str, password: str) -> bool:
        """Check whether a password is the user's."""
        self.checked += 1
        return self.passwords.get(user) == password


class Guards(Struct, frozen=True):
    """A fake of the server's security."""

    users: KnownUsers | None = None
    tls: ssl.SSLContext | None = None


class Reply(Struct, frozen=True):
    """An HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """Decode the body as JSON."""
        return json.loads(self.body)

    @property
    def error(self) -> tuple[int, str, int]:
        """Return status, message identifier and reason of an error response."""
        (one,) = self.json["error"]
        assert set(one) == {"type", "msgId", "message", "explanation", "action", "completionCode", "reasonCode"}
        assert one["message"].startswith(f"{one['msgId']}: ")
        return self.status, one["msgId"], one["reasonCode"]


def basic(user: str, password: str) -> dict[str, str]:
    """Return the Authorization header of a login."""
    return {"Authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}


class Served:
    """A queue manager with an HTTP listener, on a loop in its own thread."""

    def __init__(self, security: Guards, limits: HttpLimits, options: Mapping[str, Any]) -> None:
        self._loop = new_loop(encrypted=False)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.views: list[Any] = []
        self.failed: list[Mapping[str, Any]] = []
        self._loop.set_exception_handler(lambda _loop, context: self.failed.append(context))
        self.on_loop(self._start(security, limits, options))

    async def _start(self, security: Guards, limits: HttpLimits, options: Mapping[str, Any]) -> None:
        self.runner = AsyncioRunner()
        self.queue_manager = QueueManager(self.runner, MemoryStore(), default_settings())
        self.driver = InProcessDriver(self.queue_manager)
        self.listener = HttpListener(
            self.queue_manager, self.runner, security=security, views=lambda: self.views, limits=limits, **options
        )
        await self.listener.start("127.0.0.1", 0)

    def on_loop(self, what: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the server's loop, and wait for its result."""
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(20)

    def do(self, what: Callable[[], T]) -> T:
        """Call a function on the server's loop, and wait for its result."""

        async def call() -> T:
            return what()

        return self.on_loop(call())

    @property
    def lines(self) -> int:
        """The number of open connections."""
        return len(self._uvicorn.connections)

    @property
    def under_way(self) -> int:
        """The number of requests in progress."""
        return len(self._uvicorn.tasks)

    @property
    def _uvicorn(self) -> ServerState:
        server = self.listener._server
        assert server is not None
        return server.server_state

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        return self.listener.address[1]

    def line(self) -> HTTPConnection:
        """Return a new HTTP connection to the server."""
        return HTTPConnection("127.0.0.1", self.port, timeout=20)

    def ask(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        line: HTTPConnection | None = None,
        csrf: bool = True,
    ) -> Reply:
        """Send a request, and return the answer.

        Args:
            method: The HTTP method.
            path: The path, with the query.
            body: The body; None for a request without a body.
            headers: Further headers.
            line: The connection; None for a new one.
            csrf: Whether the request has the CSRF header.
        """
        connection = line or self.line()
        token = CSRF if csrf else {}
        octets = body.encode() if isinstance(body, str) else body
        try:
            connection.request(method, path, octets, {**token, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            if line is None:
                connection.close()

    def put(self, body: str = "m", path: str = ORDERS, **headers: str) -> str:
        """Put a message, and return its id."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        reply = self.ask("POST", path, body, given)
        assert reply.status == 201, reply.text
        return reply.headers["ibm-mq-md-messageid"]

    def mqsc(self, command: str, headers: Mapping[str, str] | None = None) -> Reply:
        """Run an MQSC command, and return the response."""
        body = json.dumps({"type": "runCommand", "parameters": {"command": command}})
        return self.ask("POST", "/ibmmq/rest/v2/admin/action/qmgr/ASSAY/mqsc", body, headers)

    def must(self, *commands: str) -> None:
        """Run MQSC commands, and check that they succeed."""
        for command in commands:
            assert self.mqsc(command).json["overallCompletionCode"] == 0, command

    def run(self, headers: Mapping[str, str] | None = None, **body: Any) -> Reply:
        """Run an MQSC command in JSON, and return the response."""
        text = json.dumps({"type": "runCommandJSON", **body})
        return self.ask("POST", "/ibmmq/rest/v2/admin/action/qmgr/ASSAY/mqsc", text, headers)

    def stop(self) -> None:
        """Stop the server and its loop."""
        self.on_loop(self.listener.close())
        self.do(self.runner.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


Serve = Callable[..., Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(users: KnownUsers | None = None, limits: HttpLimits | None = None, **options: Any) -> Served:
            served = Served(Guards(users, options.pop("tls", None)), limits or HttpLimits(), options)
            stack.callback(served.stop)
            return served

        yield start


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve()
