"""What a handler is given, and how it answers."""

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
        """What the client calls itself."""
        ...

    @property
    def user(self) -> str | None:
        """Who has logged in; None for anonymous."""
        ...

    @property
    def peer(self) -> str:
        """The other end's address."""
        ...

    @property
    def links(self) -> int:
        """How many links are open."""
        ...

    @property
    def since_ms(self) -> int:
        """Since when, in milliseconds since the epoch."""
        ...


Views = Callable[[], Sequence[ConnectionView]]


class ApiContext(Struct, frozen=True, kw_only=True):
    """What all requests have in common.

    Args:
        queue_manager: Who is administered.
        runner: The world's crank.
        limits: What callers can make grow.
        views: Shows the connections of clients.
        ready: Whether requests are welcome: neither draining, nor stopped.
        secured: Whether callers say who they are.
        ready: Whether requests are welcome: neither draining, nor stopped.
        secured: Whether callers say who they are.
    """

    queue_manager: QueueManager
    runner: Runner
    limits: HttpLimits
    views: Views
    ready: Callable[[], bool]
    secured: bool


class ApiRequest(Struct, frozen=True, kw_only=True):
    """One request that was let in.

    Args:
        request: As it came.
        user: Whose authority counts; empty where nobody is asked who he is.
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
        """A part of the path."""
        return str(self.http.path_params[name])

    def query(self, name: str) -> str | None:
        """A parameter of the query; None when it is not given."""
        return self.http.query_params.get(name)

    def number(self, name: str, default: int, highest: int) -> int:
        """A number in the query.

        Args:
            name: The parameter's.
            default: Where it is not given.
            highest: The highest that it is taken for.

        Raises:
            HttpProblem: It is none.
        """
        given = self.query(name)
        if given is None:
            return default
        if not given.isascii() or not given.isdecimal() or len(given) > 18:  # noqa: PLR2004  fits 64 bits
            raise HttpProblem(Faults.QUERY, f"{name} is a whole number, not {given[:40]!a}.")
        return min(int(given), highest)

    async def body(self) -> bytes:
        """The request's body.

        Raises:
            HttpProblem: It is too long, or comes too slowly.
        """
        return await self.reader.read(self.http)

    def connected(self) -> AbstractAsyncContextManager[ManagerConnection]:
        """A connection to the queue manager, for the length of a block."""
        return connected(self.served.queue_manager, self.user, self.served.limits.answer_ms)


def json_answer(value: object, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
