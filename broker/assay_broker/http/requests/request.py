"""The request that a handler receives, and the creation of answers in JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from assay_broker.http.limits import HttpLimits
from assay_broker.http.requests.bodies import BodyReader
from assay_broker.http.requests.connections import ManagerConnection, connected
from assay_broker.http.requests.descriptor import VERSIONS, Version
from assay_broker.http.requests.problems import Faults, HttpProblem
from assay_broker.shell import QueueManager
from assay_sdk.time import NS_PER_MS, Runner


class ConnectionView(Protocol):
    """The description of a client's connection for the status page."""

    @property
    def container_id(self) -> str:
        """The client's AMQP container id or STOMP client id; a STOMP session's id if the client has no client id."""
        ...

    @property
    def user(self) -> str | None:
        """The user's name; None for an anonymous client."""
        ...

    @property
    def peer(self) -> str:
        """The client's network address."""
        ...

    @property
    def links(self) -> int:
        """The number of the connection's links or subscriptions."""
        ...

    @property
    def protocol(self) -> str:
        """The protocol's name, and its version after a blank, such as ``STOMP 1.2``."""
        ...

    @property
    def since_ms(self) -> int:
        """The time at which the client connected, in milliseconds since the epoch."""
        ...


Views = Callable[[], Sequence[ConnectionView]]
"""A function that returns a description of each client's connection."""


class ApiContext(Struct, frozen=True, kw_only=True):
    """The context that all requests of a listener share.

    Args:
        queue_manager: The queue manager.
        runner: The runner, whose clock the handlers use.
        limits: The limits of the listener.
        views: Returns the clients' connections.
        ready: Returns whether the queue manager is running and the server does not drain.
        secured: Whether clients must log in.
    """

    queue_manager: QueueManager
    runner: Runner
    limits: HttpLimits
    views: Views
    ready: Callable[[], bool]
    secured: bool


class ApiRequest(Struct, frozen=True, kw_only=True):
    """An authenticated request, as a handler receives it.

    Args:
        http: Starlette's request.
        user: The user whose authority the request has; empty for an operation that needs no login.
        reader: The reader of the request's body.
        served: The context that all requests share.
    """

    http: Request
    user: str
    reader: BodyReader
    served: ApiContext

    @property
    def version(self) -> Version:
        """The version of the interface that the path names."""
        return VERSIONS[self.path("version")]

    @property
    def manager(self) -> str:
        """The queue manager's name."""
        return self.served.queue_manager.name

    @property
    def now_ms(self) -> int:
        """The time, in milliseconds since the epoch."""
        return self.served.runner.clock.wall_ns() // NS_PER_MS

    def path(self, name: str) -> str:
        """Return the value of a variable part of the path."""
        return str(self.http.path_params[name])

    def query(self, name: str) -> str | None:
        """Return the value of a query parameter; None if the query does not have this parameter."""
        return self.http.query_params.get(name)

    def number(self, name: str, default: int, highest: int) -> int:
        """Return the number in a query parameter.

        Args:
            name: The parameter's name.
            default: The result if the query does not have the parameter.
            highest: The highest result, which replaces a larger number.

        Raises:
            HttpProblem: The parameter's value is not a whole number of at most 18 digits.
        """
        given = self.query(name)
        if given is None:
            return default
        if not given.isascii() or not given.isdecimal() or len(given) > 18:  # noqa: PLR2004  fits 64 bits
            raise HttpProblem(Faults.QUERY, f"{name} must be a whole number, not {given[:40]!a}.")
        return min(int(given), highest)

    async def body(self) -> bytes:
        """Read the request's body.

        Raises:
            HttpProblem: The body is too long or late, or the bodies of all requests exceed their limit.
            ClientDisconnect: The client has disconnected.
        """
        return await self.reader.read(self.http)

    def connected(self) -> AbstractAsyncContextManager[ManagerConnection]:
        """Connect to the queue manager as the user, and disconnect at the end of the ``with`` block."""
        return connected(self.served.queue_manager, self.user, self.served.limits.answer_ms)


def json_answer(value: object, status: int = 200) -> Response:
    """Create a response with a body in JSON."""
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
