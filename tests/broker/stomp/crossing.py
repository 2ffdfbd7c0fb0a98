"""A queue manager with a listener for STOMP and one for AMQP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from tests.broker.amqp.serving import Serving
from tests.broker.stomp.serving import StompServing, serving

from assay_broker.amqp.listener import AmqpListener
from assay_broker.security import Security


@contextmanager
def both_protocols() -> Iterator[tuple[StompServing, Serving]]:
    """Provide a STOMP server and an AMQP server of one queue manager during a ``with`` block."""
    with serving() as server:
        listener = server.run(_amqp(server))
        amqp = cast("Serving", _Amqp(server, listener))
        try:
            yield server, amqp
        finally:
            server.run(listener.close())


async def _amqp(server: StompServing) -> AmqpListener:
    listener = AmqpListener(server.queue_manager, server.runner, security=Security())
    await listener.start("127.0.0.1", 0)
    return listener


class _Amqp:
    """The AMQP listener, as the raw AMQP client of the tests needs it."""

    def __init__(self, server: StompServing, listener: AmqpListener) -> None:
        self._server = server
        self.listener = listener
        self.loop = server.loop

    @property
    def port(self) -> int:
        return self.listener.address[1]
