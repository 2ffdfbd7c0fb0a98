"""Doubles of the server's listeners, for tests of the other parts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.http.requests.request import ConnectionView
from assay_broker.server.errors import MachineError
from assay_broker.server.options import ServerOptions
from assay_broker.shell import QueueManager
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner


class PlainListener:
    """A listener that accepts connections and sends nothing; a drain waits for the ends of all connections.

    Args:
        deaf: Whether a drain never ends.
    """

    def __init__(self, *, deaf: bool = False) -> None:
        self._deaf = deaf
        self._lines: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None
        self.calls: list[str] = []

    @property
    def address(self) -> tuple[str, int]:
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()[:2]
        return host, port

    def views(self) -> Sequence[ConnectionView]:
        return ()

    async def start(self, host: str, port: int) -> None:
        self.calls.append("start")
        try:
            self._server = await asyncio.get_running_loop().create_server(lambda: _Line(self._lines), host, port)
        except OSError as error:
            raise MachineError(f"{host}:{port} cannot be listened on: {error.strerror}") from error

    async def drain(self) -> None:
        self.calls.append("drain")
        if self._server is not None:
            self._server.close()
        if self._deaf:
            await asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        self.calls.append("close")
        if self._server is not None:
            self._server.close()
        while self._lines:
            for line in tuple(self._lines):
                line.abort()
            await asyncio.sleep(0)


class _Line(asyncio.Protocol):
    def __init__(self, lines: set[asyncio.Transport]) -> None:
        self._lines = lines
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # not every loop's transport has this type
        self._lines.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._transport is not None:
            self._lines.discard(self._transport)


class Doubles:
    """A factory of fake parts of a server, for tests.

    Args:
        listener: The listener for AMQP clients.
    """

    def __init__(self, listener: PlainListener | None = None) -> None:
        self._amqp = listener or PlainListener()
        self._stomp = PlainListener()
        self._http = PlainListener()
        self.made: list[str] = []

    def secure(self, options: ServerOptions) -> None:
        del options
        self.made.append("security")

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> PlainListener:
        del options, queue_manager, runner
        self.made.append("amqp")
        return self._amqp

    def stomp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> PlainListener:
        del options, queue_manager, runner
        self.made.append("stomp")
        return self._stomp

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> PlainListener:
        del options, queue_manager, runner
        self.made.append("http")
        assert views() == ()
        return self._http


class Listener:
    """A peer of the queue manager that remembers its answers."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.gone: Refused | None = None

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        self.answers.append(answer)
        if sent is not None:
            sent()

    def deliver(self, delivery: Deliver) -> None:
        raise AssertionError(delivery)

    def close_link(self, closed: CloseLink) -> None:
        raise AssertionError(closed)

    def lost(self, why: Refused) -> None:
        self.gone = why
