"""What a connection needs of the line to its peer."""

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
    """The way to the peer (`assay_broker.amqp.connections.sockets.SocketPort`)."""

    peer: str
    user: str | None

    @property
    def congested(self) -> bool:
        """Whether more waits for the peer than is good."""
        ...

    def next_attach(self) -> Attach:
        """What the next attach says of which the engine tells."""
        ...

    def next_begin(self) -> int:
        """The channel of the next session of which the engine tells."""
        ...

    @property
    def desired(self) -> tuple[str, ...]:
        """Desired capabilities of the peer's open."""
        ...

    def known(self, container: str) -> None:
        """The peer has said what its container is called."""
        ...

    def same_container(self) -> Iterable[SameContainer]:
        """The other connections of the same container."""
        ...

    def flush(self) -> None:
        """Send what the engine has to say."""
        ...

    def ending(self) -> None:
        """We have closed: a peer that does not answer is cut off after a while."""
        ...
