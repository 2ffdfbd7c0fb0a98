"""What a handler gets, and how it answers."""

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
from assay_sdk.time import Runner


class ConnectionView(Protocol):
    """A client's connection, as the status page shows it."""

    @property
    def container_id(self) -> str:
        """The client's container id."""
        ...

    @property
    def user(self) -> str | None:
        """The user that has logged in; None for anonymous."""
        ...

    @property
    def peer(self) -> str:
        """The client's address."""
        ...

    @property
    def links(self) -> int:
        """The number of open links."""
        ...

    @property
    def since_ms(self) -> int:
        """When the client connected, in milliseconds since the epoch."""
        ...


Views = Callable[[], Sequence[ConnectionView]]


class ApiContext(Struct, frozen=True, kw_only=True):
    """What all requests share.

    Args:
        queue_manager: The queue manager.
        runner: Gives the time.
        limits: Limits for clients.
        views: Returns the clients' connections.
        ready: Whether the server takes requests: it neither drains nor is stopped.
        secured: Whether clients must log in.
    """

    queue_manager: QueueManager
    runner: Runner
    limits: HttpLimits
    views: Views
    ready: Callable[[], bool]
    secured: bool


class ApiRequest(Struct, frozen=True, kw_only=True):
    """One authenticated request.

    Args:
        http: Starlette's request.
        user: The user whose authority it has; empty for operations without authentication.
        reader: Reads its body.
        served: What all requests have in common.
    """

    http: Request
    user: str
    reader: BodyReader
    served: ApiContext

    @property
    def version(self) -> Version:
        """The interface's version in the path."""
        return VERSIONS[self.path("version")]

    @property
    def manager(self) -> str:
        """The queue manager's name."""
        return self.served.queue_manager.name

    @property
    def now_ms(self) -> int:
        """The time, in milliseconds since the epoch."""
        return self.served.runner.clock.wall_ns() // 1_000_000

    def path(self, name: str) -> str:
        """Return a parameter of the path."""
        return str(self.http.path_params[name])

    def query(self, name: str) -> str | None:
        """Return a parameter of the query; None if it is missing."""
        return self.http.query_params.get(name)

    def number(self, name: str, default: int, highest: int) -> int:
        """Read a number from the query.

        Args:
            name: The parameter's.
            default: The result if the query lacks it.
            highest: The largest result; replaces a larger number.

        Raises:
            HttpProblem: It is not a whole number.
        """
        given = self.query(name)
        if given is None:
            return default
        if not given.isascii() or not given.isdecimal() or len(given) > 18:  # noqa: PLR2004  fits 64 bits
            raise HttpProblem(Faults.QUERY, f"{name} is a whole number, not {given[:40]!a}.")
        return min(int(given), highest)

    async def body(self) -> bytes:
        """Read the request's body.

        Raises:
            HttpProblem: It is too long, or comes too slowly.
        """
        return await self.reader.read(self.http)

    def connected(self) -> AbstractAsyncContextManager[ManagerConnection]:
        """Connect to the queue manager for the length of a block."""
        return connected(self.served.queue_manager, self.user, self.served.limits.answer_ms)


def json_answer(value: object, status: int = 200) -> Response:
    """Create an answer in JSON."""
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
