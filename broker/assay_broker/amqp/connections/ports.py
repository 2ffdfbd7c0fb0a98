"""What a connection needs of its socket."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from assay_broker.amqp.frames.attaches import Attach


class SameContainer(Protocol):
    """Another connection of the same container."""

    def lose(self, name: str, *, receives: bool) -> None:
        """Detach a link of this name, because the container has attached it on another connection (2.6.1)."""
        ...


class SocketPort(Protocol):
    """The socket of a connection (`assay_broker.amqp.connections.sockets.AmqpSocket`)."""

    peer: str
    user: str | None

    @property
    def congested(self) -> bool:
        """Whether too much output waits for the client to read."""
        ...

    def next_attach(self) -> Attach:
        """Return the fields of the attach that the engine reports next."""
        ...

    def next_begin(self) -> int:
        """Return the channel of the session that the engine reports next."""
        ...

    @property
    def desired(self) -> tuple[str, ...]:
        """Desired capabilities of the client's open."""
        ...

    def known(self, container: str) -> None:
        """Take the client's container id."""
        ...

    def same_container(self) -> Iterable[SameContainer]:
        """Return the other connections of the same container."""
        ...

    def flush(self) -> None:
        """Write the engine's output."""
        ...

    def ending(self) -> None:
        """Start the time limit for the client's close, after the server has closed."""
        ...
